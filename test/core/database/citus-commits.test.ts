/* Commits and locks that concern several nodes: rows of users, and rows of small tables, which are on the coordinator. Runs on Citus. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { selectLockedProfiles } from "../../../src/core/people/profiles/locked-people-store.ts";
import { startOwnServer } from "../../harness.ts";

const skip = process.env.TEST_CITUS_WORKERS
  ? false
  : "there is no cluster: run npm run test:citus with DATABASE_URL";

describe("commits on Citus", { skip }, () => {
  test("one row of an import and its progress commit in two phases, so that a crash between nodes keeps both or neither", async () => {
    const server = await startOwnServer();
    const workspace = await server.workspace();
    // A record of each node that took part in a commit in two phases, until the coordinator clears them.
    const clear = () => server.database.query("select recover_prepared_transactions()");
    const twoPhased = async () =>
      (await server.database.query("select from pg_dist_transaction")).length;
    const event = (external_id: string) => ({
      external_id,
      name: "came",
      time: "2026-01-01T00:00:00Z",
    });

    await clear();
    assert.equal((await workspace.track({ events: [event("tracked")] })).status, 201);
    assert.equal(await twoPhased(), 0, "a track of one new user commits on one node");

    await clear();
    const path = `/admin/v1/workspaces/${workspace.name}/imports/one`;
    const body = { kind: "events", first_row: 1, rows: [event("imported")] };
    assert.equal((await server.admin("POST", path, body)).status, 200);
    assert.ok((await twoPhased()) > 0, "an import commits in two phases");
  });

  test("the rename and the removal of an external_id are each counted once in the transaction and once after all nodes have committed it", async () => {
    const server = await startOwnServer();
    const workspace = await server.workspace();
    const send = (path: string, body: object) => workspace.call<any>("POST", path, body);
    await workspace.track({ attributes: [{ external_id: "old" }] });
    const renames = [{ current_external_id: "old", new_external_id: "new" }];
    assert.equal(
      (await send("/users/external_ids/rename", { external_id_renames: renames })).status,
      201,
    );
    const removed = await send("/users/external_ids/remove", { external_ids: ["old"] });
    assert.deepEqual(removed.body.removed_ids, ["old"]);
    const [row] = await server.database.query<{ removals: number }>(
      "select removals from external_id_removals",
    );
    assert.equal(row?.removals, 4);
  });

  test("of users on several nodes exactly those are found whom another transaction has locked", async () => {
    const server = await startOwnServer();
    const workspace = await server.workspace();
    const attributes = Array.from({ length: 20 }, (_, user) => ({ external_id: `user-${user}` }));
    assert.equal((await workspace.track({ attributes })).status, 201);
    const users = await server.database.query<{ id: string; workspace: number }>(
      "select profile_id as id, workspace_id as workspace from profiles where external_id like 'user-%'",
    );
    const [first, second] = users as [(typeof users)[0], (typeof users)[0]];
    const look = () =>
      server.database.for("lookup").transaction((tx) =>
        selectLockedProfiles(
          tx,
          first.workspace,
          users.map(({ id }) => id),
          true,
        ),
      );
    const found = await server.database.transaction(async (tx) => {
      for (const { id, workspace: own } of [first, second]) {
        await tx.query(
          "update profiles set version = version where workspace_id = $1 and profile_id = $2",
          [own, id],
        );
      }
      return look();
    });
    assert.deepEqual(found.sort(), [first.id, second.id].sort());
    assert.deepEqual(await look(), []);
  });
});
