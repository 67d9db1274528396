/*
 * An erased person is in no table, file or stored response (docs/personal-data.md). The test leaves
 * traces of a person everywhere a caller can, erases the person, and searches all tables and files
 * of the server. A new table with the person in it makes it fail.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { ENGINE, NEWSLETTER, startOwnServer, WEB_APP } from "../../harness.ts";
import { startReceiver } from "../../receiver.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { startIntegration } from "../../sync-runs.ts";
import { until } from "../../until.ts";

/** No text of anything else holds one of these. */
const SECRETS = {
  external_id: "person-whom-nobody-knows",
  former_id: "person-under-an-old-name",
  alias_name: "alias-whom-nobody-knows",
  email: "Nobody.Knows@Example.com",
  phone: "+14155559371",
  first_name: "Xanthippe-Zoraida",
  custom: "a-value-whom-nobody-knows",
};

const dataDir = await temporaryFolder();
const source = join(await temporaryFolder(), "users.csv");
await writeFile(
  source,
  `UPDATED_AT,EXTERNAL_ID,PAYLOAD\n2026-01-01T00:00:00Z,${SECRETS.external_id},"{""email"": 7}"\n`,
);
const server = await startOwnServer({
  dataDir: ENGINE === "embedded" ? dataDir : "memory:",
  outboundAllow: ["127.0.0.1"],
});
/** Refuses every request, and repeats the end of it. */
const receiver = await startReceiver((response, { text }) => {
  response.writeHead(422).end(text.slice(-400));
});

async function allTables(): Promise<string[]> {
  const tables = await server.database.query<{ name: string }>(
    `select relname as name from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`,
  );
  return tables.map(({ name }) => name);
}

/** Every row of tables, by default of all, as text. */
async function dump(tables?: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const name of tables ?? (await allTables())) {
    const rows = await server.database.query<{ row: string }>(
      `select row_to_json(each)::text as row from "${name}" as each`,
    );
    texts.set(name, rows.map(({ row }) => row).join("\n"));
  }
  return texts;
}

/** The server's files without the engine's, whose rows are in the dump. */
async function files(): Promise<Map<string, string>> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const texts = new Map<string, string>();
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || /\/(base|global|pg_\w+)\//.test(path)) continue;
    texts.set(path, await readFile(path, "latin1"));
  }
  return texts;
}

/** Which places hold which value of the person. */
const findings = (
  texts: ReadonlyMap<string, string>,
  secrets: Readonly<Record<string, string>> = SECRETS,
): string[] =>
  [...texts].flatMap(([place, text]) =>
    Object.values(secrets)
      .filter((secret) => text.toLowerCase().includes(secret.toLowerCase()))
      .map((secret) => `${place}: ${secret}`),
  );

const NOON = "2026-01-01T12:00:00.000Z";

/**
 * Tables that an erasure has to empty of the person, and of which the test has found nothing yet.
 */
let missing: string[] = [];

const PAGE = readFileSync(join(packageRoot(), "docs", "personal-data.md"), "utf8");

/** The tables in the rows of the page; `removed`: only those that an erasure changes. */
function documentedTables(which: "all" | "removed"): string[] {
  const rows = [...PAGE.matchAll(/^\| (?!place|---)[^\n]+ \|$/gm)].map(([row]) => row.split(" | "));
  const counted = which === "all" ? rows : rows.filter((cells) => isEmptied(cells[4] ?? ""));
  return counted.flatMap((cells) =>
    [...(cells[5] ?? "").matchAll(/`(\w+)`/g)].map(([, table = ""]) => table),
  );
}

const isEmptied = (erased: string): boolean => /removed|replaced/.test(erased);

test("the page of personal data has every table of the database once: with the data of people, or without", async () => {
  const without = /^Tables without data of the people in a workspace: (.*?)\.$/ms.exec(PAGE)?.[1];
  const others = [...(without ?? "").matchAll(/`(\w+)`/g)].map(([, table]) => table);
  const documented = [...documentedTables("all"), ...others].sort();
  assert.deepEqual(documented, [...(await dump()).keys()].sort());
});

