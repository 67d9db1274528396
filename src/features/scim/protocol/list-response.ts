import type { JsonObject } from "../../../core/base/values/plain-json.ts";

export const SCIM_ROOT = "/scim/v2";

/** spec: GET /scim/v2/Users?filter=…; RFC 7644, 3.4.2. */
export interface ListResponse extends JsonObject {
  readonly totalResults: number;
  readonly Resources: readonly JsonObject[];
}

/**
 * A page of resources.
 *
 * @param total on all pages together.
 * @param first the place of the first one, from 1.
 */
export const listResponse = (
  resources: readonly JsonObject[],
  total = resources.length,
  first = 1,
): ListResponse => ({
  schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
  totalResults: total,
  startIndex: first,
  itemsPerPage: resources.length,
  Resources: resources,
});
