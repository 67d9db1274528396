/*
 * One request that works for every endpoint: what access.test.ts sends with and without the right to.
 * The key is the method and the first path as they are declared.
 */

export interface Sample {
  /** Where the path has parameters: the path with values in their place. */
  readonly path?: string;
  readonly body?: unknown;
}

const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };

/** Sample requests for a workspace with this name, made by `server.workspace()`. */
export const sampleRequests = (workspace: string): Readonly<Record<string, Sample>> => ({
  "GET /health/live": {},
  "GET /health/ready": {},
  "GET /openapi.json": {},
  "GET /docs": {},
  "POST /users/track": { body: { events: [EVENT] } },
  "POST /users/export/ids": { body: { external_ids: ["ada"] } },
  "POST /admin/v1/apply": { body: { company: { name: "Test" }, workspaces: [] } },
  "POST /admin/v1/workspaces/:name/reset": {
    path: `/admin/v1/workspaces/${workspace}/reset`,
  },
  "GET /admin/v1/workspaces/:name/api-keys": {
    path: `/admin/v1/workspaces/${workspace}/api-keys`,
  },
  "POST /admin/v1/workspaces/:name/api-keys": {
    path: `/admin/v1/workspaces/${workspace}/api-keys`,
    body: { name: "sample", permissions: ["users.track"] },
  },
  "PUT /admin/v1/workspaces/:name/api-keys/:key": {
    path: `/admin/v1/workspaces/${workspace}/api-keys/sample`,
    body: { permissions: ["users.track"], ip_allowlist: [] },
  },
  "POST /admin/v1/workspaces/:name/api-keys/:key/rotate": {
    path: `/admin/v1/workspaces/${workspace}/api-keys/sample/rotate`,
    body: { overlap_seconds: 60 },
  },
  "DELETE /admin/v1/workspaces/:name/api-keys/:key": {
    path: `/admin/v1/workspaces/${workspace}/api-keys/sample`,
  },
  "GET /admin/v1/audit": {},
});
