/* An import reads an export's files: a workspace moves as a whole. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { AWKWARD_TEXT, LONG_ATTRIBUTES } from "../../awkward-text.ts";
import { alias, byAlias, id, TIME } from "../../core/people/identity/identity-calls.ts";
import { ALERTS, NEWSLETTER, startServer, type TestWorkspace, WEB_APP } from "../../harness.ts";
import { sample } from "../../sizes.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { runCommand } from "../child-server.ts";

const server = await startServer();
const folder = await temporaryFolder();

const KINDS = ["users", "events", "purchases", "subscriptions"] as const;

const run = ({ name }: TestWorkspace, ...args: string[]) =>
  runCommand([...args, "--workspace", name], {
    ADMIN_TOKEN: server.adminToken,
    RAPPORT_URL: server.url,
  });

async function exportTo(
  workspace: TestWorkspace,
  suffix: string,
  kinds: readonly string[] = KINDS,
): Promise<void> {
  for (const kind of kinds) {
    const { code, stderr } = await run(workspace, "export", kind, fileOf(workspace, kind, suffix));
    assert.equal(code, 0, stderr);
  }
}

const fileOf = ({ name }: TestWorkspace, kind: string, suffix: string) =>
  join(folder, `${name}-${kind}.${suffix}`);

/** Assigned again by the workspace that imports a row. */
const NEW_IN_EACH = ["platform_id", "braze_id", "random_bucket", "changed_at"];

/**
 * The rows of an exported file as sorted texts, without the values that are new in each workspace.
 */
async function rowsIn(file: string): Promise<string[]> {
  const bytes = await readFile(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString();
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const row = JSON.parse(line, (name, value) =>
        NEW_IN_EACH.includes(name) ? undefined : value,
      );
      row.subscription_groups?.sort((one: any, other: any) => (one.id < other.id ? -1 : 1));
      return JSON.stringify(row);
    })
    .sort();
}

/**
 * Difficult values for a table: every type, texts that look like others, and a name with several
 * types.
 */
const AWKWARD_USERS = [
  {
    ...id("=1+1"),
    first_name: "[Ada]",
    last_name: "=cmd|' /C calc'!A0",
    home_city: "@city",
    third: 0.3333333333333333,
    largest: 9007199254740991,
    tiny: 1.5e-7,
    negative: -12.5,
    empty: "",
    none: [],
    many: "5",
    looks_like_a_number: "00123",
    looks_like_json: '{"a":1}',
    looks_like_a_boolean: "TRUE",
    quoted: "'=1",
    spaces: "  a\r",
    lines: "a\nb\u2028c",
    "score:number": "text",
    "a.b": { c: ["", 1, true] },
    flags: [true, false],
    nested: { deep: [{ x: 1.5e-7 }] },
  },
  { ...id("-2"), many: 5, looks_like_a_number: "1e3", looks_like_a_boolean: "false", only: false },
  { ...id("'3"), many: true, quoted: "'", "score:number": "5", spaces: "\ttab" },
];

