/*
 * How the engine finds the users of an export. The export is taken below HTTP, because the engine says within its
 * transaction how many rows it has read; nothing is timed.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readTogether } from "../../src/core/database/database.ts";
import { readFilter } from "../../src/features/export/export-filter.ts";
import { ROWS_OF } from "../../src/features/export/exported-rows.ts";
import { NEWSLETTER, startOwnServer } from "../harness.ts";
import { testWorkspace } from "../test-context.ts";

const FEW = 20;
const MANY = 1_000;

/** A profile is found by the cursor, measured and read. */
const READS = 3;

const AT_A_TIME = 50;

const server = await startOwnServer();
const { database } = server;
const workspace = await server.workspace();

async function addUsers(from: number, to: number): Promise<void> {
  const users = Array.from({ length: to - from }, (_, index) => ({
    external_id: `user-${from + index}`,
    email: `user-${from + index}@example.com`,
    email_subscribe: "opted_in",
    subscription_groups: [{ subscription_group_id: NEWSLETTER, subscription_state: "subscribed" }],
  }));
  for (let at = 0; at < users.length; at += AT_A_TIME)
    await workspace.track({ attributes: users.slice(at, at + AT_A_TIME) });
}

/** An export of the users. @returns how many it has, and how many rows of each table the engine read. */
async function exportUsers(): Promise<{
  users: number;
  read: Readonly<Record<string, number>>;
}> {
  const [row] = await database.query<{ id: number }>(
    "select workspace_id as id from workspaces where name = $1",
    [workspace.name],
  );
  return readTogether(database.for("analysis"), async (tx) => {
    const rowsRead = () =>
      tx.query<{ name: string; rows: number }>(
        `select relname as name, seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables
         where relname in ('profiles', 'email_states', 'group_states')`,
      );
    const before = new Map((await rowsRead()).map(({ name, rows }) => [name, rows]));
    let users = 0;
    for await (const portion of ROWS_OF.users({
      tx,
      workspace: testWorkspace({ id: row?.id ?? 0 }),
      filter: readFilter({}),
      now: new Date(),
    })) {
      users += portion.length;
    }
    const after = await rowsRead();
    const read = after.map(({ name, rows }) => [name, rows - (before.get(name) ?? 0)]);
    return { users, read: Object.fromEntries(read) };
  });
}

test("an export of many users finds each by key, also if it was taken often while there were few", async () => {
  await addUsers(0, FEW);
  await database.maintain();
  await database.transaction((tx) => tx.script("analyze"));
  for (let round = 0; round < 10; round++) assert.equal((await exportUsers()).users, FEW);
  await addUsers(FEW, MANY);
  const { users, read } = await exportUsers();
  assert.equal(users, MANY);
  assert.deepEqual(Object.keys(read).sort(), ["email_states", "group_states", "profiles"]);
  for (const [table, rows] of Object.entries(read))
    assert.ok(rows <= READS * MANY, `${rows} rows of ${table} were read`);
});
