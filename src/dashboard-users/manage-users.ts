import { isDeepStrictEqual } from "node:util";
import { type AuditedChange, recordChanges } from "../audit/audit.ts";
import type { Clock } from "../clock.ts";
import type { CompanyContext } from "../context/context.ts";
import type { Database, Queryable, Transaction } from "../database/database.ts";
import type {
  Organisation,
  SearchableForm,
  User,
  UserAttributes,
  UserPage,
  UserQuery,
} from "./dashboard-user.ts";
import { deleteSessionsOf } from "./sessions-store.ts";
import {
  deleteUser,
  insertUser,
  selectOrganisation,
  selectPage,
  selectUser,
  updateUser,
} from "./store.ts";

/*
 * The dashboard users of a company. Every change is audited with the id of the user alone; an update
 * also with the names of the attributes that changed.
 */

export interface UserServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** @returns undefined if another user has the userName, whatever its case. */
export function createUser(
  { database, clock }: UserServices,
  context: CompanyContext,
  attributes: UserAttributes,
  searchable: SearchableForm,
): Promise<User | undefined> {
  return database.transaction(async (tx) => {
    const user = await insertUser(tx, context.company.id, clock, attributes, searchable);
    if (user) await record(tx, clock, context, { action: "created", name: user.id });
    return user;
  });
}

export const findUser = (
  { database }: UserServices,
  context: CompanyContext,
  id: string,
): Promise<User | undefined> => selectUser(database, context.company.id, id);

/** A page of the users who meet a condition, in the order of creation, read from one snapshot. */
export const listUsers = (
  { database }: UserServices,
  context: CompanyContext,
  query: UserQuery,
): Promise<UserPage> => selectPage(database, context.company.id, query);

/**
 * Replaces the attributes of a user by what `work` makes of them. The user is locked meanwhile.
 * If no attribute changes, `updatedAt` stays.
 *
 * @returns undefined if there is no such user.
 */
export function changeUser(
  { database, clock }: UserServices,
  context: CompanyContext,
  id: string,
  work: (user: User) => UserAttributes,
  searchable: SearchableForm,
): Promise<User | undefined> {
  return database.transaction(async (tx) => {
    let changed: string[] = [];
    const compare = (present: User): UserAttributes => {
      const attributes = work(present);
      changed = namesOfChanged(present.attributes, attributes);
      return attributes;
    };
    const { company } = context;
    const user = await updateUser(tx, company.id, id, clock.now(), compare, searchable);
    if (!user || changed.length === 0) return user;
    // Sessions that began before the user was deactivated do not continue afterwards.
    if (user.attributes.active === false) await deleteSessionsOf(tx, user.id);
    await record(tx, clock, context, { action: "updated", name: user.id, details: { changed } });
    return user;
  });
}

/** @returns whether there was such a user. */
export function removeUser(
  { database, clock }: UserServices,
  context: CompanyContext,
  id: string,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const isRemoved = await deleteUser(tx, context.company.id, id);
    if (!isRemoved) return false;
    await deleteSessionsOf(tx, id);
    await record(tx, clock, context, { action: "removed", name: id.toLowerCase() });
    return true;
  });
}

/** The names that the permissions of a company's users may use. */
export const readOrganisation = (database: Queryable, companyId: string): Promise<Organisation> =>
  selectOrganisation(database, companyId);

const record = (
  tx: Transaction,
  clock: Clock,
  context: CompanyContext,
  change: Pick<AuditedChange, "action" | "name" | "details">,
) => recordChanges(tx, clock, context, [{ ...change, kind: "dashboard_user" }]);

function namesOfChanged(before: UserAttributes, after: UserAttributes): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name])).sort();
}
