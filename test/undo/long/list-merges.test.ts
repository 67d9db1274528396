/* The list of merges: who was merged into whom, until when it can be undone, and pages of it. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { alias, id, merge, succeeds, userOf } from "../../core/people/identity/identity-calls.ts";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { mergesOf, undone } from "../undo-calls.ts";

const server = await startServer();

const latestOf = async (workspace: TestWorkspace) => {
  const [latest] = await mergesOf(server, workspace);
  assert.ok(latest);
  return latest;
};

/** Merges one user into another. @returns the id of the merge. */
async function merged(workspace: TestWorkspace, from: string, into: string): Promise<string> {
  await succeeds(merge(workspace, [[id(from), id(into)]]));
  return (await latestOf(workspace)).id;
}

suite("the list of merges", () => {
  test("a merge is listed with both users, who made it, and until when it can be undone", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ ...id("ada") }, { ...id("eve"), plan: "pro" }] });
    await succeeds(
      workspace.call("POST", "/users/alias/new", {
        user_aliases: [{ ...id("eve"), ...alias("e") }],
      }) as any,
    );
    const [ada, eve] = [await userOf(workspace, "ada"), await userOf(workspace, "eve")];
    await merged(workspace, "eve", "ada");
    const entry = await latestOf(workspace);
    assert.deepEqual(
      { ...entry, id: "", at: "", undoable_until: "" },
      {
        id: "",
        at: "",
        kind: "merge",
        kept: { platform_id: ada?.platform_id, external_id: "ada" },
        merged: {
          platform_id: eve?.platform_id,
          external_id: "eve",
          user_aliases: [{ alias_name: "e", alias_label: "l" }],
        },
        by: "test",
        undoable_until: "",
        undone_at: null,
      },
    );
    const days = (Date.parse(entry.undoable_until ?? "") - Date.parse(entry.at)) / 86_400_000;
    assert.equal(days, 30);
  });

  test("the list can be narrowed to a user who was kept or merged, by any name, and read in pages", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: ["a", "b", "c", "d"].map(id) });
    const first = await merged(workspace, "b", "a");
    const second = await merged(workspace, "d", "c");
    const ids = async (query: Record<string, string>) =>
      (await mergesOf(server, workspace, query)).map((each) => each.id);
    assert.deepEqual(await ids({}), [second, first]);
    assert.deepEqual(await ids({ user: "a" }), [first]);
    assert.deepEqual(await ids({ user: "b" }), [first]);
    const { platform_id } = (await latestOf(workspace)).merged;
    assert.deepEqual(await ids({ user: platform_id }), [second]);
    assert.deepEqual(await ids({ user: "nobody" }), []);
    await workspace.track({ attributes: [id("f"), { ...id("e"), email: "Ada.Q@Example.com" }] });
    await workspace.track({ attributes: [{ ...id("f"), email: "f@example.com" }] });
    const third = await merged(workspace, "e", "f");
    for (const user of ["Ada.Q@Example.com", "ada.q@example.com", "ADA.Q@EXAMPLE.COM"]) {
      assert.deepEqual(await ids({ user }), [third], user);
    }
    await undone(server, workspace, third);
    const path = `/admin/v1/workspaces/${workspace.name}/merges`;
    const page = await server.admin("GET", `${path}?limit=1&user=d`);
    assert.deepEqual([page.body.merges[0].id, page.body.cursor], [second, null]);
    const older = await server.admin("GET", `${path}?limit=1&cursor=${third}`);
    assert.equal(older.body.merges[0].id, second);
    const next = await server.admin("GET", `${path}?limit=1&cursor=${older.body.cursor}`);
    assert.deepEqual([next.body.merges[0].id, next.body.cursor], [first, null]);
    assert.equal((await server.admin("GET", `${path}?cursor=x`)).status, 400);
    assert.equal((await server.admin("GET", `${path}?limit=0`)).status, 400);
  });

  test("a page of merges of users with much data ends early, and the next one goes on", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: ["a", "b", "c", "d"].map(id) });
    const all = [await merged(workspace, "b", "a"), await merged(workspace, "d", "c")].reverse();
    await server.database.query(
      `update merge_records set body = left(body, -1) || ', "much": "' || repeat('x', 9000000) || '"}' where merge_id = any($1)`,
      [all],
    );
    const path = `/admin/v1/workspaces/${workspace.name}/merges?limit=2`;
    const { body: page } = await server.admin("GET", path);
    const { body: next } = await server.admin("GET", `${path}&cursor=${page.cursor}`);
    const ids = [page, next].map(({ merges }) => merges.map((each: any) => each.id));
    assert.deepEqual(ids, [[all[0]], [all[1]]]);
    assert.equal(next.cursor, null);
    for (const mergeId of all) await undone(server, workspace, mergeId);
  });
});
