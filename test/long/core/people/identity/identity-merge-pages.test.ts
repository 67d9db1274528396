/*
 * A merge of users with a long history. Rows move in pages, so this compares all of them before and after, to
 * the microsecond and to the last digit. The history is written with SQL, because requests would take a minute.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { bucketOfId } from "../../../../../src/core/database/buckets.ts";
import { openDatabase } from "../../../../../src/server/open-database.ts";
import { serve } from "../../../../../src/server/serve.ts";
import { testConfig } from "../../../../harness.ts";
import { post } from "../../../../system/child-server.ts";

const KEY = "key-of-the-merge-pages-test";
const TABLES = ["events", "purchases", "message_history"] as const;

const config = await testConfig();
const database = await openDatabase(config);
const server = await serve(config, undefined, Promise.resolve(database));
after(() => server.stop());

const { url } = server.welcome;
await post(`${url}/admin/v1/apply`, server.welcome.adminToken.secret ?? "", {
  company: { name: "Test" },
  workspaces: [{ name: "pages", api_keys: [{ name: "k", key: KEY, permissions: ["all"] }] }],
});

/** Writes a history of this many rows in each table. */
async function write(externalId: string, rows: number, prefix: string): Promise<void> {
  const [profile] = await database.query<{ id: string; workspace: number }>(
    "select profile_id as id, workspace_id as workspace from profiles where external_id = $1",
    [externalId],
  );
  assert.ok(profile);
  const of = [profile.workspace, bucketOfId(profile.id), profile.id, rows];
  const rowOf = "from generate_series(1, $4::int) n";
  const id = `md5('${prefix}' || n)::uuid`;
  // Two rows share each time, so a page can end between them.
  const time = "timestamptz '2026-01-01' + (n / 2) * interval '1.000001 seconds'";
  // A large row moves by itself.
  const text = `case when n % 500 = 0 then repeat('x', 60000) else '"\\\\ü' end`;
  await database.query(
    `insert into events (workspace_id, bucket, profile_id, event_id, name, occurred_at, app_id, properties)
     select $1::int, $2::smallint, $3::uuid, ${id}, 'event ' || n % 7, ${time},
       case when n % 3 = 0 then 'app' end,
       case when n % 2 = 0 then jsonb_build_object('n', n + 0.10, 'text', ${text}) end ${rowOf}`,
    of,
  );
  await database.query(
    `insert into purchases (workspace_id, bucket, profile_id, purchase_id, product_id, currency, price,
       quantity, occurred_at)
     select $1::int, $2::smallint, $3::uuid, ${id}, 'product', 'EUR', n + 0.1000000000000000010, n,
       ${time} ${rowOf}`,
    of,
  );
  await database.query(
    `insert into message_history (workspace_id, bucket, profile_id, message_id, channel, sent_at, details)
     select $1::int, $2::smallint, $3::uuid, 'message ' || n, 'email', ${time},
       jsonb_build_object('by', '${prefix}', 'text', ${text}) ${rowOf}`,
    of,
  );
}

/** All rows of a table without their place, or with it, in an order of their own. */
async function rowsOf(table: string, place = "- 'bucket' - 'profile_id' - 'origin_id'") {
  const rows = await database.query<{ row: string }>(
    `select (to_jsonb(t) ${place})::text as row from ${table} t`,
  );
  return rows.map(({ row }) => row).sort();
}

test("a merge moves thousands of events, purchases and messages unchanged, and of a message that several users have keeps the kept user's", async () => {
  const users = ["kept", "first", "second"].map((external_id) => ({ external_id }));
  await post(`${url}/users/track`, KEY, { attributes: users });
  await write("kept", 3, "kept");
  await write("first", 4_001, "first");
  await write("second", 2_000, "second");
  const before = await Promise.all(TABLES.map((table) => rowsOf(table)));
  const placed = await Promise.all(TABLES.map((table) => rowsOf(table, "")));

  const answer = await post(`${url}/users/merge`, KEY, {
    merge_updates: ["first", "second"].map((external_id) => ({
      identifier_to_merge: { external_id },
      identifier_to_keep: { external_id: "kept" },
    })),
  });
  assert.deepEqual([answer.status, answer.body.message], [202, "success"]);

  const [events, purchases, messages] = await Promise.all(TABLES.map((table) => rowsOf(table)));
  assert.deepEqual(events, before[0]);
  assert.deepEqual(purchases, before[1]);
  const ofKept = (by: string) => (row: string) => row.includes(`"by": "${by}"`);
  assert.equal(messages?.length, 4_001);
  assert.equal(messages?.filter(ofKept("kept")).length, 3);
  assert.equal(messages?.filter(ofKept("second")).length, 0);
  for (const table of TABLES) {
    const profiles = await database.query(`select distinct profile_id, bucket from ${table}`);
    assert.equal(profiles.length, 1, table);
  }

  // The undo of both merges, the first one first, takes every row back, also the messages that several users have.
  const path = `${url}/admin/v1/workspaces/pages/merges`;
  const token = server.welcome.adminToken.secret ?? "";
  const headers = { authorization: `Bearer ${token}` };
  const { merges } = (await (await fetch(path, { headers })).json()) as {
    merges: { id: string }[];
  };
  for (const { id } of merges.reverse()) {
    const undone = await post(`${path}/${id}/undo`, token, {});
    assert.equal(undone.status, 200, JSON.stringify(undone.body));
  }
  assert.deepEqual(await Promise.all(TABLES.map((table) => rowsOf(table, ""))), placed);
});
