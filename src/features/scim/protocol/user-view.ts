import type { JsonObject } from "../../../core/base/values/plain-json.ts";
import type { Organisation, User, UserAttributes } from "../../dashboard-users/feature.ts";
import { RESOURCE_ATTRIBUTES, USER_SCHEMA } from "./attributes.ts";
import { SCIM_ROOT } from "./list-response.ts";
import { permissionsView } from "./permissions.ts";
import { searchable } from "./searchable.ts";

export const USERS_PATH = `${SCIM_ROOT}/Users`;

/** A user as a SCIM resource. spec: Dashboard user (SCIM). */
export function userView(
  { id, attributes, createdAt, updatedAt, lastSignInAt }: User,
  organisation: Organisation,
): JsonObject {
  return {
    ...resourceOf(id, attributes, createdAt, updatedAt),
    lastSignInAt: signInText(lastSignInAt),
    permissions: permissionsView(attributes.permissions, organisation),
  };
}

/** The part of a resource that is stored; `searchableUser` makes filters' form of it. */
const resourceOf = (
  id: string,
  attributes: UserAttributes,
  createdAt: Date,
  updatedAt: Date,
): JsonObject => ({
  schemas: [USER_SCHEMA],
  id,
  ...attributes,
  meta: {
    resourceType: "User",
    created: createdAt.toISOString(),
    lastModified: updatedAt.toISOString(),
    location: `${USERS_PATH}/${id}`,
  },
});

/** The values that a store compares with conditions. */
export const searchableUser = (
  id: string,
  attributes: UserAttributes,
  createdAt: Date,
  updatedAt: Date,
): JsonObject => searchable(RESOURCE_ATTRIBUTES, resourceOf(id, attributes, createdAt, updatedAt));

const day = new Intl.DateTimeFormat("en-US", { dateStyle: "full", timeZone: "UTC" });

/** `Thursday, January 1, 1970 12:00:00 AM`. Before the first sign-in it is the epoch. */
export function signInText(at: Date | null): string {
  const time = at ?? new Date(0);
  const hours = time.getUTCHours();
  const [, minutes, seconds] = time.toISOString().slice(11, 19).split(":");
  const clock = `${hours % 12 || 12}:${minutes}:${seconds} ${hours < 12 ? "AM" : "PM"}`;
  return `${day.format(time)} ${clock}`;
}
