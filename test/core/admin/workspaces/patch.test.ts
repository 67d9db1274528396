/*
 * PATCH of declared resources: RFC 7396, checked for each resource in resources.test.ts; here are the
 * rules that concern some of them. A kept secret belongs to its destination.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { startOwnServer } from "../../../harness.ts";

const server = await startOwnServer();
await server.workspace();

async function admin(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await server.admin(method, `/admin/v1${path}`, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Sends a PATCH that must be refused with a message that has this part. */
async function refuses(path: string, body: unknown, part: string, status = 400): Promise<void> {
  const answer = await server.admin("PATCH", `/admin/v1${path}`, body);
  assert.equal(answer.status, status, `${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`);
  const { message } = answer.body as { message: string };
  assert.ok(message.includes(part), `${part} is not in: ${message}`);
}

async function newWorkspace(): Promise<string> {
  const path = `/workspaces/${randomUUID()}`;
  await admin("PUT", path, {});
  return path;
}

const lastRow = async (query: string) => (await admin("GET", `/audit?limit=1&${query}`)).entries[0];

test("a PATCH of settings keeps what it omits, resets what is null, and replaces lists", async () => {
  const path = await newWorkspace();
  const { settings: defaults } = await admin("PUT", `${path}/settings`, {});
  const { settings: before } = await admin("PUT", `${path}/settings`, {
    track_max_updates: 75,
    blocked_external_ids: ["a", "b"],
    rate_limits: { "users.track": "off", "users.delete": { requests: 5, per_seconds: 60 } },
    brand: { company: "Acme", color: "#0b6e4f" },
  });
  const { settings } = await admin("PATCH", `${path}/settings`, {
    change_feed: true,
    track_max_updates: null,
    blocked_external_ids: ["c"],
    rate_limits: { "users.track": null, "users.delete": { requests: 9 } },
    brand: { color: "#000000" },
  });
  assert.deepEqual(settings, {
    ...before,
    change_feed: true,
    track_max_updates: defaults.track_max_updates,
    blocked_external_ids: ["c"],
    rate_limits: { "users.delete": { requests: 9, per_seconds: 60 } },
    brand: { company: "Acme", color: "#000000" },
  });
  assert.deepEqual((await admin("GET", `${path}/settings`)).settings, settings);
  assert.deepEqual((await admin("PATCH", `${path}/settings`, {})).settings, settings);
});

test("the audit row of a PATCH has what it changed, before and after, and a repetition has none", async () => {
  const path = await newWorkspace();
  const workspace = path.split("/")[2];
  for (const _time of [1, 2]) await admin("PATCH", `${path}/settings`, { brand: { company: "A" } });
  const { entries } = await admin("GET", `/audit?kind=workspace&workspace=${workspace}`);
  assert.deepEqual(entries.map(({ action, details }: any) => ({ action, details })).slice(0, -1), [
    {
      action: "updated",
      details: {
        before: { settings: { brand: {} } },
        after: { settings: { brand: { company: "A" } } },
      },
    },
  ]);
});

test("concurrent patches of different members of a resource all hold", async () => {
  const path = await newWorkspace();
  const settings = {
    track_max_updates: 7,
    intake: "lenient",
    max_users: 1_000,
    change_feed: true,
    keep_events_days: 30,
    multi_language: true,
  };
  const one = (name: string, value: unknown) => ({ [name]: value });
  await Promise.all(
    Object.entries(settings).map(([name, value]) =>
      admin("PATCH", `${path}/settings`, one(name, value)),
    ),
  );
  const saved = (await admin("GET", `${path}/settings`)).settings;
  for (const [name, value] of Object.entries(settings)) assert.equal(saved[name], value, name);
  const hook = `${path}/webhooks/crm`;
  await admin("PUT", hook, { name: "CRM", url: "https://crm.invalid/a", state: "paused" });
  const members = { name: "Other", types: ["user.deleted"], contact_emails: "ada@acme.example" };
  await Promise.all(
    Object.entries(members).map(([name, value]) => admin("PATCH", hook, one(name, value))),
  );
  const changed = await admin("GET", hook);
  for (const [name, value] of Object.entries(members)) assert.deepEqual(changed[name], value, name);
  const created = await server.admin("POST", `/admin/v1${path}/api-keys`, {
    name: "app",
    permissions: ["users.track"],
  });
  assert.equal(created.status, 201);
  const grants = { permissions: ["users.delete"], ip_allowlist: ["10.0.0.0/8"] };
  await Promise.all(
    Object.entries(grants).map(([name, value]) =>
      admin("PATCH", `${path}/api-keys/app`, one(name, value)),
    ),
  );
  const [key] = (await admin("GET", `${path}/api-keys`)).api_keys;
  assert.deepEqual({ permissions: key.permissions, ip_allowlist: key.ip_allowlist }, grants);
});

