import type {
  Organisation,
  Permissions,
  User,
  UserAttributes,
  UserPage,
  UserQuery,
} from "../../dashboard-users/feature.ts";

/** The users of a company: all that the protocol depends on. `company-directory.ts` implements it. */
export interface Directory {
  /** Creates a user. @returns undefined if another user has the userName, ignoring case. */
  create(attributes: UserAttributes): Promise<User | undefined>;
  find(id: string): Promise<User | undefined>;
  /** A page of the users who meet a condition, in the order of creation, read from one snapshot. */
  list(query: UserQuery): Promise<UserPage>;
  /**
   * Replaces the attributes of a user by the result of `work`. The user is locked meanwhile. If no
   * attribute changes, neither does the time of the last change.
   *
   * @returns undefined if there is no such user.
   */
  change(id: string, work: (user: User) => UserAttributes): Promise<User | undefined>;
  /** @returns whether there was such a user. */
  remove(id: string): Promise<boolean>;
  /** The names that permissions may use. */
  organisation(): Promise<Organisation>;
  defaults(): Promise<Defaults>;
}

/** Values for a new user that the identity provider does not send. */
export interface Defaults {
  readonly department?: string;
  readonly permissions?: Permissions;
}
