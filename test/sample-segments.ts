/* Requests that work for segments and the change feed: see sample-requests.ts. */
import { randomUUID } from "node:crypto";
import { hashSecret } from "../src/core/admin/secrets/secrets.ts";
import type { TestServer, TestWorkspace } from "./harness.ts";
import type { Samples } from "./sample-administration.ts";

export const ofSegments = (server: TestServer, workspace: TestWorkspace): Samples => {
  const PATH = "/admin/v1/workspaces/:name/segments";
  const filter = { event: "signed_up" };
  const newSegment = async () => {
    const id = randomUUID();
    const path = PATH.replace(":name", workspace.name);
    await server.admin("PUT", `${path}/${id}`, { name: id, filter });
    return { query: { segment_id: id, length: "7" } };
  };
  /** One that runs and that no job continues. */
  const newCount = async () => {
    const [id, none] = [randomUUID(), "00000000-0000-0000-0000-000000000000"];
    await server.database.query(
      `insert into segment_counts (workspace_id, count_id, filter, status, after, total, matching, started_at)
       select workspace_id, $1, '{}', 'running', $2, 0, 0, now() from workspaces where name = $3`,
      [id, none, workspace.name],
    );
    return { params: { count_id: id } };
  };
  const newLink = async () => {
    const token = randomUUID();
    await server.database.query(
      `insert into segment_exports (workspace_id, export_id, segment_id, filter, fields, format, prefix, base_url,
         token_hashes, is_running, created_at, expires_at)
       select workspace_id, $1, $1, $2::text::jsonb, '{external_id}', 'zip', '', '', array[$3::text], false, now(),
         now() + interval '1 hour'
       from workspaces where name = $4`,
      [randomUUID(), JSON.stringify(filter), hashSecret(token), workspace.name],
    );
    return { params: { token } };
  };
  const withFeed = async () => {
    const body = { attributes: [{ external_id: "followed", plan: "pro" }] };
    await server.send("POST", "/users/track", body, { key: workspace.key });
    return { query: { cursor: "beginning" } };
  };
  return {
    "GET /changes": withFeed,
    "GET /admin/v1/workspaces/:name/changes": withFeed,
    [`POST ${PATH}/count`]: () => ({ body: { filter } }),
    [`GET ${PATH}/counts`]: () => ({}),
    [`GET ${PATH}/counts/:count_id`]: newCount,
    [`DELETE ${PATH}/counts/:count_id`]: newCount,
    [`POST ${PATH}/users`]: () => ({ body: { filter } }),
    "POST /users/export/segment": async () => ({
      body: {
        segment_id: (await newSegment()).query.segment_id,
        fields_to_export: ["external_id"],
      },
    }),
    "GET /segment-exports/:token": newLink,
    "GET /admin/v1/workspaces/:name/segment-sizes": () => ({}),
    "GET /admin/v1/workspaces/:name/user-count": () => ({}),
    "GET /admin/v1/workspaces/:name/attribute-values": () => ({
      query: { kind: "attribute", attribute: "country" },
    }),
    "GET /admin/v1/workspaces/:name/event-properties": () => ({ query: { event: "opened" } }),
    "GET /admin/v1/workspaces/:name/catalogue/occurrences": () => ({ query: { event: "opened" } }),
    "GET /admin/v1/workspaces/:name/customers/event": () => ({ query: { event: "opened" } }),
    "GET /events/list": () => ({}),
    "GET /events": () => ({}),
    "GET /custom_attributes": () => ({}),
    "GET /purchases/product_list": () => ({}),
    "GET /admin/v1/workspaces/:name/catalogue": () => ({ query: { kind: "event" } }),
    "GET /segments/list": () => ({}),
    "GET /segments/details": newSegment,
    "GET /segments/data_series": newSegment,
  };
};
