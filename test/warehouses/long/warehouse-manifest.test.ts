/*
 * Integrations as the manifest declares them: every key, every refusal with its place and its rule; and
 * who may ask for them through the API, how often.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { PERMISSIONS } from "../../../src/core/base/context/permissions.ts";
import { KINDS } from "../../../src/features/warehouses/sources/kinds.ts";
import { startServer } from "../../harness.ts";

const server = await startServer();

const POSTGRES = { type: "postgres", url: "postgres://u:hush@db.example/x", table: "public.users" };

const entry = (changes: object = {}) => ({
  id: randomUUID(),
  name: "CRM",
  type: "attributes",
  warehouse: POSTGRES,
  ...changes,
});

let names = 0;

const apply = (name: string, integrations: unknown) =>
  server.admin("POST", "/admin/v1/apply", {
    company: { name: "Test" },
    workspaces: [{ name, integrations }],
  });

const changesOf = (body: any) =>
  body.changes
    .filter((change: any) => change.kind === "integration")
    .map((change: any) => [change.action, change.name]);

describe("an integration in the manifest", () => {
  test("a manifest creates, updates and removes integrations, and applying it again changes nothing", async () => {
    const name = `m${++names}`;
    const full = entry({
      name: "A",
      type: "events",
      status: "paused",
      contact_emails: "ops@acme.example, it@acme.example",
      schedule: "*/15 * * * *",
      schedule_time_zone: "Europe/Berlin",
      retry: { attempts: 3, delay_seconds: 0 },
    });
    const others = ["attributes", "purchases"].map((type) => entry({ name: type, type }));
    const all = [full, ...others];
    assert.deepEqual(changesOf((await apply(name, all)).body), [
      ["created", "A"],
      ["created", "attributes"],
      ["created", "purchases"],
    ]);
    assert.deepEqual((await apply(name, all)).body.changes, []);
    const changed = { ...full, name: "B", warehouse: { ...POSTGRES, table: "other" } };
    assert.deepEqual(changesOf((await apply(name, [changed, ...others])).body), [["updated", "B"]]);
    assert.deepEqual(changesOf((await apply(name, [changed])).body), [
      ["removed", "attributes"],
      ["removed", "purchases"],
    ]);
    assert.deepEqual((await apply(name, undefined)).body.changes, []);
  });

  test("a manifest accepts every kind of warehouse", async () => {
    const keys = { access_key_id: "a", secret_access_key: "b" };
    const warehouses = [
      { ...POSTGRES, type: "redshift" },
      { type: "files", url: "/data/users.parquet" },
      { type: "files", url: "/data/", format: "ndjson" },
      { type: "s3", url: "s3://bucket/users.csv.gz", ...keys },
      { type: "s3", url: "s3://bucket/in/", format: "csv", region: "eu-west-1", ...keys },
    ];
    const list = warehouses.map((warehouse, index) => entry({ name: `W${index}`, warehouse }));
    assert.equal((await apply(`m${++names}`, list)).status, 200);
  });

  const refusals: [name: string, changes: object, rule: RegExp][] = [
    ["no UUID for an id", { id: "crm" }, /\.id' must be a UUID in lower case/],
    ["an id in capitals", { id: randomUUID().toUpperCase() }, /\.id' must be a UUID in lower case/],
    [
      "an unknown type",
      { type: "catalogs" },
      /\.type' must be one of attributes, events, purchases, delete/,
    ],
    ["an unknown status", { status: "off" }, /\.status' must be one of active, paused/],
    ["no addresses", { contact_emails: "ops" }, /\.contact_emails' must hold email addresses/],
    ["a schedule that is none", { schedule: "daily" }, /\.schedule' must be a cron expression/],
    ["a schedule of seconds", { schedule: "0 * * * * *" }, /\.schedule' must be a cron expression/],
    ["a schedule that never comes", { schedule: "0 0 30 2 *" }, /\.schedule' must be a cron/],
    ["a zone that is none", { schedule_time_zone: "Mars/Base" }, /\.schedule_time_zone' must be/],
    ["no try at all", { retry: { attempts: 0 } }, /\.retry\.attempts' must be at least 1/],
    ["an unknown key", { catalog: 1 }, /has an unknown key: 'catalog'/],
    ["no warehouse", { warehouse: undefined }, /\.warehouse' is required/],
    [
      "an unknown warehouse",
      { warehouse: { type: "oracle" } },
      new RegExp(
        `warehouse\\.type' must be one of ${KINDS.map(({ type }) => type).join(", ")}, connection`,
      ),
    ],
    [
      "no table",
      { warehouse: { ...POSTGRES, table: undefined } },
      /\.warehouse\.table' is required/,
    ],
    [
      "a table that is a statement",
      { warehouse: { ...POSTGRES, table: "users; drop table users" } },
      /\.warehouse\.table' must be the name of a table, such as public\.crm_users/,
    ],
    [
      "a URL of another protocol",
      { warehouse: { ...POSTGRES, url: "mysql://x" } },
      /\.warehouse\.url' must begin with postgres:\/\//,
    ],
    [
      "a URL of no bucket",
      { warehouse: { type: "s3", url: "s3:///x.csv", access_key_id: "a", secret_access_key: "b" } },
      /\.warehouse\.url' must begin with s3:\/\/ and the name of a bucket/,
    ],
    [
      "a key of a storage that is a number",
      { warehouse: { type: "s3", url: "s3://b/x.csv", access_key_id: 1, secret_access_key: "b" } },
      /\.warehouse\.access_key_id' must be a string/,
    ],
    [
      "no keys of a storage",
      { warehouse: { type: "s3", url: "s3://b/x.csv" } },
      /\.warehouse\.access_key_id', .*\.warehouse\.secret_access_key' are required/,
    ],
    [
      "files in a storage of no known format",
      { warehouse: { type: "s3", url: "s3://b/in/", access_key_id: "a", secret_access_key: "b" } },
      /\.warehouse' needs a 'format' \(parquet, csv, ndjson\)/,
    ],
    [
      "an endpoint without its protocol",
      {
        warehouse: {
          type: "s3",
          url: "s3://bucket/x.csv",
          endpoint: "storage.example:9000",
          access_key_id: "a",
          secret_access_key: "b",
        },
      },
      /\.warehouse\.endpoint' must begin with https:\/\/ or http:\/\//,
    ],
    [
      "keys of another warehouse",
      { warehouse: { ...POSTGRES, format: "csv" } },
      /\.warehouse' has an unknown key: 'format'/,
    ],
    [
      "a file of no known format",
      { warehouse: { type: "files", url: "/data/users.xlsx" } },
      /\.warehouse' needs a 'format' \(parquet, csv, ndjson\)/,
    ],
  ];
  for (const [name, changes, rule] of refusals) {
    test(`an integration with ${name} is refused with its place, and nothing is applied`, async () => {
      const workspace = `m${++names}`;
      const { status, body } = await apply(workspace, [entry({ name: "good" }), entry(changes)]);
      assert.equal(status, 400);
      assert.match(body.message, rule);
      assert.match(body.message, /'workspaces\[0\]\.integrations\[1\]/);
      assert.deepEqual(body.path.slice(0, 4), ["workspaces", 0, "integrations", 1]);
      const made = (await apply(workspace, [])).body.changes;
      assert.ok(made.some((change: any) => change.kind === "workspace"));
    });
  }

  test("an integration with the id or the name of another one is refused", async () => {
    const one = entry();
    const sameId = await apply(`m${++names}`, [one, entry({ id: one.id, name: "Other" })]);
    assert.deepEqual([sameId.status, /twice/.test(sameId.body.message)], [400, true]);
    const sameName = await apply(`m${++names}`, [one, entry()]);
    assert.deepEqual([sameName.status, /same name/.test(sameName.body.message)], [409, true]);
  });

  test("responses about an integration never reveal its warehouse connection", async () => {
    const workspace = await server.workspace({ integrations: [entry({ name: "Secret" })] });
    const answers = await Promise.all([
      workspace.call("GET", "/cdi/integrations"),
      server.admin("GET", "/admin/v1/integrations?name=Secret"),
    ]);
    for (const { status, body } of answers) {
      assert.equal(status, 200);
      assert.doesNotMatch(JSON.stringify(body), /hush|db\.example|public\.users/);
    }
  });
});

describe("an API key for integrations", () => {
  const ENDPOINTS: [permission: string, method: string, path: string][] = [
    ["cdi.integration_list", "GET", "/cdi/integrations"],
    ["cdi.integration_job_status", "GET", `/cdi/integrations/${randomUUID()}/job_sync_status`],
    ["cdi.integration_sync", "POST", `/cdi/integrations/${randomUUID()}/sync`],
  ];

  test("an integration endpoint requires its own permission and no other", async () => {
    for (const [permission, method, path] of ENDPOINTS) {
      const has = `has-${permission}`;
      const lacks = `lacks-${permission}`;
      const workspace = await server.workspace({
        api_keys: [
          { name: "has", key: has, permissions: [permission] },
          {
            name: "lacks",
            key: lacks,
            permissions: PERMISSIONS.filter((each) => each !== permission),
          },
        ],
      });
      const withKey = await workspace.call(method, path, undefined, { key: has });
      assert.notEqual(withKey.status, 403);
      const without = await workspace.call(method, path, undefined, { key: lacks });
      assert.equal(without.status, 403);
    }
  });

  test("the limits per minute are 50 integration lists, 100 status reads and 20 triggered syncs", async () => {
    const workspace = await server.workspace();
    for (const [index, limit] of [50, 100, 20].entries()) {
      const [, method = "", path = ""] = ENDPOINTS[index] ?? [];
      const answers = await Promise.all(
        Array.from({ length: limit + 1 }, () => workspace.call(method, path)),
      );
      const refused = answers.filter((answer) => answer.status === 429);
      assert.equal(refused.length, 1);
      assert.match(refused[0]?.headers.get("retry-after") ?? "", /^\d+$/);
      assert.equal(answers[0]?.headers.get("x-ratelimit-limit"), String(limit));
    }
  });
});

describe("the administrator's integration endpoints", () => {
  test("the list of all workspaces goes on page by page, until every integration was listed once", async () => {
    const names = ["C", "A", "B"];
    const integrations = names.map((name) => ({
      ...entry(),
      id: randomUUID(),
      name: `Paged ${name}`,
    }));
    const { name: workspace } = await server.workspace({ integrations });
    const listed: string[] = [];
    let more = "";
    do {
      const path = `/admin/v1/integrations?workspace=${workspace}&limit=2${more}`;
      const { status, body } = await server.admin("GET", path);
      assert.equal(status, 200);
      assert.ok(body.results.length <= 2);
      listed.push(...body.results.map((each: any) => each.integration_name));
      more = body.next_cursor ? `&cursor=${body.next_cursor}` : "";
    } while (more);
    assert.deepEqual(listed, ["Paged A", "Paged B", "Paged C"]);
    for (const [query, status, message] of [
      ["cursor=x", 400, "Invalid cursor"],
      ["limit=0", 400, undefined],
      ["limit=1001", 400, undefined],
      ["workspace=nowhere", 404, "There is no workspace 'nowhere'."],
    ] as const) {
      const refused = await server.admin("GET", `/admin/v1/integrations?${query}`);
      assert.equal(refused.status, status, query);
      if (message) assert.equal(refused.body.message, message);
    }
  });

  test("an unknown workspace, integration or run gets 404, and a malformed id gets 400", async () => {
    const workspace = await server.workspace({ integrations: [entry()] });
    const list = await server.admin("GET", `/admin/v1/integrations?workspace=${workspace.name}`);
    const id = list.body.results[0].integration_id;
    const base = `/admin/v1/workspaces/${workspace.name}/integrations/${id}`;
    const cases: [path: string, status: number, message: string][] = [
      [`${base.replace(workspace.name, "nowhere")}/runs`, 404, "There is no workspace 'nowhere'."],
      [`${base.replace(id, randomUUID())}/runs`, 404, "Integration not found"],
      [`${base.replace(id, "x")}/runs`, 400, "Invalid integration ID"],
      [`${base}/runs/${randomUUID()}`, 404, "Run not found"],
      [`${base}/runs/${randomUUID()}/rows`, 404, "Run not found"],
      [`${base}/runs/x/rows`, 400, "Invalid run ID"],
    ];
    for (const [path, status, message] of cases) {
      const answer = await server.admin("GET", path);
      assert.deepEqual([answer.status, answer.body.message], [status, message]);
      assert.equal((await server.send("GET", path)).status, 401);
      assert.equal((await workspace.call("GET", path)).status, 401);
    }
  });
});