async function fill(workspace: TestWorkspace): Promise<void> {
  const state = (group: string, subscription_state: string) => ({
    subscription_group_id: group,
    subscription_state,
  });
  const { body } = await workspace.track({
    attributes: [
      {
        ...id("ada"),
        email: "Ada@Example.com",
        phone: "+14155552671",
        first_name: `Ada \u{1f600} ${AWKWARD_TEXT}`,
        [AWKWARD_TEXT.slice(1)]: AWKWARD_TEXT,
        dob: "1990-12-10",
        gender: "F",
        country: "GB",
        time_zone: "Europe/London",
        current_location: { longitude: -0.1, latitude: 51.5 },
        email_subscribe: "opted_in",
        push_tokens: [{ app_id: WEB_APP, token: "token-1" }],
        tags: ["one", "two"],
        address: { city: "London", rooms: [{ size: 1 }, { size: 2.5 }] },
        score: 0.1,
        is_vip: true,
        joined: "2020-01-01T00:00:00.000Z",
        subscription_groups: [state(NEWSLETTER, "subscribed"), state(ALERTS, "unsubscribed")],
      },
      {
        ...byAlias("visitor", "web"),
        _update_existing_only: false,
        first_name: "Visitor",
        subscription_groups: [state(NEWSLETTER, "unsubscribed")],
      },
      { email: "only@example.com", _update_existing_only: false, email_subscribe: "unsubscribed" },
      { phone: "+14155552672", _update_existing_only: false, plan: "free" },
      { ...id("plain"), first_name: "Plain", ...LONG_ATTRIBUTES },
      ...AWKWARD_USERS,
    ],
    events: [
      {
        ...id("ada"),
        name: "opened",
        time: TIME,
        app_id: WEB_APP,
        properties: { a: { b: [1] }, size: "", n: 1.5e-7, t: "5", "x:text": [] },
      },
      { ...byAlias("visitor", "web"), name: "seen", time: "2026-02-01T00:00:00.123Z" },
      { email: "only@example.com", name: AWKWARD_TEXT.slice(1), time: TIME },
      { phone: "+14155552672", name: "seen", time: TIME },
    ],
    purchases: [
      { ...id("ada"), product_id: "p", currency: "EUR", price: 12.34, quantity: 3, time: TIME },
      { ...id("ada"), product_id: "p", currency: "USD", price: 0.1, time: TIME },
      {
        ...byAlias("visitor", "web"),
        product_id: "q",
        currency: "JPY",
        price: 100,
        time: TIME,
        properties: { size: "L", [AWKWARD_TEXT]: AWKWARD_TEXT },
      },
    ],
  });
  assert.deepEqual([body.errors, body.skipped], [undefined, undefined]);
  await workspace.call("POST", "/users/alias/new", {
    user_aliases: [{ ...id("ada"), ...alias("ada", "crm") }],
  });
  await workspace.call("POST", "/email/status", {
    email: "nobody@example.com",
    subscription_state: "unsubscribed",
  });
  const imported = await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/import`, {
    users: [
      {
        ...id("ada"),
        apps: [{ app_id: WEB_APP, sessions: 7, version: "1", first_used: TIME, last_used: TIME }],
        devices: [{ device_id: "d", model: "m" }],
        campaigns_received: [{ api_campaign_id: "c", last_received: TIME }],
        cards_clicked: [{ name: "card" }],
        messages: [{ message_id: "m", channel: "email", sent_at: TIME, opened_at: TIME }],
        engagement_times: { last_opened_email_at: TIME },
      },
    ],
  });
  assert.equal(imported.status, 200, JSON.stringify(imported.body));
}

describe("a workspace that is exported and imported into an empty one", () => {
  let filling: Promise<TestWorkspace> | undefined;

  /** A workspace that the tests only read, filled and exported once. */
  const filled = (): Promise<TestWorkspace> => {
    filling ??= (async () => {
      const from = await server.workspace();
      await fill(from);
      await exportTo(from, "ndjson");
      return from;
    })();
    return filling;
  };

  async function comesBackThrough(
    suffix: "ndjson" | "ndjson.gz" | "csv" | "parquet",
  ): Promise<void> {
    const from = await filled();
    if (suffix !== "ndjson") await exportTo(from, suffix);
    const to = await server.workspace();
    for (const kind of KINDS) {
      const { code, stderr } = await run(to, "import", kind, fileOf(from, kind, suffix));
      assert.equal(code, 0, `${kind}: ${stderr}`);
    }
    await exportTo(to, "ndjson");
    for (const kind of KINDS) {
      const wanted = await rowsIn(fileOf(from, kind, "ndjson"));
      assert.ok(wanted.length > 0, kind);
      assert.deepEqual(await rowsIn(fileOf(to, kind, "ndjson")), wanted, kind);
    }
  }

  for (const suffix of sample(["ndjson.gz", "ndjson"] as const, 1)) {
    test(`an exported workspace is imported again with the same rows through ${suffix}`, () =>
      comesBackThrough(suffix));
  }

  test("a workspace exported as CSV is imported again with the same rows, for values of any type", () =>
    comesBackThrough("csv"));

  test("a workspace exported as Parquet is imported again with the same rows, for values of any type", () =>
    comesBackThrough("parquet"));

  test("two exports of the same content as CSV are equal, with a column for each field that users have", async () => {
    const from = await filled();
    await exportTo(from, "csv", ["users"]);
    const first = await readFile(fileOf(from, "users", "csv"), "utf8");
    await exportTo(from, "csv", ["users"]);
    assert.equal(await readFile(fileOf(from, "users", "csv"), "utf8"), first);
    for (const column of [
      "external_id",
      "user_aliases:json",
      "created_at",
      "subscription_groups:json",
    ]) {
      assert.ok(first.split("\n", 1)[0]?.split(",").includes(column), column);
    }
  });

  test("two exports of the same content are alike byte for byte, wherever the engine has put the rows meanwhile", async () => {
    // The tests before have read it, and the next one needs its file alone.
    const from = await filled();
    const people = Array.from({ length: 40 }, (_, index) => id(`p${index}`));
    await from.track({ attributes: people.map((each) => ({ ...each, plan: "pro" })) });
    // Later times first, so that the order of writing differs from the export's.
    for (const day of ["2026-01-03", "2026-01-02", "2026-01-01"]) {
      const time = `${day}T00:00:00Z`;
      const events = people.map((each) => ({ ...each, name: "seen", time }));
      const bought = { product_id: "p", currency: "EUR", price: 1, time };
      await from.track({
        events,
        purchases: people.slice(0, 20).map((each) => ({ ...each, ...bought })),
      });
    }
    // All formats are written from the same rows in the same order.
    for (const suffix of sample(["ndjson", "csv", "parquet"], 1)) {
      await exportTo(from, suffix);
      const before = await Promise.all(KINDS.map((kind) => readFile(fileOf(from, kind, suffix))));
      // Every write moves the row of the profile.
      for (const plan of ["free", "pro"]) {
        await from.track({ attributes: people.slice(5, 30).map((each) => ({ ...each, plan })) });
      }
      await exportTo(from, suffix);
      for (const [index, kind] of KINDS.entries()) {
        const after = await readFile(fileOf(from, kind, suffix));
        assert.ok(before[index]?.equals(after), `${kind}.${suffix}`);
      }
    }
    for (const kind of ["events", "purchases"] as const) {
      const rows = (await readFile(fileOf(from, kind, "ndjson"), "utf8")).trimEnd().split("\n");
      const seen = rows
        .map((row) => JSON.parse(row))
        .filter(({ external_id }) => /^p/.test(external_id));
      const users = seen.map(({ external_id }) => external_id);
      for (let at = 0; at < seen.length; at += 3) {
        assert.equal(new Set(users.slice(at, at + 3)).size, 1, `${kind}: by user`);
        const times = seen.slice(at, at + 3).map(({ time }) => time);
        assert.deepEqual(times, [...times].sort(), `${kind}: by time`);
      }
    }
  });

  test("group states of a user with nothing but an alias are imported from a file of subscriptions", async () => {
    const from = await filled();
    const to = await server.workspace();
    await to.track({
      attributes: [{ ...byAlias("visitor", "web"), _update_existing_only: false }],
    });
    await run(to, "import", "subscriptions", fileOf(from, "subscriptions", "ndjson"));
    const visitor = await to.profile({ user_aliases: [byAlias("visitor", "web").user_alias] });
    assert.deepEqual(
      visitor.subscription_groups.map(({ id, status }: any) => [id, status]),
      [[NEWSLETTER, "unsubscribed"]],
    );
  });

  test("a user keeps the earliest time of creation that an import knows", async () => {
    const workspace = await server.workspace();
    const importAt = async (created_at: string) => {
      const row = JSON.stringify({ ...id("ada"), custom_attributes: {}, created_at });
      const { name } = workspace;
      return runCommand(
        ["import", "users", "-", "--workspace", name, "--again"],
        { ADMIN_TOKEN: server.adminToken, RAPPORT_URL: server.url },
        row,
      );
    };
    const createdAt = async () => (await workspace.profile({ external_ids: ["ada"] })).created_at;
    assert.equal((await importAt("2020-01-02T03:04:05.678Z")).code, 0);
    assert.equal(await createdAt(), "2020-01-02T03:04:05.678Z");
    await importAt("2024-01-01T00:00:00Z");
    assert.equal(await createdAt(), "2020-01-02T03:04:05.678Z");
    await importAt("2019-01-01T00:00:00Z");
    assert.equal(await createdAt(), "2019-01-01T00:00:00.000Z");
    const { code, stderr } = await importAt("yesterday");
    assert.equal(code, 2);
    assert.match(stderr, /'created_at' is not valid: it must be ISO 8601/);
  });
});