test("a PATCH refuses what PUT refuses, and names the field", async () => {
  const path = await newWorkspace();
  const settings = `${path}/settings`;
  await refuses(settings, { track_max_updates: 0 }, "'track_max_updates'");
  await refuses(settings, { track_max_updates: "7" }, "'track_max_updates'");
  await refuses(settings, { more: 1 }, "'more'");
  await refuses(settings, { more: null }, "'more'");
  await refuses(settings, { brand: { more: null } }, "more");
  await refuses(settings, { export_bucket: { url: "s3://bucket/a/" } }, "connection");
  await refuses(settings, { rate_limits: { "users.track": { requests: 5 } } }, "per_seconds");
  await refuses(settings, JSON.parse('{"__proto__": {"change_feed": true}}'), "__proto__");
  for (const body of [null, [], "x", 1]) await refuses(settings, body, "body");
  await refuses(`${path}/apps/none`, { name: "A" }, "There is no app 'none'", 404);
  await admin("PUT", `${path}/apps/one`, { name: "One", platform: "ios" });
  await refuses(`${path}/apps/one`, { platform: null }, "'platform'");
  await refuses(`${path}/apps/one`, { id: "two" }, "'id'");
  await refuses(`${path}/apps/one`, { declared: true }, "'declared'");
  await admin("PUT", `${path}/segments/5d0c2c0e-6f3a-4a57-8f0b-0b6f3f1f2a12`, {
    name: "S",
    filter: { purchases: "any" },
  });
  let deep: object = {};
  for (let level = 0; level < 5_000; level++) deep = { all: deep };
  const segment = `${path}/segments/5d0c2c0e-6f3a-4a57-8f0b-0b6f3f1f2a12`;
  await refuses(segment, { filter: deep }, "nested");
});

test("a webhook keeps its secret and its pause under a PATCH, but not for another url", async () => {
  const path = await newWorkspace();
  const hook = `${path}/webhooks/crm`;
  const secret = `whsec_${Buffer.alloc(24, 1).toString("base64")}`;
  const other = `whsec_${Buffer.alloc(24, 2).toString("base64")}`;
  await admin("PUT", hook, { name: "CRM", url: "https://crm.invalid/a", secret, state: "paused" });
  const renamed = await admin("PATCH", hook, { name: "New", url: "https://crm.invalid/a" });
  assert.deepEqual([renamed.name, renamed.state], ["New", "paused"]);
  assert.equal(renamed.previous_secret_until, null);
  await refuses(hook, { url: "https://evil.invalid/a" }, "'secret' must be sent again");
  await refuses(hook, { secret: null }, "'secret' must not be null");
  await refuses(hook, { url: "https://evil.invalid/a", secret: null }, "'secret'");
  await refuses(hook, { url: null }, "'url'");
  const moved = await admin("PATCH", hook, { url: "https://crm.invalid/b", secret: other });
  assert.notEqual(moved.previous_secret_until, null);
});

test("a webhook that was paused automatically resumes only if a PATCH sends its state", async () => {
  const path = await newWorkspace();
  const hook = `${path}/webhooks/crm`;
  await admin("PUT", hook, { name: "CRM", url: "https://crm.invalid/a", state: "active" });
  await server.database.query(
    "update webhooks set paused_reason = 'Refused.' where webhook_id = 'crm' and workspace_id = (select workspace_id from workspaces where name = $1)",
    [path.split("/")[2]],
  );
  const renamed = await admin("PATCH", hook, { name: "New", types: ["user.deleted"] });
  assert.deepEqual([renamed.state, renamed.paused_reason], ["paused", "Refused."]);
  const resumed = await admin("PATCH", hook, { state: "active" });
  assert.deepEqual([resumed.state, resumed.paused_reason], ["active", null]);
});

