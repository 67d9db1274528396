/*
 * PATCH of declared resources: RFC 7396, checked for each resource in resources.test.ts; here are the
 * rules that concern some of them. A kept secret belongs to its destination.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { startOwnServer } from "../../../../harness.ts";
import { patchCalls } from "./patch-calls.ts";

const server = await startOwnServer();
await server.workspace();
const { admin, refuses, newWorkspace, lastRow } = patchCalls(server);

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
  const segment = `${path}/segments/5d0c2c0e-6f3a-4a57-8f0b-0b6f3f1f2a12`;
  const deep = `${'{"all":'.repeat(20_000)}{}${"}".repeat(20_000)}`;
  const answer = await fetch(`${server.url}/admin/v1${segment}`, {
    method: "PATCH",
    headers: {
      authorization: `Bearer ${server.adminToken}`,
      "content-type": "application/merge-patch+json",
    },
    body: `{"filter":${deep}}`,
  });
  assert.deepEqual([answer.status, (await answer.text()).includes("nested")], [400, true]);
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
    endpoint: "https://minio.invalid",
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
  await refuses(path, { endpoint: "https://other.invalid" }, `'access_key_id' ${rule}`);
  await refuses(path, { endpoint: null }, rule);
  await refuses(path, { root: "s3://bucket/" }, rule);
  await refuses(path, { root: null }, rule);
  await refuses(path, { access_key_id: "AKIB" }, `'secret_access_key' ${rule}`);
  await refuses(path, { region: "eu-central-1", access_key_id: "AKIA" }, "'secret_access_key'");
  await refuses(path, { access_key_id: null }, "'access_key_id'");
  await refuses(path, { type: "files", root: "/srv" }, rule);
  const moved = await admin("PATCH", path, {
    endpoint: "https://other.invalid",
    access_key_id: "AKIB",
    secret_access_key: "third",
  });
  assert.equal(moved.endpoint, "https://other.invalid");
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

test("a PATCH of a sync keeps its warehouse, whose secret belongs to its destination", async () => {
  const path = await newWorkspace();
  const sync = `${path}/integrations/${randomUUID()}`;
  const warehouse = {
    type: "snowflake",
    account: "acme-analytics",
    user: "reader",
    private_key: "-----BEGIN PRIVATE KEY-----",
    table: "a.b.users",
  };
  await refuses(sync, { name: "None" }, "Integration not found", 404);
  await refuses(`${path}/integrations/none`, {}, "Invalid integration ID");
  await admin("PUT", sync, { name: "Users", type: "attributes", schedule: "0 3 * * *", warehouse });
  const renamed = await admin("PATCH", sync, { name: "People", retry: { attempts: 2 } });
  assert.deepEqual(
    [renamed.name, renamed.schedule, renamed.retry, renamed.warehouse.place],
    ["People", "0 3 * * *", { attempts: 2, delay_seconds: 10 }, "a.b.users"],
  );
  const workspace = path.split("/")[2];
  const moved = await admin("PATCH", sync, {
    schedule: null,
    warehouse: { table: "a.b.people", role: "r" },
  });
  assert.deepEqual([moved.schedule, moved.warehouse.place], [null, "a.b.people"]);
  assert.deepEqual((await lastRow(`kind=integration&workspace=${workspace}`)).details, {
    before: { schedule: "0 3 * * *", warehouse: "snowflake a.b.users" },
    after: { schedule: null, warehouse: "snowflake a.b.people" },
  });
  await keepsKeysOfBucket(`${path}/integrations/${randomUUID()}`);
  const rule = "'warehouse.private_key' must be sent again";
  await refuses(sync, { warehouse: { account: "other" } }, rule);
  await refuses(sync, { warehouse: { user: "admin" } }, rule);
  await refuses(sync, { warehouse: { endpoint: "https://evil.invalid" } }, rule);
  await refuses(sync, { warehouse: null }, "'warehouse' must not be null");
  await refuses(sync, { warehouse: { more: 1 } }, "more");
  await refuses(sync, { schedule: "often" }, "'schedule'");
  await admin("PATCH", sync, { warehouse: { account: "other", private_key: "-----BEGIN" } });
});

test("a PATCH of a preference center keeps its pages, and null is the built-in page", async () => {
  const path = await newWorkspace();
  const center = `${path}/preference-centers/${randomUUID()}`;
  const html = "<form><p>Ours</p></form>";
  await refuses(center, { title: "None" }, "There is no preference center", 404);
  const first = await admin("PUT", center, { name: "news" });
  const own = await admin("PATCH", center, {
    title: "Ours",
    page_html: html,
    translations: { es: { preference_center_title: "Hola" } },
    options: { "link-tags": [{ rel: "icon", href: "https://acme.example/i.png" }] },
  });
  assert.deepEqual([own.title, own.page_html], ["Ours", html]);
  assert.equal(own.options["links-tags"][0].href, "https://acme.example/i.png");
  assert.equal(own.translations.es.preference_center_title, "Hola");
  assert.deepEqual(own.translations.de, first.translations.de);
  const reset = await admin("PATCH", center, {
    page_html: null,
    translations: null,
    options: null,
  });
  const { updated_at: _then, title: _title, ...builtIn } = first;
  const { updated_at: _now, title, ...now } = reset;
  assert.deepEqual([now, title], [builtIn, "Ours"]);
  const workspace = path.split("/")[2];
  const rows = async () =>
    (await admin("GET", `/audit?kind=preference_center&workspace=${workspace}`)).entries;
  const before = await rows();
  await admin("PATCH", center, { title: "Ours" });
  assert.equal((await rows()).length, before.length);
  assert.deepEqual(before[1].details, {
    before: { title: first.title },
    after: { title: "Ours" },
  });
  await refuses(center, { state: "gone" }, "'state'");
  await refuses(center, { page_html: "{% nonsense %}" }, "page_html");
});

/** The path and format of a sync from S3 are no destination, its bucket, host and account are. */
async function keepsKeysOfBucket(sync: string): Promise<void> {
  const warehouse = {
    type: "s3",
    url: "s3://crm/usres/",
    format: "csv",
    access_key_id: "AKIA",
    secret_access_key: "hush",
  };
  await admin("PUT", sync, { name: "Files", type: "attributes", warehouse });
  const url = "s3://crm/users/";
  const corrected = await admin("PATCH", sync, { warehouse: { url, format: "parquet" } });
  assert.equal(corrected.warehouse.place, url);
  const rule = "must be sent again";
  for (const moved of [
    { url: "s3://other/users/" },
    { url: "s3://crm.evil/users/" },
    { endpoint: "https://evil.invalid" },
    { region: "eu-west-1" },
    { access_key_id: "AKIB" },
  ]) {
    await refuses(sync, { warehouse: moved }, rule);
  }
  await refuses(sync, { warehouse: { url: "s3://crm/../users/" } }, "'warehouse.url'");
  await refuses(sync, { warehouse: { url: 7 } }, "'warehouse");
}
