import type { JsonObject } from "../../profiles/plain-json.ts";
import type { Condition } from "./match.ts";

/**
 * The users of a company, as the protocol needs them to be kept. The protocol knows no tables: this
 * interface is all that it stands on (`scim/store.ts` carries it out).
 */
export interface Directory {
  /** Makes a user. Undefined where somebody has the userName already, whatever its case. */
  create(attributes: UserAttributes): Promise<User | undefined>;
  find(id: string): Promise<User | undefined>;
  /** A page of the users who meet a condition, in the order of creation, read at one moment. */
  list(query: UserQuery): Promise<UserPage>;
  /**
   * Gives a user the attributes that `work` makes of the present ones, while nobody else changes the
   * user. Attributes that stay as they are leave the time of the last change as it is.
   *
   * @returns undefined where there is no such user.
   */
  change(id: string, work: (user: User) => UserAttributes): Promise<User | undefined>;
  /** @returns whether there was such a user. */
  remove(id: string): Promise<boolean>;
  /** What permissions may name, and what users get where nothing is said. */
  organisation(): Promise<Organisation>;
}

export interface User {
  readonly id: string;
  readonly attributes: UserAttributes;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastSignInAt: Date | null;
}

/** The attributes that can be written, as `attributes.ts` has them. */
export interface UserAttributes extends JsonObject {
  readonly userName: string;
  readonly active: boolean;
  readonly permissions: Permissions;
}

/** spec: Dashboard user; names of what the organisation declares. */
export interface Permissions extends JsonObject {
  readonly companyPermissions: readonly string[];
  readonly appGroup: readonly AppGroup[];
}

export interface AppGroup extends JsonObject {
  readonly appGroupName: string;
  readonly appGroupPermissions: readonly string[];
  readonly team: readonly Team[];
  readonly appGroupPermissionSets: readonly PermissionSet[];
}

export interface Team extends JsonObject {
  readonly teamName: string;
  readonly teamPermissions: readonly string[];
}

export interface PermissionSet extends JsonObject {
  readonly appGroupPermissionSetName: string;
}

export interface UserQuery {
  /** Undefined for all users. */
  readonly condition: Condition | undefined;
  /** How many users come before the page. */
  readonly offset: number;
  readonly limit: number;
}

export interface UserPage {
  /** On all pages together. */
  readonly total: number;
  readonly users: readonly User[];
}

/** What is declared about a company as far as its dashboard users go. */
export interface Organisation {
  readonly workspaces: readonly DeclaredWorkspace[];
  readonly permissionSets: readonly string[];
  readonly defaults: Defaults;
}

interface DeclaredWorkspace {
  readonly id: string;
  readonly name: string;
  readonly teams: readonly { readonly id: string; readonly name: string }[];
}

/** For identity providers that cannot say it. */
export interface Defaults {
  readonly department?: string;
  readonly permissions?: Permissions;
}