test("an erased person is in no table, file, stored response, captured call or live request", async () => {
  const integration = await startIntegration(server, { warehouse: { type: "files", url: source } });
  const { workspace } = integration;
  const { external_id, former_id, alias_name, email, phone, first_name, custom } = SECRETS;
  const path = `/admin/v1/workspaces/${workspace.name}`;
  await server.admin("PUT", `${path}/settings`, {
    capture_unsupported: true,
    change_feed: true,
  });
  // Keys know of the new settings within a second.
  await sleep(1_100);
  const alias = { alias_name, alias_label: "crm" };
  const keyed = (key: string) => ({ headers: { "idempotency-key": key } });

  await workspace.track({
    attributes: [
      {
        external_id: former_id,
        email,
        phone,
        first_name,
        note: custom,
        email_subscribe: "unsubscribed",
        subscription_groups: [
          { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
        ],
      },
      { external_id: "bob", email: "bob@example.com", first_name: "Bob" },
    ],
    events: [{ external_id: former_id, name: "seen", time: new Date(), properties: { custom } }],
    purchases: [
      {
        external_id: former_id,
        product_id: "book",
        currency: "EUR",
        price: 1,
        time: new Date(),
        app_id: WEB_APP,
        properties: { custom },
      },
    ],
  });
  await workspace.call("POST", "/users/external_ids/rename", {
    external_id_renames: [{ current_external_id: former_id, new_external_id: external_id }],
  });
  await workspace.call("POST", "/users/alias/new", { user_aliases: [{ ...alias, external_id }] });

  await server.admin("POST", `${path}/import`, {
    users: [
      {
        external_id,
        apps: [
          { app_id: WEB_APP, version: custom, sessions: 1, first_used: NOON, last_used: NOON },
        ],
        devices: [{ device_id: custom, model: first_name, os: "17", ad_tracking_enabled: true }],
        campaigns_received: [{ api_campaign_id: "c", name: custom, last_received: NOON }],
        messages: [{ message_id: custom, channel: "email", sent_at: NOON }],
      },
    ],
  });
  await workspace.call("POST", "/email/blacklist", { email });

  // A preview of a merge, and responses that tell of the person, each with a key.
  const merge = {
    merge_updates: [
      { identifier_to_merge: { external_id }, identifier_to_keep: { external_id: "bob" } },
    ],
    dry_run: true,
  };
  const preview = await workspace.call("POST", "/users/merge", merge, keyed("preview"));
  assert.ok(JSON.stringify(preview.body).includes(first_name));
  const sync = { attributes: [{ external_id, note: custom }] };
  await workspace.call("POST", "/users/track/sync", sync, keyed("sync"));
  const faulty = { external_id: `${external_id} `.repeat(2), name: 1, time: new Date() };
  await workspace.track({ attributes: [{ external_id: "bob" }], events: [faulty] }, keyed("f"));
  const others = { attributes: [{ external_id: "bob", first_name: "Robert" }], events: [{}] };
  const recorded = await workspace.track(others, keyed("of bob"));

  // Calls that Rapport does not serve, two of them about others.
  for (const named of [external_id, former_id, email, phone, "bob"]) {
    await workspace.call("POST", "/messages/send", { external_user_ids: [named], note: named });
  }
  await workspace.call("GET", `/campaigns/details?campaign_id=${encodeURIComponent(email)}`);

  // A row that a sync refuses, the error of a run, verdicts of an import, and the filter of a count.
  const { rows } = await integration.syncWithLog();
  assert.equal(rows[0]?.identity.external_id, external_id);
  await server.database.query("update sync_runs set message = $1", [
    `The source failed: no number: '${email}'.`,
  ]);
  await server.admin("POST", `${path}/imports/file-1`, {
    kind: "events",
    first_row: 1,
    rows: [{ external_id, name: 1, time: "never" }, { user_alias: alias }],
  });
  await server.database.query("update imports set last_notes = $1::text::jsonb", [
    JSON.stringify([{ index: 0, outcome: "rejected", code: "X", message: `'${phone}' is wrong` }]),
  ]);
  await server.admin("POST", `${path}/segments/count`, {
    filter: { external_id: { equals: external_id } },
    exact: true,
  });
  const segment_id = randomUUID();
  const named = { attribute: "external_id", equals: external_id };
  const filter = { attribute: "external_id", equals: "bob" };
  await server.admin("PUT", `${path}/segments/${segment_id}`, { name: "one", filter });
  const asked = { segment_id, fields_to_export: ["external_id"] };
  assert.equal((await workspace.call("POST", "/users/export/segment", asked)).status, 201);
  // As if the segment had named the person; its own audit row would keep that.
  await server.database.query("update segment_exports set filter = $1::text::jsonb", [
    JSON.stringify(named),
  ]);

  // As if an upgrade had joined another spelling.
  await server.database.query(
    `insert into joined_spellings (workspace_id, bucket, email, spelling)
     select s.workspace_id, s.bucket, s.email, s.email from email_states s where s.email = $1`,
    [email.toLowerCase()],
  );

  // As if it were still counted.
  await server.database.query(
    `insert into segment_counts (workspace_id, count_id, segment_id, filter, status, after, total, matching, started_at)
     select workspace_id, gen_random_uuid(), null, $2::text::jsonb, 'cancelled', gen_random_uuid(), 0, 0, now()
     from workspaces where name = $1`,
    [workspace.name, JSON.stringify(named)],
  );

  // Responses of a receiver that repeat the refused request.
  await server.admin("PUT", `${path}/webhooks/crm`, { name: "CRM", url: receiver.url });
  await workspace.track({ attributes: [{ external_id, note: `${custom} again`, first_name }] });
  const letters = () => server.admin("GET", `${path}/webhooks/crm/dead-letters`);
  await until(async () => (await letters()).body.dead_letters.length > 0);

  // Another user who was merged into the person: the record is for an undo.
  await workspace.track({ attributes: [{ external_id: "carol" }] });
  await workspace.call("POST", "/users/merge", {
    merge_updates: [
      {
        identifier_to_merge: { external_id: "carol" },
        identifier_to_keep: { external_id },
      },
    ],
  });

  const { platform_id } = await workspace.profile({ external_ids: [external_id] });
  const named_by_id = { ...SECRETS, platform_id };
  // The embedded engine writes requests when it stops: until then they are only in memory.
  const inMemory = ENGINE === "embedded" ? ["live_requests"] : [];
  const wanted = documentedTables("removed").filter((table) => !inMemory.includes(table));
  const without = async (tables: readonly string[]) => {
    const found = findings(await dump(tables), named_by_id);
    return tables.filter((table) => !found.some((each) => each.startsWith(`${table}:`)));
  };
  missing = wanted;
  await until(async () => {
    missing = await without(missing);
    // All of them at one time.
    if (missing.length === 0) missing = await without(wanted);
    return missing.length === 0;
  }).catch(() => assert.deepEqual(missing, [], "The person is not in these tables before."));

  const erased = await server.admin("DELETE", `${path}/users/${platform_id}`);
  assert.equal(erased.status, 200, JSON.stringify(erased.body));

  assert.deepEqual(findings(await dump()), []);
  assert.deepEqual(findings(await files()), []);
  const live = await server.admin("GET", `${path}/requests?limit=100`);
  assert.deepEqual(findings(new Map([["live requests", JSON.stringify(live.body)]])), []);
  assert.ok(JSON.stringify(live.body).includes("Robert"), "requests about others stay");

  // The stored responses of the person are gone, and a retry still changes nothing.
  const again = await workspace.call("POST", "/users/merge", merge, keyed("preview"));
  assert.deepEqual(findings(new Map([["preview", JSON.stringify(again.body.results)]])), []);
  const retry = await workspace.call("POST", "/users/track/sync", sync, keyed("sync"));
  assert.equal(retry.status, 409);
  assert.match(String(retry.body.message), /named a user who was erased since/);
  assert.deepEqual((await workspace.profiles({ external_ids: [external_id] })).length, 0);

  await assertNowhereButInAudits(platform_id);

  // The data of others stays.
  assert.deepEqual((await workspace.track(others, keyed("of bob"))).body, recorded.body);
  const calls = await server.admin("GET", `${path}/captured`);
  assert.deepEqual(
    calls.body.captured.map((call: any) => call.body.note),
    ["bob"],
  );
  // The embedded engine writes the latest requests when it stops.
  await server.stop();
  const database = await openDatabase(server.config);
  const written = await database
    .query<{ row: string }>("select row_to_json(each)::text as row from live_requests as each")
    .finally(() => database.close());
  assert.deepEqual(findings(new Map([["live", written.map(({ row }) => row).join()]])), []);
});

/**
 * The platform_id outlives the person in the audits, in the feed as the id of a deleted user, and in
 * the record that keeps it erased.
 */
async function assertNowhereButInAudits(platform_id: string): Promise<void> {
  const found = findings(await dump(), { platform_id }).map((finding) => finding.split(":", 1)[0]);
  const may = [
    "audit_entries",
    "identity_audit",
    "erased_people",
    "change_batches",
    "webhook_deliveries",
  ];
  assert.deepEqual(
    found.filter((table) => !may.includes(table ?? "")),
    [],
  );
}
