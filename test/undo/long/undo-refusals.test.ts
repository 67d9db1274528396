import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { later } from "../../../src/core/base/clock.ts";
import { sweepMergeRecords } from "../../../src/core/people/identity/forget-merges.ts";
import {
  alias,
  byAlias,
  id,
  identifyAliases,
  merge,
  remove,
  renameAliases,
  succeeds,
  TIME,
} from "../../core/people/identity/identity-calls.ts";
import { startServer, type TestWorkspace, WEB_APP } from "../../harness.ts";
import { mergesOf, refusesUndo, undo, undone } from "../undo-calls.ts";

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

suite("refusals of an undo", () => {
  test("a merge that does not exist is 404, and a malformed request 400", async () => {
    const workspace = await server.workspace();
    const nobody = "00000000-0000-7000-8000-000000000000";
    assert.equal((await undo(server, workspace, nobody)).status, 404);
    assert.equal((await undo(server, workspace, "x")).status, 400);
    assert.equal((await undo(server, workspace, nobody, { dry_run: "yes" })).status, 400);
    assert.equal((await undo(server, workspace, nobody, { force: true })).status, 400);
  });

  test("a merge is undone once", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [id("ada"), id("eve")] });
    const merge_id = await merged(workspace, "eve", "ada");
    const answers = await Promise.all([1, 2, 3].map(() => undo(server, workspace, merge_id)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
    await refusesUndo(server, workspace, merge_id, "UNDO_DONE");
  });

  test("a merge while undo_days was 0 was not recorded", async () => {
    const workspace = await server.workspace({ settings: { undo_days: 0 } });
    await workspace.track({ attributes: [id("ada"), id("eve")] });
    const merge_id = await merged(workspace, "eve", "ada");
    assert.equal((await latestOf(workspace)).undoable_until, null);
    await refusesUndo(server, workspace, merge_id, "UNDO_NOT_RECORDED");
  });

  test("after undo_days a merge cannot be undone, and nothing of its record is left", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [id("ada"), { ...byAlias("secret-alias"), _update_existing_only: false }],
      events: [],
    });
    await workspace.track({ events: [{ ...byAlias("secret-alias"), name: "a", time: TIME }] });
    const answer = await identifyAliases(workspace, [["secret-alias", "ada"]], {
      merge_behavior: "none",
    });
    assert.equal(answer.status, 201);
    const { id: merge_id, merged: left } = await latestOf(workspace);
    const rows = async () => {
      const [events] = await server.database.query<{ count: number }>(
        "select count(*) as count from events where profile_id = $1",
        [left.platform_id],
      );
      const [records] = await server.database.query<{ count: number }>(
        "select count(*) as count from merge_records where merge_id = $1",
        [merge_id],
      );
      return [Number(events?.count), Number(records?.count)];
    };
    await sweepMergeRecords(server.database, later(new Date(), { days: 29 }));
    assert.deepEqual(await rows(), [1, 1]);
    await sweepMergeRecords(server.database, later(new Date(), { days: 31 }));
    assert.deepEqual(await rows(), [0, 0]);
    await refusesUndo(server, workspace, merge_id, "UNDO_TOO_LATE");
  });

  test("a shorter undo_days applies at once to earlier merges", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [id("ada"), id("eve")] });
    const merge_id = await merged(workspace, "eve", "ada");
    const path = `/admin/v1/workspaces/${workspace.name}/settings`;
    assert.equal((await server.admin("PATCH", path, { undo_days: 91 })).status, 400);
    assert.equal((await server.admin("PATCH", path, { undo_days: 0 })).status, 200);
    await refusesUndo(server, workspace, merge_id, "UNDO_TOO_LATE");
  });

  test("once the kept user is deleted nothing comes back, and the record is empty", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [id("a"), id("b"), { ...id("c"), first_name: "Unmistakable" }],
    });
    const first = await merged(workspace, "c", "b");
    const second = await merged(workspace, "b", "a");
    await succeeds(remove(workspace, { external_ids: ["a"] }));
    await refusesUndo(server, workspace, first, "UNDO_KEPT_GONE");
    await refusesUndo(server, workspace, second, "UNDO_KEPT_GONE");
    const rows = await server.database.query<{ row: string }>(
      "select row_to_json(r)::text as row from merge_records r where merge_id = any($1)",
      [[first, second]],
    );
    assert.ok(!rows.some(({ row }) => row.includes("Unmistakable")));
  });

  test("an external_id or alias that another user has now is in the way, and the refusal names both", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [id("ada"), id("eve"), { ...byAlias("x"), _update_existing_only: false }],
    });
    const first = await merged(workspace, "eve", "ada");
    await workspace.track({ attributes: [{ ...id("eve"), plan: "new" }] });
    const taken = await refusesUndo(server, workspace, first, "UNDO_IDENTIFIER_TAKEN");
    assert.deepEqual(taken.identifier, { external_id: "eve" });
    assert.equal(taken.user.external_id, "eve");
    assert.ok(taken.message.includes("eve"));
    await succeeds(remove(workspace, { external_ids: ["eve"] }));
    await undone(server, workspace, first);
    await succeeds(identifyAliases(workspace, [["x", "ada"]]));
    const { id: second } = await latestOf(workspace);
    await renameAliases(workspace, { alias_label: "l", old_alias_name: "x", new_alias_name: "y" });
    await workspace.call("POST", "/users/alias/new", {
      user_aliases: [{ external_id: "eve", ...alias("x") }],
    });
    const other = await refusesUndo(server, workspace, second, "UNDO_IDENTIFIER_TAKEN");
    assert.deepEqual(other.identifier, { user_alias: alias("x") });
    assert.equal(other.user.external_id, "eve");
  });
});

test("an erased user leaves nothing in what undo stores, whether kept or merged, and an undo is refused", async () => {
  const workspace = await server.workspace();
  const secrets = ["Kassandra-Q", "kassandra-q@example.com", "alias-of-kassandra", "kassandra-old"];
  const [name, email, aliasName, former] = secrets as [string, string, string, string];
  await workspace.track({
    attributes: [
      id("kassandra"),
      { ...id(former), first_name: name, email },
      { ...byAlias(aliasName), _update_existing_only: false, token: name },
    ],
  });
  const message = { message_id: "m", channel: "email", sent_at: TIME };
  await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/import`, {
    users: [
      { ...id("kassandra"), messages: [message] },
      {
        ...id(former),
        messages: [message],
        apps: [{ app_id: WEB_APP, sessions: 1, first_used: TIME, last_used: TIME }],
      },
    ],
  });
  const first = await merged(workspace, former, "kassandra");
  await succeeds(
    identifyAliases(workspace, [[aliasName, "kassandra"]], { merge_behavior: "none" }),
  );
  const { id: second, kept } = await latestOf(workspace);
  const erased = await server.admin(
    "DELETE",
    `/admin/v1/workspaces/${workspace.name}/users/${kept.platform_id}`,
  );
  assert.equal(erased.status, 200, JSON.stringify(erased.body));
  for (const table of ["merge_records", "events", "message_history", "email_state_changes"]) {
    const rows = await server.database.query<{ row: string }>(
      `select row_to_json(r)::text as row from ${table} r`,
    );
    const text = rows.map(({ row }) => row.toLowerCase()).join("\n");
    for (const secret of secrets)
      assert.ok(!text.includes(secret.toLowerCase()), `${table}: ${secret}`);
  }
  await refusesUndo(server, workspace, first, "UNDO_ERASED");
  await refusesUndo(server, workspace, second, "UNDO_ERASED");
});
