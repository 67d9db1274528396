/* How many captured calls and bytes a workspace keeps. The days: retention.test.ts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Database, withRetries } from "../../../src/core/database/database.ts";
import { CAPTURE_LIMITS } from "../../../src/features/capture/capture-call.ts";
import { openDatabase } from "../../../src/server/open-database.ts";
import { startOwnServer, type TestServer, type TestWorkspace } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";

const CAPTURING = { settings: { capture_unsupported: true } };

const { calls: MOST, bytes: MOST_BYTES } = CAPTURE_LIMITS;

const positions = async (server: TestServer, name: string, query: string): Promise<number[]> => {
  const { body } = await server.admin("GET", `/admin/v1/workspaces/${name}/captured?${query}`);
  return body.captured.map((each: { position: number }) => each.position);
};

/** Copies the one call of a workspace until there are this many, each with this many bytes. */
async function multiply(database: Database, workspace: string, calls: number, bytes: number) {
  const ofWorkspace = "workspace_id = (select workspace_id from workspaces where name = $1)";
  await withRetries(database, async (tx) => {
    await tx.query(
      `insert into captured_calls (workspace_id, position, captured_at, method, path, query, body,
         status, response, key_name, request_id, bytes, bytes_before)
       select workspace_id, number, captured_at, method, path, query, body, status, response,
         key_name, request_id, $3::bigint, $3::bigint * (number - 1)
       from captured_calls, generate_series(2, $2::int) as number where ${ofWorkspace}`,
      [workspace, calls, bytes],
    );
    await tx.query(
      `update capture_heads set calls = $2, bytes = $2::bigint * $3::bigint where ${ofWorkspace}`,
      [workspace, calls, bytes],
    );
  });
}

test("a workspace keeps its last 10,000 captured calls and 64 MB of them", async () => {
  const first = await startOwnServer({ dataDir: await temporaryFolder() });
  const [many, large] = [await first.workspace(CAPTURING), await first.workspace(CAPTURING)];
  for (const each of [many, large]) await each.call("POST", "/messages/send", {});
  await first.stop();
  const database = await openDatabase(first.config);
  await multiply(database, many.name, MOST, 100);
  await multiply(database, large.name, 4, MOST_BYTES / 4);
  await database.close();

  const second = await startOwnServer(first.config);
  const send = ({ key }: TestWorkspace) => second.send("POST", "/messages/send", {}, { key });
  assert.deepEqual(await positions(second, many.name, "cursor=3"), [2, 1]);
  assert.equal((await positions(second, large.name, "cursor=2")).length, 1);
  for (const each of [many, large]) await send(each);
  assert.deepEqual(await positions(second, many.name, "cursor=4"), [3, 2]);
  assert.deepEqual(await positions(second, many.name, "limit=1"), [MOST + 1]);
  assert.deepEqual(await positions(second, large.name, "cursor=3"), [2]);
  await second.stop();
});
