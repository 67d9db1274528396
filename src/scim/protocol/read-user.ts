import type { JsonObject } from "../../profiles/plain-json.ts";
import { checkEmail } from "../../profiles/standard-attributes.ts";
import { RESOURCE_ATTRIBUTES, USER_ATTRIBUTES } from "./attributes.ts";
import type { Defaults, Organisation, UserAttributes } from "./directory.ts";
import { checkPermissions } from "./permissions.ts";
import { scimProblem } from "./problems.ts";
import { readAttributes } from "./resource.ts";

/**
 * The user that attributes make: what a body holds, or what a PATCH left.
 *
 * @param unsaid what the user has where `source` says nothing.
 * @param fixed what the user has whatever `source` says.
 * @throws Problem with `invalidValue` for an attribute that is missing or cannot be so. spec: POST and
 *   PUT /scim/v2/Users: userName, name, department and permissions are required.
 */
export function readUser(
  source: JsonObject,
  unsaid: JsonObject,
  organisation: Organisation,
  fixed: JsonObject = {},
): UserAttributes {
  const said = readAttributes(RESOURCE_ATTRIBUTES, source, false);
  const user = readAttributes(RESOURCE_ATTRIBUTES, { ...unsaid, ...said, ...fixed }, true);
  if ("fault" in checkEmail(user.userName)) {
    throw scimProblem("invalidValue", "'userName' must be an email address");
  }
  const permissions = checkPermissions(user.permissions as JsonObject, organisation);
  return { ...user, permissions } as UserAttributes;
}

const DEFAULTABLE = USER_ATTRIBUTES.filter((each) =>
  ["department", "permissions"].includes(each.name),
).map((each) => ({ ...each, required: false }));

/** What users get where nothing is said. @throws Problem with `invalidValue`. */
export function readDefaults(source: JsonObject, organisation: Organisation): Defaults {
  const { permissions, ...defaults } = readAttributes(DEFAULTABLE, source, true);
  if (permissions === undefined) return defaults;
  return { ...defaults, permissions: checkPermissions(permissions as JsonObject, organisation) };
}
