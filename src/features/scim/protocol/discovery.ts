import { Problem } from "../../../core/base/problem.ts";
import type { JsonObject } from "../../../core/base/values/plain-json.ts";
import { type Attribute, USER_ATTRIBUTES, USER_SCHEMA } from "./attributes.ts";
import { type ListResponse, listResponse, SCIM_ROOT } from "./list-response.ts";
import { LARGEST_PAGE } from "./users.ts";

/* The discovery endpoints: RFC 7643, 5 to 7, and RFC 7644, 4. */

const about = (type: string, place: string, members: JsonObject): JsonObject => ({
  schemas: [`urn:ietf:params:scim:schemas:core:2.0:${type}`],
  ...members,
  meta: { resourceType: type, location: `${SCIM_ROOT}/${place}` },
});

export const SERVICE_PROVIDER_CONFIG = about("ServiceProviderConfig", "ServiceProviderConfig", {
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: LARGEST_PAGE },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "SCIM token",
      description: "A SCIM token as a bearer token, with its service origin in X-Request-Origin.",
      primary: true,
    },
  ],
});

const RESOURCE_TYPES = [
  about("ResourceType", "ResourceTypes/User", {
    id: "User",
    name: "User",
    description: "A person who may use the dashboard.",
    endpoint: "/Users",
    schema: USER_SCHEMA,
  }),
];

/** The table of attributes is written in the terms of RFC 7643, 7. */
const definition = ({ subAttributes, canonicalValues, ...attribute }: Attribute): JsonObject => ({
  ...attribute,
  ...(canonicalValues && { canonicalValues }),
  ...(subAttributes && { subAttributes: subAttributes.map(definition) }),
});

const SCHEMAS = [
  about("Schema", `Schemas/${USER_SCHEMA}`, {
    id: USER_SCHEMA,
    name: "User",
    description: "A person who may use the dashboard.",
    attributes: USER_ATTRIBUTES.map(definition),
  }),
];

/** The collections by the last part of their path. */
const COLLECTIONS = { ResourceTypes: RESOURCE_TYPES, Schemas: SCHEMAS } as const;

type Collection = keyof typeof COLLECTIONS;

/** The resource types or schemas as a SCIM list. */
export const listAbout = (collection: Collection): ListResponse =>
  listResponse(COLLECTIONS[collection]);

/** @throws Problem NOT_FOUND. */
export function getAbout(collection: Collection, id: string): JsonObject {
  const found = COLLECTIONS[collection].find((each) => each.id === id);
  if (!found) throw new Problem("NOT_FOUND", `'${collection}' has nothing of this name.`);
  return found;
}

/** RFC 7644, 4: a filter must not seem to take effect here. @throws Problem FORBIDDEN. */
export function refuseFilter({ filter }: { readonly filter?: string }): void {
  if (filter !== undefined) throw new Problem("FORBIDDEN", "There is no filter for this path.");
}
