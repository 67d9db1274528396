/* Who did an event last (docs/segments.md). */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { systemClock } from "../../../src/core/base/clock.ts";
import { createCatalogue } from "../../../src/features/catalogue/catalogue.ts";
import { type Answer, startServer, type TestWorkspace } from "../../harness.ts";

const server = await startServer();

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

const latest = async ({ name }: TestWorkspace, event = "opened"): Promise<any[]> => {
  const path = `/admin/v1/workspaces/${name}/catalogue/occurrences?event=${encodeURIComponent(event)}`;
  const { status, body }: Answer<any> = await server.admin("GET", path);
  assert.equal(status, 200, JSON.stringify(body));
  return body.occurrences;
};

const opened = (external_id: string, minutes: number, more: object = {}) => ({
  external_id,
  name: "opened",
  time: minutesAgo(minutes),
  ...more,
});

async function track(workspace: TestWorkspace, body: object): Promise<void> {
  const { status, body: answer } = await workspace.track(body as never);
  assert.equal(status, 201, JSON.stringify(answer));
}

const stored = ({ name }: TestWorkspace) =>
  server.database.query<{ name: string; latest: string }>(
    `select l.name, latest::text as latest from latest_occurrences l join workspaces w using (workspace_id)
     where w.name = $1`,
    [name],
  );

describe("the latest occurrences of an event", () => {
  test("they are listed by their own times with their users and properties, whatever the order in which they were sent", async () => {
    const [workspace, other] = [await server.workspace(), await server.workspace()];
    await track(other, { events: [opened("elsewhere", 0)] });
    await track(workspace, {
      attributes: [{ external_id: "ada", first_name: "Ada", email: "ada@example.com" }],
      events: [
        opened("ben", 30),
        opened("ada", 1, { properties: { page: "home" } }),
        opened("cleo", 60 * 24 * 40),
        { ...opened("ben", 0), name: "closed" },
      ],
    });
    await track(workspace, { events: [opened("ben", 20)] });
    const found = await latest(workspace);
    assert.deepEqual(
      found.map(({ external_id, properties }) => [external_id, properties]),
      [
        ["ada", { page: "home" }],
        ["ben", null],
        ["ben", null],
        ["cleo", null],
      ],
    );
    const [ada] = found;
    const { platform_id } = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual(
      [ada.platform_id, ada.first_name, ada.last_name, ada.email],
      [platform_id, "Ada", null, "ada@example.com"],
    );
    assert.deepEqual(await latest(workspace, "never sent"), []);
  });

  test("at most 20 are kept, of several processes too, and those of a failed write are written later", async () => {
    const workspace = await server.workspace();
    const ids = Array.from({ length: 15 }, (_, index) => `u${index}`);
    // The newest is sent first.
    await track(workspace, {
      events: ids.map((id, index) => opened(id, 100 - index)).reverse(),
    });
    assert.deepEqual(
      (await latest(workspace)).map(({ external_id }) => external_id),
      ids.slice(-10).reverse(),
      "ten of those that come at once",
    );
    const [row] = await server.database.query<{ id: number }>(
      "select workspace_id as id from workspaces where name = $1",
      [workspace.name],
    );
    let fails = true;
    const failing = new Proxy(server.database, {
      get(target, name) {
        if (name !== "transaction" || !fails) return Reflect.get(target, name);
        return () => Promise.reject(new Error("no connection"));
      },
    });
    const catalogue = createCatalogue(failing, systemClock);
    const { platform_id: profileId } = await workspace.profile({ external_ids: ["u0"] });
    const sent = (time: string) => ({
      people: { created: [], updated: [] },
      events: [{ profileId, work: { name: "opened", time: new Date(time) } }],
      purchases: [],
    });
    catalogue.note(row?.id ?? 0, sent(minutesAgo(3)));
    await assert.rejects(catalogue.write(), /no connection/);
    fails = false;
    for (let minute = 0; minute < 30; minute++) {
      catalogue.note(row?.id ?? 0, sent(minutesAgo(2 + minute)));
      await catalogue.write();
    }
    const [{ latest: kept } = { latest: "[]" }] = await stored(workspace);
    assert.equal(JSON.parse(kept).length, 20);
  });

  test("those of a merged user are found with the user who was kept, and those of a deleted user are gone", async () => {
    const workspace = await server.workspace();
    await track(workspace, {
      attributes: [{ external_id: "kept", plan: "pro" }],
      events: [opened("ada", 1), opened("merged", 2), opened("ben", 3)],
    });
    assert.equal((await latest(workspace)).length, 3);
    await workspace.call("POST", "/users/merge", {
      merge_updates: [
        {
          identifier_to_merge: { external_id: "merged" },
          identifier_to_keep: { external_id: "kept" },
        },
      ],
    });
    await workspace.call("POST", "/users/delete", { external_ids: ["ben"] });
    assert.deepEqual(
      (await latest(workspace)).map(({ external_id }) => external_id),
      ["ada", "kept"],
    );
  });

  test("an erased person is in none of them, neither stored nor waiting to be written, and a reset empties them", async () => {
    const workspace = await server.workspace();
    await track(workspace, { events: [opened("ada", 1), opened("ben", 2)] });
    const { platform_id } = await workspace.profile({ external_ids: ["ada"] });
    await latest(workspace);
    await track(workspace, { events: [opened("ada", 0)] });
    const path = `/admin/v1/workspaces/${workspace.name}/users/${platform_id}`;
    assert.equal((await server.admin("DELETE", path)).status, 200);
    assert.deepEqual(
      (await latest(workspace)).map(({ external_id }) => external_id),
      ["ben"],
    );
    const [row] = await stored(workspace);
    assert.ok(row && !row.latest.includes(platform_id), row?.latest);
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.equal((await stored(workspace)).length, 0);
  });

  test("the name of the event is required, and may have any letters", async () => {
    const workspace = await server.workspace();
    const name = `50 % off / "${randomUUID()}" 🎉`;
    await track(workspace, { events: [{ ...opened("ada", 1), name }] });
    assert.equal((await latest(workspace, name)).length, 1);
    const path = `/admin/v1/workspaces/${workspace.name}/catalogue/occurrences`;
    for (const query of ["", "?event=", `?event=${"x".repeat(256)}`]) {
      assert.equal((await server.admin("GET", path + query)).status, 400, query);
    }
  });
});
