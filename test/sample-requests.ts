/*
 * One request that works for every endpoint: what access.test.ts sends with and without the right to.
 * The key is the method and the first path as they are declared.
 */

import { NEWSLETTER } from "./harness.ts";

export interface Sample {
  /** Where the path has parameters: the path with values in their place. */
  readonly path?: string;
  readonly body?: unknown;
}

const EMAIL = "ada@example.com";
const SAMPLE_GROUP = "5a2d6f0e-8f53-4f0c-9d54-2c7d5a3b1e90";

const ALIAS = { alias_name: "a1", alias_label: "app" };

const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };

/**
 * Endpoints whose success needs more than one request can prepare: that they work, and answer as
 * declared, is proved by the tests of their facility. Who is refused is checked for them here too.
 */
export const PROVED_ELSEWHERE: readonly RegExp[] = [
  / \/scim\/v2\//,
  / \/(campaign|canvases)\/translations/,
  / \/admin\/v1\/workspaces\/:name\/(locales|campaigns|canvases|messages)/,
];

/** Sample requests for a workspace with this name, made by `server.workspace()`. */
export const sampleRequests = (workspace: string): Readonly<Record<string, Sample>> => ({
  "GET /health/live": {},
  "GET /health/ready": {},
  "GET /openapi.json": {},
  "GET /docs": {},
  "POST /users/track": { body: { events: [EVENT] } },
  "POST /users/export/ids": { body: { external_ids: ["ada"] } },
  "POST /v2/subscription/status/set": {
    body: {
      subscription_groups: [
        { subscription_group_id: NEWSLETTER, subscription_state: "subscribed", emails: [EMAIL] },
      ],
    },
  },
  "POST /subscription/status/set": {
    body: { subscription_group_id: NEWSLETTER, subscription_state: "subscribed", email: [EMAIL] },
  },
  "POST /email/status": { body: { email: EMAIL, subscription_state: "opted_in" } },
  "GET /subscription/status/get": {
    path: `/subscription/status/get?subscription_group_id=${NEWSLETTER}&external_id=ada`,
  },
  "GET /subscription/user/status": { path: "/subscription/user/status?external_id=ada" },
  "GET /admin/v1/workspaces/:name/subscription-groups": {
    path: `/admin/v1/workspaces/${workspace}/subscription-groups`,
  },
  "GET /admin/v1/workspaces/:name/subscription-groups/:id": {
    path: `/admin/v1/workspaces/${workspace}/subscription-groups/${NEWSLETTER}`,
  },
  "PUT /admin/v1/workspaces/:name/subscription-groups/:id": {
    path: `/admin/v1/workspaces/${workspace}/subscription-groups/${SAMPLE_GROUP}`,
    body: { name: "Sample", channel: "email" },
  },
  "DELETE /admin/v1/workspaces/:name/subscription-groups/:id": {
    path: `/admin/v1/workspaces/${workspace}/subscription-groups/${SAMPLE_GROUP}`,
  },
  "GET /admin/v1/workspaces/:name/subscription-history": {
    path: `/admin/v1/workspaces/${workspace}/subscription-history`,
  },
  "DELETE /admin/v1/workspaces/:name/email-states/:email": {
    path: `/admin/v1/workspaces/${workspace}/email-states/${EMAIL}`,
  },
  "POST /users/alias/new": { body: { user_aliases: [ALIAS] } },
  "POST /users/alias/update": {
    body: {
      alias_updates: [{ alias_label: "app", old_alias_name: "a1", new_alias_name: "a2" }],
    },
  },
  "POST /users/identify": {
    body: { aliases_to_identify: [{ external_id: "ada", user_alias: ALIAS }] },
  },
  "POST /users/merge": {
    body: {
      merge_updates: [
        { identifier_to_merge: { external_id: "eve" }, identifier_to_keep: { external_id: "ada" } },
      ],
    },
  },
  "POST /users/delete": { body: { external_ids: ["eve"] } },
  "GET /admin/v1/workspaces/:name/identity-audit": {
    path: `/admin/v1/workspaces/${workspace}/identity-audit`,
  },
  "POST /admin/v1/workspaces/:name/import": {
    path: `/admin/v1/workspaces/${workspace}/import`,
    body: { users: [{ external_id: "ada", apps: [] }] },
  },
  "POST /admin/v1/apply": { body: { company: { name: "Test" }, workspaces: [] } },
  "POST /admin/v1/workspaces/:name/reset": {
    path: `/admin/v1/workspaces/${workspace}/reset`,
  },
});
