import type { CompanyContext } from "../../core/base/context/context.ts";
import { opaqueCursor, readOpaque } from "../../core/base/pages.ts";
import { Problem } from "../../core/base/problem.ts";
import type { JsonObject } from "../../core/base/values/plain-json.ts";
import { startWork } from "../../core/base/work.ts";
import { checkEmail, unseenPart } from "../../core/people/profiles/addresses.ts";
import type { Organisation, User, UserAttributes } from "../dashboard-users/feature.ts";
import { searchPeople, signOutUser, type UserServices } from "../dashboard-users/feature.ts";
import { openDirectory } from "./company-directory.ts";
import { declaredPermissions } from "./protocol/permissions.ts";
import { SCIM_WORK_LIMIT, userNotFound } from "./protocol/problems.ts";
import { refuseUnstorableMembers } from "./protocol/read-attributes.ts";
import { readUser } from "./protocol/read-user.ts";

/*
 * Dashboard users as an administrator manages them. The same user attributes are accepted as over
 * SCIM: both read users through the same table of attributes.
 */

/** The members that an administrator may set. */
export interface PersonChange {
  readonly given_name?: string;
  readonly family_name?: string;
  /** Null removes it. */
  readonly display_name?: string | null;
  readonly department?: string;
  readonly active?: boolean;
  /** As in SCIM. Replaces all of them. */
  readonly permissions?: object;
}

export interface NewPerson extends PersonChange {
  readonly user_name: string;
}

/** A dashboard user with all permissions whose workspaces, teams and sets exist. */
export interface AdministeredPerson {
  readonly user: User;
  readonly attributes: UserAttributes;
}

const recordOf = (user: User, organisation: Organisation): AdministeredPerson => ({
  user,
  attributes: attributesOf(user, organisation),
});

const attributesOf = ({ attributes }: User, organisation: Organisation): UserAttributes => ({
  ...attributes,
  permissions: declaredPermissions(attributes.permissions, organisation),
});

/** @throws Problem INVALID_REQUEST `Invalid cursor`. */
export async function listPeople(
  services: UserServices,
  context: CompanyContext,
  { query = "", cursor, limit }: { query?: string; cursor?: string; limit: number },
) {
  const after = cursor === undefined ? undefined : readOpaque(cursor, /^(.*)$/s)[0];
  const { rows, next } = await searchPeople(services, context, { text: query, after, limit });
  const organisation = await openDirectory(services, context).organisation();
  const { next_cursor } = next;
  return {
    people: rows.map((user) => recordOf(user, organisation)),
    ...(next_cursor !== undefined && { next_cursor: opaqueCursor(next_cursor) }),
  };
}

/** @throws Problem NOT_FOUND. */
export async function readPerson(
  services: UserServices,
  context: CompanyContext,
  id: string,
): Promise<AdministeredPerson> {
  const directory = openDirectory(services, context);
  const user = await directory.find(id);
  if (!user) throw userNotFound();
  return recordOf(user, await directory.organisation());
}

/**
 * Creates a dashboard user. Omitted attributes are as in `scim_defaults`; without those a new user
 * has no permissions.
 *
 * @throws Problem CONFLICT if the address has a user already, INVALID_REQUEST.
 */
export async function createPerson(
  services: UserServices,
  context: CompanyContext,
  { user_name: userName, ...rest }: NewPerson,
): Promise<AdministeredPerson> {
  if ("fault" in checkEmail(userName)) {
    const rule = `'user_name' must be an email address${unseenPart(userName)}`;
    throw new Problem("INVALID_REQUEST", rule);
  }
  const directory = openDirectory(services, context);
  const organisation = await directory.organisation();
  const defaults = { active: true, permissions: {}, ...(await directory.defaults()) };
  const user = await directory.create(readChanged({ userName, ...defaults }, rest, organisation));
  if (!user) throw new Problem("CONFLICT", `There is a dashboard user '${userName}' already.`);
  return recordOf(user, organisation);
}

/**
 * Changes the given attributes of a dashboard user. Lost permissions take effect with the user's
 * next request; a deactivation ends their sessions.
 *
 * @throws Problem NOT_FOUND, INVALID_REQUEST; CONFLICT if no administrator would be left.
 */
export async function changePerson(
  services: UserServices,
  context: CompanyContext,
  id: string,
  change: PersonChange,
): Promise<AdministeredPerson> {
  const directory = openDirectory(services, context);
  const organisation = await directory.organisation();
  const user = await directory.change(id, (present) =>
    readChanged(attributesOf(present, organisation), change, organisation),
  );
  if (!user) throw userNotFound();
  return recordOf(user, organisation);
}

/** @throws Problem NOT_FOUND; CONFLICT if no administrator would be left. */
export async function removePerson(
  services: UserServices,
  context: CompanyContext,
  id: string,
): Promise<void> {
  if (!(await openDirectory(services, context).remove(id))) throw userNotFound();
}

/** Ends the user's sessions in every browser. @returns how many. @throws Problem NOT_FOUND. */
export async function signOutPerson(
  services: UserServices,
  context: CompanyContext,
  id: string,
): Promise<number> {
  const sessions = await signOutUser(services, context, id);
  if (sessions === undefined) throw userNotFound();
  return sessions;
}

/** The attributes of a user after a change, checked as SCIM checks them. */
function readChanged(
  before: JsonObject,
  { given_name, family_name, display_name, ...rest }: PersonChange,
  organisation: Organisation,
): UserAttributes {
  const { givenName = "", familyName = "" } = (before.name ?? {}) as Readonly<
    Record<string, string>
  >;
  const given = given_name ?? givenName;
  const family = family_name ?? familyName;
  const name = { ...(given && { givenName: given }), ...(family && { familyName: family }) };
  const shown = display_name === undefined ? {} : { displayName: display_name };
  const { displayName, ...others } = { ...before, ...shown, ...rest, name } as JsonObject;
  const source = displayName ? { ...others, displayName } : others;
  refuseUnstorableMembers(source);
  return readUser(source, organisation, startWork(SCIM_WORK_LIMIT), { defaults: {} });
}
