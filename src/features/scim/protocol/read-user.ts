import { type JsonObject, jsonByteLength } from "../../../core/base/values/plain-json.ts";
import { startWork, type WorkBudget } from "../../../core/base/work.ts";
import { checkEmail, unseenPart } from "../../../core/people/profiles/addresses.ts";
import type { Organisation, UserAttributes } from "../../dashboard-users/feature.ts";
import { RESOURCE_ATTRIBUTES, USER_ATTRIBUTES } from "./attributes.ts";
import type { Defaults } from "./directory.ts";
import { checkPermissions } from "./permissions.ts";
import { SCIM_WORK_LIMIT, scimProblem } from "./problems.ts";
import { readAttributes } from "./read-attributes.ts";

/** Bounded, because a page shows hundreds of users. docs/decisions/scim.md */
const LARGEST_USER_BYTES = 262_144;

/**
 * Reads a user from a body, or from the result of a PATCH.
 *
 * spec: POST /scim/v2/Users: userName, name, department and permissions are required.
 *
 * @param defaults apply where `source` has no value.
 * @param fixed override `source`.
 * @throws Problem with `invalidValue` for an attribute that is missing or invalid.
 */
export function readUser(
  source: JsonObject,
  organisation: Organisation,
  work: WorkBudget,
  { defaults, fixed }: { readonly defaults: JsonObject; readonly fixed?: JsonObject },
): UserAttributes {
  const given = readAttributes(RESOURCE_ATTRIBUTES, source, { isWhole: false, work });
  const all = { ...defaults, ...given, ...fixed };
  const user = readAttributes(RESOURCE_ATTRIBUTES, all, { isWhole: true, work });
  // The name of a stored user cannot change, whatever earlier versions accepted in it.
  const checked = fixed?.userName === undefined ? checkEmail(user.userName) : undefined;
  if (checked && "fault" in checked) {
    throw scimProblem(
      "invalidValue",
      `'userName' must be an email address${unseenPart(user.userName)}`,
    );
  }
  const permissions = checkPermissions(user.permissions as JsonObject, organisation);
  const attributes = { ...user, permissions } as UserAttributes;
  if (jsonByteLength(attributes) > LARGEST_USER_BYTES) {
    throw scimProblem("invalidValue", `The user is larger than ${LARGEST_USER_BYTES} bytes`);
  }
  return attributes;
}

const DEFAULTABLE = USER_ATTRIBUTES.filter((each) =>
  ["department", "permissions"].includes(each.name),
).map((each) => ({ ...each, required: false }));

/** Reads the defaults for new users. @throws Problem with `invalidValue`. */
export function readDefaults(source: JsonObject, organisation: Organisation): Defaults {
  const reading = { isWhole: true, work: startWork(SCIM_WORK_LIMIT) };
  const { permissions, ...defaults } = readAttributes(DEFAULTABLE, source, reading);
  if (permissions === undefined) return defaults;
  return { ...defaults, permissions: checkPermissions(permissions as JsonObject, organisation) };
}
