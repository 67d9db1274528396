import { isDeepStrictEqual } from "node:util";
import { type AuditedChange, recordChanges } from "../../core/admin/audit/audit.ts";
import { changedMembers } from "../../core/admin/workspaces/field-changes.ts";
import type { Clock } from "../../core/base/clock.ts";
import type { CompanyContext } from "../../core/base/context/context.ts";
import { forwardPage } from "../../core/base/pages.ts";
import { Problem } from "../../core/base/problem.ts";
import type { Queryable, Transaction } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { deleteCredentialsOf } from "./credentials-store.ts";
import {
  type PeopleQuery,
  type SearchableForm,
  type User,
  type UserAttributes,
  type UserPage,
  type UserQuery,
  userNameKey,
} from "./dashboard-user.ts";
import { grantsOf } from "./effective-permissions.ts";
import { deleteLinksOf } from "./links-store.ts";
import { deleteSessionsOf, lockActiveUser } from "./sessions-store.ts";
import {
  deleteUser,
  insertUser,
  selectActiveKeys,
  selectHasAdministrator,
  selectPage,
  selectPeople,
  selectUser,
  updateUser,
} from "./store.ts";

/*
 * The dashboard users of a company. Every change is audited with the id of the user and the user name; an update also with the
 * names of the attributes that changed, and with what the user might do before and may do after.
 *
 * An administrator cannot take away the last active user who has the company's `admin`. An identity
 * provider can: a user whom it removes must lose access at once.
 */

export type UserServices = StoringServices;

/** @returns undefined if another user has the userName, ignoring case. */
export function createUser(
  { database, clock }: UserServices,
  context: CompanyContext,
  attributes: UserAttributes,
  searchable: SearchableForm,
): Promise<User | undefined> {
  return database.transaction(async (tx) => {
    const companyId = context.company.id;
    const fromScim = isByScim(context);
    const user = await insertUser(tx, companyId, clock, attributes, searchable, fromScim);
    if (user) await record(tx, clock, context, user, { action: "created" });
    return user;
  });
}

export const findUser = (
  { database }: UserServices,
  context: CompanyContext,
  id: string,
): Promise<User | undefined> => selectUser(database, context.company.id, id);

/** A page of the users whose name or user name contains a text, by user name. */
export async function searchPeople(
  { database }: UserServices,
  context: CompanyContext,
  query: PeopleQuery,
) {
  const found = await selectPeople(database, context.company.id, {
    ...query,
    limit: query.limit + 1,
  });
  return forwardPage(found, query.limit, ({ key }) => key);
}

/** A page of the users who meet a condition, in the order of creation, read from one snapshot. */
export const listUsers = (
  { database }: UserServices,
  context: CompanyContext,
  query: UserQuery,
): Promise<UserPage> => selectPage(database, context.company.id, query);

/**
 * Replaces the attributes of a user by the result of `work`. The user is locked meanwhile.
 * If no attribute changes, `updatedAt` stays.
 *
 * @returns undefined if there is no such user.
 * @throws Problem CONFLICT if no administrator would be left.
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
    let before: UserAttributes | undefined;
    const compare = (present: User): UserAttributes => {
      const attributes = work(present);
      before = present.attributes;
      changed = namesOfChanged(present.attributes, attributes);
      return attributes;
    };
    const { company } = context;
    const now = clock.now();
    const fromScim = isByScim(context);
    const user = await updateUser(tx, company.id, id, now, compare, searchable, fromScim);
    if (!user || changed.length === 0) return user;
    await endWhatWasLost(tx, user.id, before, user.attributes);
    const details = { changed, ...effectiveChange(before, user.attributes) };
    await record(tx, clock, context, user, { action: "updated", details });
    if (isAdministrator(before) && !isAdministrator(user.attributes)) {
      await requireAdministrator(tx, context);
    }
    return user;
  });
}

/**
 * @returns whether there was such a user.
 * @throws Problem CONFLICT if no administrator would be left.
 */
export function removeUser(
  { database, clock }: UserServices,
  context: CompanyContext,
  id: string,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    const removed = await deleteUser(tx, context.company.id, id);
    if (!removed) return false;
    await deleteCredentialsOf(tx, id);
    const user = { id: id.toLowerCase(), attributes: removed };
    await record(tx, clock, context, user, { action: "removed" });
    if (isAdministrator(removed)) await requireAdministrator(tx, context);
    return true;
  });
}

