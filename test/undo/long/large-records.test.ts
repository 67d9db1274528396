/* What a merge records may have megabytes: those who read several records take a few megabytes at a time. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { later } from "../../../src/core/base/clock.ts";
import { sweepMergeRecords } from "../../../src/core/people/identity/forget-merges.ts";
import { id, merge, succeeds } from "../../core/people/identity/identity-calls.ts";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { mergesOf, refusesUndo, undone } from "../undo-calls.ts";

const server = await startServer();

const MEGABYTE = 1_048_576;

/** Merges users one after the other, each into one, and makes every record large. @returns the ids of the merges, oldest first. */
async function mergedLarge(
  workspace: TestWorkspace,
  pairs: readonly (readonly [from: string, into: string])[],
): Promise<string[]> {
  for (const [from, into] of pairs) await succeeds(merge(workspace, [[id(from), id(into)]]));
  const ids = (await mergesOf(server, workspace)).map((each) => each.id).toReversed();
  assert.equal(ids.length, pairs.length);
  await server.database.query(
    "update merge_records set body = repeat(' ', $2::int) || body where merge_id = any($1) and piece = 0",
    [ids, 1.5 * MEGABYTE],
  );
  return ids;
}

const NAMES = ["a", "b", "c", "d", "e"];

suite("records of megabytes", () => {
  test("of later merges do not change what an undo of the first one gives back", async () => {
    const workspace = await server.workspace();
    const own = NAMES.map((name) => ({ ...id(name), [`of_${name}`]: name, shared: name }));
    await workspace.track({ attributes: [id("ada"), ...own] });
    const ids = await mergedLarge(
      workspace,
      NAMES.map((name) => [name, "ada"]),
    );
    const attributes = async (name: string) =>
      (await workspace.profile({ external_ids: [name] }))?.custom_attributes;
    for (const [index, name] of NAMES.entries()) {
      await undone(server, workspace, ids[index] as string);
      assert.deepEqual(await attributes(name), { [`of_${name}`]: name, shared: name });
    }
    assert.deepEqual(await attributes("ada"), {});
  });

  test("do not keep an erased person's name behind them, and are kept if they name nobody", async () => {
    const workspace = await server.workspace();
    const friends = NAMES.map((name, index) => ({
      ...id(name),
      friend: index === 3 ? "kassandra-q" : "nobody",
    }));
    await workspace.track({ attributes: [id("ada"), id("kassandra-q"), ...friends] });
    const ids = await mergedLarge(
      workspace,
      NAMES.map((name) => [name, "ada"]),
    );
    const { platform_id } = await workspace.profile({ external_ids: ["kassandra-q"] });
    const path = `/admin/v1/workspaces/${workspace.name}/users/${platform_id}`;
    assert.equal((await server.admin("DELETE", path)).status, 200);
    await refusesUndo(server, workspace, ids[3] as string, "UNDO_ERASED");
    for (const index of [4, 0]) await undone(server, workspace, ids[index] as string);
  });

  test("are all removed after undo_days", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: ["ada", ...NAMES].map(id) });
    const ids = await mergedLarge(
      workspace,
      NAMES.map((name) => [name, "ada"]),
    );
    await sweepMergeRecords(server.database, later(new Date(), { days: 31 }));
    const left = await server.database.query("select from merge_records where merge_id = any($1)", [
      ids,
    ]);
    assert.equal(left.length, 0);
  });
});
