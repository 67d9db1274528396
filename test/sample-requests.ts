/*
 * One request that works for every endpoint: what access.test.ts sends with and without the right to,
 * and hostile-input.test.ts in other forms. The key is the method and the first path as declared. A
 * sample is made anew for each request, together with what it needs to be there.
 */
import { NEWSLETTER, type TestServer, type TestWorkspace } from "./harness.ts";
import { declare, newUser, PATCH_SCHEMA, scimClient, TOKEN } from "./scim-client.ts";

export interface Sample {
  /** Where the path has parameters or needs a query: the path with values in their place. */
  readonly path?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The bearer token of the company for SCIM. */
export const SCIM_TOKEN = TOKEN.token;

export type Samples = Readonly<Record<string, () => Sample | Promise<Sample>>>;

const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };
const NAMED = `subscription_group_id=${NEWSLETTER}&external_id=ada`;

/** Sample requests of a workspace and its company; the company gets a SCIM token. */
export async function sampleRequests(
  server: TestServer,
  workspace: TestWorkspace,
): Promise<Samples> {
  await declare(server, {}, []);
  const scim = scimClient(server);
  const headers = { "x-request-origin": TOKEN.service_origin };
  const admin = `/admin/v1/workspaces/${workspace.name}`;
  const group = `${admin}/subscription-groups/sample`;
  const putGroup = { path: group, body: { name: "Sample", channel: "email" } };
  const permissions = { companyPermissions: [], appGroup: [] };
  const user = async (): Promise<string> => (await scim.user({ permissions })).id;
  const ofUser = (body?: unknown) => async () => ({
    path: `/scim/v2/Users/${await user()}`,
    headers,
    ...(body !== undefined && { body }),
  });

  return {
    "GET /health/live": () => ({}),
    "GET /health/ready": () => ({}),
    "GET /openapi.json": () => ({}),
    "GET /docs": () => ({}),

    "POST /users/track": () => ({ body: { events: [EVENT] } }),
    "POST /users/export/ids": () => ({ body: { external_ids: ["ada"] } }),

    "POST /v2/subscription/status/set": () => ({
      body: {
        subscription_groups: [
          {
            subscription_group_id: NEWSLETTER,
            subscription_state: "subscribed",
            external_ids: ["ada"],
          },
        ],
      },
    }),
    "POST /subscription/status/set": () => ({
      body: {
        subscription_group_id: NEWSLETTER,
        subscription_state: "subscribed",
        external_id: ["ada"],
      },
    }),
    "GET /subscription/status/get": () => ({ path: `/subscription/status/get?${NAMED}` }),
    "GET /subscription/user/status": () => ({ path: "/subscription/user/status?external_id=ada" }),
    "POST /email/status": () => ({
      body: { email: "ada@example.com", subscription_state: "subscribed" },
    }),

    "POST /admin/v1/apply": () => ({ body: { company: { name: "Test" }, workspaces: [] } }),
    "POST /admin/v1/workspaces/:name/reset": () => ({ path: `${admin}/reset` }),
    "GET /admin/v1/workspaces/:name/subscription-groups": () => ({
      path: `${admin}/subscription-groups`,
    }),
    "GET /admin/v1/workspaces/:name/subscription-groups/:id": () => ({
      path: `${admin}/subscription-groups/${NEWSLETTER}`,
    }),
    "PUT /admin/v1/workspaces/:name/subscription-groups/:id": () => putGroup,
    "DELETE /admin/v1/workspaces/:name/subscription-groups/:id": async () => {
      await server.admin("PUT", putGroup.path, putGroup.body);
      return { path: group };
    },
    "GET /admin/v1/workspaces/:name/subscription-history": () => ({
      path: `${admin}/subscription-history?external_id=ada`,
    }),
    "DELETE /admin/v1/workspaces/:name/email-states/:email": () => ({
      path: `${admin}/email-states/ada@example.com`,
    }),

    "POST /scim/v2/Users": () => ({ headers, body: newUser({ permissions }) }),
    "GET /scim/v2/Users": () => ({ headers }),
    "GET /scim/v2/Users/:id": ofUser(),
    "PUT /scim/v2/Users/:id": ofUser(newUser({ permissions })),
    "PATCH /scim/v2/Users/:id": ofUser({
      schemas: [PATCH_SCHEMA],
      Operations: [{ op: "replace", path: "name.givenName", value: "Grace" }],
    }),
    "DELETE /scim/v2/Users/:id": ofUser(),
    "GET /scim/v2/ServiceProviderConfig": () => ({ headers }),
    "GET /scim/v2/ResourceTypes": () => ({ headers }),
    "GET /scim/v2/ResourceTypes/:id": () => ({ path: "/scim/v2/ResourceTypes/User", headers }),
    "GET /scim/v2/Schemas": () => ({ headers }),
    "GET /scim/v2/Schemas/:id": () => ({
      path: "/scim/v2/Schemas/urn:ietf:params:scim:schemas:core:2.0:User",
      headers,
    }),
  };
}