/** Ends something of a user. @returns how many sessions ended with it; undefined if there is no such user. */
const ending =
  (
    change: Pick<AuditedChange, "action" | "kind">,
    end: (tx: Transaction, userId: string) => Promise<number>,
  ) =>
  ({ database, clock }: UserServices, context: CompanyContext, id: string) =>
    database.transaction(async (tx) => {
      const user = await selectUser(tx, context.company.id, id);
      if (!user) return undefined;
      const sessions = await end(tx, user.id);
      const details = { sessions, user_name: user.attributes.userName };
      await recordChanges(tx, clock, context, [{ ...change, name: user.id, details }]);
      return sessions;
    });

/** Ends the sessions of a user in every browser. */
export const signOutUser = ending({ action: "ended", kind: "dashboard_session" }, deleteSessionsOf);

const CREDENTIALS = { action: "removed", kind: "dashboard_credentials" };

/** Ends everything that a user signs in with, and every session. */
export const endCredentials = ending(CREDENTIALS, async (tx, userId) => {
  // Whoever signs in at this moment does so before, or not at all.
  await lockActiveUser(tx, userId);
  return deleteCredentialsOf(tx, userId);
});

const isByScim = ({ actor }: CompanyContext): boolean => actor === "scim";

const isAdministrator = (attributes: UserAttributes | undefined): boolean =>
  attributes !== undefined &&
  attributes.active !== false &&
  attributes.permissions.companyPermissions.includes("admin");

/**
 * Call it after the change is recorded: the audit makes transactions wait for each other, so that two
 * administrators who remove one another at once do not both succeed.
 */
async function requireAdministrator(tx: Transaction, context: CompanyContext): Promise<void> {
  if (isByScim(context) || (await selectHasAdministrator(tx, context.company.id))) return;
  throw new Problem(
    "CONFLICT",
    "This is the last active user with the company's admin permission. Give it to someone else first.",
  );
}

/** The names that the permissions of a company's users may use. */
export { selectOrganisation as readOrganisation } from "./store.ts";

/**
 * Ends what may no longer be used. A deactivated user keeps no link, password, passkey and session, also not for a later
 * reactivation. Permissions are read with every request, so a user who lost some stays signed in without them; links for them and
 * invitations by them end, because what those may open was decided before.
 */
async function endWhatWasLost(
  tx: Transaction,
  userId: string,
  before: UserAttributes | undefined,
  after: UserAttributes,
): Promise<void> {
  if (after.active === false || before?.active === false) {
    await deleteCredentialsOf(tx, userId);
    return;
  }
  const [had, has] = [grantsOf(before ?? after), grantsOf(after)];
  if ([...had].some((grant) => !has.has(grant))) await deleteLinksOf(tx, userId);
}

/** What a change means for what the user may do, before and after; other values are personal data. */
function effectiveChange(before: UserAttributes | undefined, after: UserAttributes) {
  const [old, present] = [before, after].map((attributes) => {
    const { companyPermissions = [], appGroup = [] } = attributes?.permissions ?? {};
    return {
      active: attributes?.active !== false,
      company: companyPermissions,
      ...Object.fromEntries(
        appGroup.map(({ appGroupName, appGroupPermissions, appGroupPermissionSets }) => [
          `workspace ${appGroupName}`,
          [
            ...appGroupPermissionSets.map((each) => `role ${each.appGroupPermissionSetName}`),
            ...appGroupPermissions,
          ],
        ]),
      ),
    };
  });
  const changed = changedMembers(old ?? {}, present ?? {});
  const isEmpty = Object.keys({ ...changed.before, ...changed.after }).length === 0;
  return isEmpty ? {} : changed;
}

const record = (
  tx: Transaction,
  clock: Clock,
  context: CompanyContext,
  { id, attributes }: Pick<User, "id" | "attributes">,
  { action, details }: Pick<AuditedChange, "action" | "details">,
) =>
  recordChanges(tx, clock, context, [
    {
      action,
      kind: "dashboard_user",
      name: id,
      details: { user_name: attributes.userName, ...details },
    },
  ]);

function namesOfChanged(before: UserAttributes, after: UserAttributes): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => !isDeepStrictEqual(before[name], after[name])).sort();
}

/** Which of these addresses are user names of active dashboard users: they may be mailed about a workspace. */
export async function colleaguesAmong(
  database: Queryable,
  companyId: string,
  addresses: readonly string[],
): Promise<ReadonlySet<string>> {
  const keys = new Set(await selectActiveKeys(database, companyId, addresses.map(userNameKey)));
  return new Set(addresses.filter((address) => keys.has(userNameKey(address))));
}
