import type { Condition, TextComparator } from "../../core/base/conditions.ts";
import { unicodeLabel } from "../../core/base/values/domains.ts";
import type { JsonObject } from "../../core/base/values/plain-json.ts";

/* A person who signs in to the dashboard, and the company's declarations for such people. */

export interface User {
  readonly id: string;
  readonly attributes: UserAttributes;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly lastSignInAt: Date | null;
  /** Whether an identity provider created or changed the user: it may change them back. */
  readonly fromScim: boolean;
}

/**
 * What makes user names the same. The case of ASCII letters does not count, nor how a letter is composed (NFC), nor
 * whether a label of the domain is in punycode, if it is the only punycode of its letters; any other difference does:
 * `toLowerCase` maps the Kelvin sign to `k`, and so one person's address to another's. docs/decisions/addresses.md
 */
export function userNameKey(userName: string): string {
  const key = writtenKey(userName);
  const at = key.lastIndexOf("@") + 1;
  if (at === 0 || !key.includes("xn--", at)) return key;
  const labels = key.slice(at).split(".");
  return key.slice(0, at) + labels.map((label) => unicodeLabel(label) ?? label).join(".");
}

/**
 * The key with the domain as it was written. It is the key of a user whose name with punycode was another user's
 * before `userNameKey` read punycode: the two are still two.
 */
export function writtenKey(userName: string): string {
  // NFC maps a few letters to ASCII too, so a name with one of them stays unchanged.
  const isLookAlike = [...userName].some(
    (letter) => !isAscii(letter) && isAscii(letter.normalize("NFC")),
  );
  const composed = isLookAlike ? userName : userName.normalize("NFC");
  return composed.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

const isAscii = (text: string): boolean => /^\p{ASCII}*$/u.test(text);

/** The attributes that can be written. A protocol may keep further ones among them. */
export interface UserAttributes extends JsonObject {
  readonly userName: string;
  readonly active: boolean;
  readonly permissions: Permissions;
}

/** spec: Dashboard user (SCIM). Workspaces, teams and permission sets go by their names. */
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

export interface Organisation {
  /** By name. */
  readonly workspaces: ReadonlyMap<string, DeclaredWorkspace>;
  /** Names. */
  readonly permissionSets: ReadonlySet<string>;
}

export interface DeclaredWorkspace {
  readonly id: string;
  /** The id of each team by its name. */
  readonly teams: ReadonlyMap<string, string>;
}

/** Builds the form of a user that conditions are compared with, from stored rows. */
export type SearchableForm = (
  id: string,
  attributes: UserAttributes,
  createdAt: Date,
  updatedAt: Date,
) => JsonObject;

export interface UserQuery {
  /** Undefined for all users. */
  readonly condition: UserCondition | undefined;
  readonly offset: number;
  readonly limit: number;
  /** The page ends before the user who begins beyond this size; the first user always fits. */
  readonly limitBytes: number;
}

export interface UserPage {
  /** The number on all pages together. */
  readonly total: number;
  readonly users: readonly User[];
}

/** A search as the dashboard does it. */
export interface PeopleQuery {
  /** A part of the user name or of the name, ignoring case; empty for all users. */
  readonly text: string;
  /** The user name, in lower case, after which the page begins. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** How a condition compares the values at a path with its own. */
export type Comparator = TextComparator | "ne";

/** A condition on the searchable form of a user, or of a value in a list of it. */
export type UserCondition = Condition<UserTest>;

export type UserTest =
  | { readonly op: "pr"; readonly path: readonly string[] }
  | {
      readonly op: Comparator;
      readonly path: readonly string[];
      /** In lower case if the comparison ignores case. */
      readonly value: string | boolean;
      readonly ignoresCase: boolean;
    }
  /** One of the values at the path meets the condition. */
  | { readonly op: "has"; readonly path: readonly string[]; readonly condition: UserCondition };
