import type { JsonObject } from "../../profiles/plain-json.ts";
import { RESOURCE_ATTRIBUTES, USER_SCHEMA } from "./attributes.ts";
import type { Directory, Organisation, User, UserAttributes } from "./directory.ts";
import { parseFilter } from "./filter.ts";
import { conditionOf } from "./match.ts";
import { type ListResponse, listResponse } from "./messages.ts";
import { applyPatch } from "./patch.ts";
import { readPatch, requireSchema } from "./patch-request.ts";
import { declaredPermissions } from "./permissions.ts";
import { scimProblem, userNotFound } from "./problems.ts";
import { readUser } from "./read-user.ts";
import { refuseUnstorable } from "./resource.ts";
import { type Selection, selector } from "./selection.ts";
import { userView } from "./user-view.ts";

/*
 * What can be done with users over SCIM. Every function answers with the resource as the request wants
 * to see it.
 */

/** RFC 7644, 3.4.2.4: how many users a page has where the request does not say, and at most. */
const USUAL_PAGE = 100;
export const LARGEST_PAGE = 1_000;

export interface ListRequest extends Selection {
  readonly filter?: string;
  /** From 1. */
  readonly startIndex?: number;
  readonly count?: number;
}

/**
 * spec: POST /scim/v2/Users.
 *
 * @throws Problem CONFLICT where the address has a user already, INVALID_REQUEST.
 */
export async function createUser(
  directory: Directory,
  body: JsonObject,
  selection: Selection,
): Promise<JsonObject> {
  const show = selector(selection);
  checkBody(body);
  const organisation = await directory.organisation();
  const unsaid = { active: true, ...organisation.defaults };
  const user = await directory.create(readUser(body, unsaid, organisation));
  if (!user) throw scimProblem("uniqueness", "User already exists in the database.");
  return show(userView(user, organisation));
}

/** spec: GET /scim/v2/Users/{id}. @throws Problem NOT_FOUND. */
export async function getUser(
  directory: Directory,
  id: string,
  selection: Selection,
): Promise<JsonObject> {
  const show = selector(selection);
  const user = await directory.find(id);
  if (!user) throw userNotFound();
  return show(userView(user, await directory.organisation()));
}

/**
 * spec: GET /scim/v2/Users?filter=…; RFC 7644, 3.4.2, for pages and the other filters.
 *
 * @throws Problem INVALID_REQUEST with `invalidFilter`.
 */
export async function listUsers(directory: Directory, request: ListRequest): Promise<ListResponse> {
  const show = selector(request);
  const { filter, startIndex = 1, count = USUAL_PAGE } = request;
  const condition =
    filter === undefined ? undefined : conditionOf(parseFilter(filter), RESOURCE_ATTRIBUTES);
  // RFC 7644, 3.4.2.4: less than 1 is 1; a negative count is 0.
  const first = Math.min(Math.max(1, startIndex), Number.MAX_SAFE_INTEGER);
  const limit = Math.min(Math.max(0, count), LARGEST_PAGE);
  const { total, users } = await directory.list({ condition, offset: first - 1, limit });
  const organisation = await directory.organisation();
  const resources = users.map((user) => show(userView(user, organisation)));
  return listResponse(resources, total, first);
}

/**
 * spec: PUT /scim/v2/Users/{id}. What the body leaves out is gone, except that `active` stays, and
 * department and permissions where the manifest has defaults for them. decision: docs/decisions/scim.md
 *
 * @throws Problem NOT_FOUND, INVALID_REQUEST.
 */
export async function replaceUser(
  directory: Directory,
  id: string,
  body: JsonObject,
  selection: Selection,
): Promise<JsonObject> {
  const show = selector(selection);
  checkBody(body);
  const organisation = await directory.organisation();
  const { defaults } = organisation;
  const user = await directory.change(id, (present) => {
    const { userName, active, department, permissions } = attributesOf(present, organisation);
    const unsaid = {
      active,
      ...(defaults.department !== undefined && { department }),
      ...(defaults.permissions !== undefined && { permissions }),
    };
    // decision: another userName is ignored.
    return readUser(body, unsaid, organisation, { userName });
  });
  if (!user) throw userNotFound();
  return show(userView(user, organisation));
}

/**
 * RFC 7644, 3.5.2: all operations or none.
 *
 * @throws Problem NOT_FOUND, INVALID_REQUEST with what is wrong about an operation or its outcome.
 */
export async function patchUser(
  directory: Directory,
  id: string,
  body: JsonObject,
  selection: Selection,
): Promise<JsonObject> {
  const show = selector(selection);
  refuseUnstorable(body);
  const operations = readPatch(body);
  const organisation = await directory.organisation();
  const user = await directory.change(id, (present) => {
    const attributes = attributesOf(present, organisation);
    const patched = applyPatch(attributes, operations);
    return readUser(patched, { active: attributes.active }, organisation);
  });
  if (!user) throw userNotFound();
  return show(userView(user, organisation));
}

/** public facts: DELETE. @throws Problem NOT_FOUND. */
export async function deleteUser(directory: Directory, id: string): Promise<void> {
  if (!(await directory.remove(id))) throw userNotFound();
}

/** As they are now: what is not declared any more is not held against the next change. */
const attributesOf = ({ attributes }: User, organisation: Organisation): UserAttributes => ({
  ...attributes,
  permissions: declaredPermissions(attributes.permissions, organisation),
});

function checkBody(body: JsonObject): void {
  refuseUnstorable(body);
  requireSchema(body, USER_SCHEMA);
}
