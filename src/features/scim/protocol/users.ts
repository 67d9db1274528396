import type { JsonObject } from "../../../core/base/values/plain-json.ts";
import { startWork } from "../../../core/base/work.ts";
import type { Organisation, User, UserAttributes } from "../../dashboard-users/feature.ts";
import { RESOURCE_ATTRIBUTES, USER_SCHEMA } from "./attributes.ts";
import type { Directory } from "./directory.ts";
import { parseFilter } from "./filter.ts";
import { type ListResponse, listResponse } from "./list-response.ts";
import { conditionOf } from "./match.ts";
import { applyPatch } from "./patch.ts";
import { readPatch, requireSchema } from "./patch-request.ts";
import { declaredPermissions, permissionsView } from "./permissions.ts";
import { SCIM_WORK_LIMIT, scimProblem, userNotFound } from "./problems.ts";
import { refuseUnstorableMembers, writablePart } from "./read-attributes.ts";
import { readUser } from "./read-user.ts";
import { type Selection, selector } from "./selection.ts";
import { userView } from "./user-view.ts";

/* The operations on users. Each returns the attributes that the request selects. */

/** RFC 7644, 3.4.2.4: the size of a page if the request names none, and the largest one. */
const USUAL_PAGE = 100;
export const LARGEST_PAGE = 1_000;

/** A page is also full at this size of its users as stored, so that no response is unbounded. */
const LARGEST_PAGE_BYTES = 1_048_576;

/** A page shows many values, each at a fraction of a unit. */
const PAGE_WORK_LIMIT = 250_000;

export interface ListRequest extends Selection {
  readonly filter?: string;
  /** From 1. */
  readonly startIndex?: number;
  readonly count?: number;
}

/**
 * spec: POST /scim/v2/Users.
 *
 * @throws Problem CONFLICT if the address has a user already, INVALID_REQUEST.
 */
export async function createUser(
  directory: Directory,
  body: JsonObject,
  selection: Selection,
): Promise<JsonObject> {
  const show = selector(selection, startWork(SCIM_WORK_LIMIT));
  checkBody(body);
  const organisation = await directory.organisation();
  const defaults = { active: true, ...(await directory.defaults()) };
  const user = await directory.create(
    readUser(body, organisation, startWork(SCIM_WORK_LIMIT), { defaults }),
  );
  if (!user) throw scimProblem("uniqueness", "User already exists in the database.");
  return show(userView(user, organisation));
}

/** spec: GET /scim/v2/Users/{id}. @throws Problem NOT_FOUND. */
export async function getUser(
  directory: Directory,
  id: string,
  selection: Selection,
): Promise<JsonObject> {
  const show = selector(selection, startWork(SCIM_WORK_LIMIT));
  const user = await directory.find(id);
  if (!user) throw userNotFound();
  return show(userView(user, await directory.organisation()));
}

/**
 * spec: GET /scim/v2/Users?filter=…; RFC 7644, 3.4.2, for pages and the other filters. A page may
 * have fewer users than requested; `itemsPerPage` says how many.
 *
 * @throws Problem INVALID_REQUEST with `invalidFilter`.
 */
export async function listUsers(directory: Directory, request: ListRequest): Promise<ListResponse> {
  const show = selector(request, startWork(PAGE_WORK_LIMIT));
  const { filter, startIndex = 1, count = USUAL_PAGE } = request;
  const condition =
    filter === undefined ? undefined : conditionOf(parseFilter(filter), RESOURCE_ATTRIBUTES);
  // RFC 7644, 3.4.2.4: less than 1 is 1; a negative count is 0.
  const first = Math.min(Math.max(1, startIndex), Number.MAX_SAFE_INTEGER);
  const limit = Math.min(Math.max(0, count), LARGEST_PAGE);
  const page = { condition, offset: first - 1, limit, limitBytes: LARGEST_PAGE_BYTES };
  const { total, users } = await directory.list(page);
  const organisation = await directory.organisation();
  const resources = users.map((user) => show(userView(user, organisation)));
  return listResponse(resources, total, first);
}

/**
 * spec: PUT /scim/v2/Users/{id}. Omitted attributes are removed, except that `active` stays, and so do
 * department and permissions if the manifest has defaults for them: docs/decisions/scim.md.
 *
 * @throws Problem NOT_FOUND, INVALID_REQUEST.
 */
export async function replaceUser(
  directory: Directory,
  id: string,
  body: JsonObject,
  selection: Selection,
): Promise<JsonObject> {
  const show = selector(selection, startWork(SCIM_WORK_LIMIT));
  checkBody(body);
  const organisation = await directory.organisation();
  const defaults = await directory.defaults();
  const user = await directory.change(id, (present) => {
    const { userName, active, department, permissions } = attributesOf(present, organisation);
    return readUser(body, organisation, startWork(SCIM_WORK_LIMIT), {
      defaults: {
        active,
        ...(defaults.department !== undefined && { department }),
        ...(defaults.permissions !== undefined && { permissions }),
      },
      // Another userName is ignored: docs/decisions/scim.md.
      fixed: { userName },
    });
  });
  if (!user) throw userNotFound();
  return show(userView(user, organisation));
}

/**
 * RFC 7644, 3.5.2: all operations or none.
 *
 * @throws Problem NOT_FOUND, INVALID_REQUEST that names the fault of an operation or of the outcome.
 */
export async function patchUser(
  directory: Directory,
  id: string,
  body: JsonObject,
  selection: Selection,
): Promise<JsonObject> {
  const show = selector(selection, startWork(SCIM_WORK_LIMIT));
  refuseUnstorableMembers(body);
  const operations = readPatch(body);
  const organisation = await directory.organisation();
  const user = await directory.change(id, (present) => {
    const work = startWork(SCIM_WORK_LIMIT);
    const { attributes } = present;
    // With the ids that the client saw, because operations may name values by them.
    const permissions = permissionsView(attributes.permissions, organisation);
    const patched = applyPatch({ ...attributes, permissions }, operations, work);
    const stored = writablePart({ subAttributes: RESOURCE_ATTRIBUTES }, patched) as JsonObject;
    const defaults = { active: attributes.active };
    return readUser(stored, organisation, work, { defaults });
  });
  if (!user) throw userNotFound();
  return show(userView(user, organisation));
}

/** docs/decisions/scim.md: DELETE. @throws Problem NOT_FOUND. */
export async function deleteUser(directory: Directory, id: string): Promise<void> {
  if (!(await directory.remove(id))) throw userNotFound();
}

/** The user's attributes without permissions that no longer exist, which would block the next change. */
const attributesOf = ({ attributes }: User, organisation: Organisation): UserAttributes => ({
  ...attributes,
  permissions: declaredPermissions(attributes.permissions, organisation),
});

function checkBody(body: JsonObject): void {
  refuseUnstorableMembers(body);
  requireSchema(body, USER_SCHEMA);
}