test("the secrets of a connection stay for the same destination only", async () => {
  const path = `/connections/${randomUUID()}`;
  const s3 = {
    type: "s3",
    access_key_id: "AKIA",
    secret_access_key: "first",
    endpoint: "http://127.0.0.1:9",
    root: "s3://bucket/a/",
    workspaces: [],
  };
  await admin("PUT", path, s3);
  const { message: _message, ...shared } = await admin("PATCH", path, { workspaces: ["shop"] });
  assert.deepEqual(shared.workspaces, ["shop"]);
  assert.equal("secret_access_key" in shared, false);
  await admin("PATCH", path, { endpoint: s3.endpoint });
  await admin("PATCH", path, { secret_access_key: "second" });
  const rule = "must be sent again";
  await refuses(path, { endpoint: "http://127.0.0.1:10" }, `'access_key_id' ${rule}`);
  await refuses(path, { endpoint: null }, rule);
  await refuses(path, { root: "s3://bucket/" }, rule);
  await refuses(path, { root: null }, rule);
  await refuses(path, { access_key_id: "AKIB" }, `'secret_access_key' ${rule}`);
  await refuses(path, { region: "eu-central-1", access_key_id: "AKIA" }, "'secret_access_key'");
  await refuses(path, { access_key_id: null }, "'access_key_id'");
  await refuses(path, { type: "files", root: "/srv" }, rule);
  const moved = await admin("PATCH", path, {
    endpoint: "http://127.0.0.1:10",
    access_key_id: "AKIB",
    secret_access_key: "third",
  });
  assert.equal(moved.endpoint, "http://127.0.0.1:10");
  const files = await admin("PATCH", path, {
    type: "files",
    root: "/srv/drops",
    endpoint: null,
    access_key_id: null,
    secret_access_key: null,
  });
  assert.deepEqual([files.type, files.root, files.workspaces], ["files", "/srv/drops", ["shop"]]);
  const row = await lastRow("kind=connection");
  assert.deepEqual(row.details, { before: { type: "s3" }, after: { type: "files" } });
  assert.equal(JSON.stringify(await admin("GET", "/audit?limit=50")).includes("third"), false);
});

test("the credentials of BigQuery are replaced as a whole", async () => {
  const path = `/connections/${randomUUID()}`;
  const credentials = { client_email: "a@acme.example", private_key: "first" };
  await admin("PUT", path, { type: "bigquery", project: "acme", credentials, workspaces: [] });
  await refuses(path, { credentials: { client_email: "b@acme.example" } }, "'credentials");
  await refuses(path, { project: "other-project" }, "'credentials' must be sent again");
});

test("a PATCH of a SCIM token changes only what it names", async () => {
  const path = "/scim-tokens/sample";
  const token = { name: "sample", service_origin: "acme.example" };
  assert.equal((await server.admin("POST", "/admin/v1/scim-tokens", token)).status, 201);
  await admin("PATCH", path, { require_origin: false });
  const read = async () => (await admin("GET", "/scim-tokens")).scim_tokens[0];
  assert.deepEqual(
    [(await read()).service_origin, (await read()).require_origin],
    ["acme.example", false],
  );
  assert.deepEqual((await lastRow("kind=scim_token")).details, {
    before: { require_origin: true },
    after: { require_origin: false },
  });
  await admin("PATCH", path, { require_origin: null });
  assert.equal((await read()).require_origin, true);
  await refuses(path, { service_origin: null }, "'service_origin'");
  await refuses(path, { token: "x" }, "'token'");
  await refuses("/scim-tokens/none", {}, "There is no SCIM token", 404);
  await admin("DELETE", path);
  await refuses(path, {}, "is revoked", 409);
});
