/* How many users a workspace has. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSettableClock } from "../../src/core/base/clock.ts";
import { createUserTotals } from "../../src/features/segments/count-users.ts";
import { type Answer, startServer, type TestWorkspace } from "../harness.ts";
import { until } from "../until.ts";

const server = await startServer();

const count = ({ name }: TestWorkspace): Promise<Answer<any>> =>
  server.admin("GET", `/admin/v1/workspaces/${name}/user-count`);

const people = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({
    external_id: `u${from + index}`,
    plan: "pro",
  }));

/** A workspace with its number in the database. */
async function withId(): Promise<{ workspace: TestWorkspace; id: number }> {
  const workspace = await server.workspace();
  const [row] = await server.database.query<{ id: number }>(
    "select workspace_id as id from workspaces where name = $1",
    [workspace.name],
  );
  return { workspace, id: row?.id ?? 0 };
}

describe("the number of users", () => {
  test("the users of a workspace are counted exactly, apart from those of others", async () => {
    const [one, other] = [await server.workspace(), await server.workspace()];
    await one.track({ attributes: people(0, 30) });
    await other.track({ attributes: people(0, 2) });
    const { status, body } = await count(one);
    assert.equal(status, 200);
    assert.deepEqual([body.users, body.exact, body.message], [30, true, "success"]);
    assert.ok(Math.abs(Date.parse(body.counted_at) - Date.now()) < 60_000, body.counted_at);
    assert.equal((await count(other)).body.users, 2);
  });

  test("a number of users is kept for a second, and read again afterwards", async () => {
    const { workspace, id } = await withId();
    const clock = createSettableClock();
    const totals = createUserTotals(server.database, clock);
    await workspace.track({ attributes: people(0, 3) });
    const first = await totals.read(id);
    await workspace.track({ attributes: people(3, 5) });
    assert.deepEqual(await totals.read(id), first);
    assert.equal(first.users, 3);
    await until(async () => (await totals.read(id)).users === 5);
  });

  test("an estimate of a filter says of how many users as exactly as their count, and so do its parts", async () => {
    const { workspace, id } = await withId();
    await server.database.query(
      `insert into profiles (workspace_id, bucket, profile_id, version, aliases, standard_attributes,
         custom_attributes, created_at, updated_at)
       select $1, 0, gen_random_uuid(), 1, '[]', '{}', '{}', now(), now() from generate_series(1, 12000)`,
      [id],
    );
    const filter = {
      all: [
        { attribute: "country", exists: false },
        { attribute: "dob", exists: true },
      ],
    };
    const path = `/admin/v1/workspaces/${workspace.name}/segments/count`;
    const { body } = await server.admin("POST", path, { filter, parts: true });
    assert.deepEqual([body.total, body.exact], [12_000, false]);
    assert.equal((await count(workspace)).body.users, 12_000);
    const [everyone, nobody] = body.parts.map(({ alone }: any) => alone);
    assert.deepEqual([everyone.matching, everyone.high], [12_000, 12_000]);
    assert.equal(nobody.matching, 0);
  });

  test("more users than are counted are estimated, at most a few percent off, and called an estimate", async () => {
    const { id } = await withId();
    // The same ids in each run: with random ones an estimate is further off now and then.
    await server.database.query(
      `insert into profiles (workspace_id, bucket, profile_id, version, aliases, standard_attributes,
         custom_attributes, created_at, updated_at)
       select $1, 0, md5(n::text)::uuid, 1, '[]', '{}', '{}', now(), now() from generate_series(1, 12000) n`,
      [id],
    );
    const counted = await createUserTotals(server.database, createSettableClock(), 12_000).read(id);
    assert.deepEqual([counted.users, counted.isExact], [12_000, true]);
    const { users, isExact } = await createUserTotals(
      server.database,
      createSettableClock(),
      11_000,
    ).read(id);
    assert.equal(isExact, false);
    assert.ok(Math.abs(users - 12_000) < 500, String(users));
  });
});
