/* Exact counts as jobs: their progress, their queue, and how they are cancelled and resumed (docs/segments.md, Count). */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { ask, declare, succeeds } from "../../segment-calls.ts";
import { until } from "../../until.ts";

const server = await startServer();
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";
const PRO = { custom_attribute: "plan", equals: "pro" };

const pathOf = ({ name }: TestWorkspace) => `/admin/v1/workspaces/${name}/segments`;

/** A workspace with ten users, every second one with the plan "pro". */
async function withUsers(): Promise<TestWorkspace> {
  const workspace = await server.workspace();
  const attributes = Array.from({ length: 10 }, (_, index) => ({
    external_id: `u${index}`,
    plan: index % 2 === 0 ? "pro" : "free",
  }));
  await succeeds(workspace.track({ attributes }));
  return workspace;
}

const startCount = async (workspace: TestWorkspace, wanted: object) => {
  const { status, body } = await ask(server, workspace, "count", {
    ...wanted,
    exact: true,
    wait_s: 0,
  });
  assert.equal(status, 202);
  return body;
};

const readCount = async (workspace: TestWorkspace, id: string) =>
  (await server.admin("GET", `${pathOf(workspace)}/counts/${id}`)).body;

async function whenEnded(workspace: TestWorkspace, id: string) {
  return until(async () => {
    const count = await readCount(workspace, id);
    return count.status !== "running" && count;
  });
}

/** Puts a count into the queue as a server that stopped left it. */
async function leaveCount(
  workspace: TestWorkspace,
  stands: { readonly after: string; readonly total: number; readonly matching: number },
): Promise<string> {
  const id = randomUUID();
  await server.database.query(
    `insert into segment_counts
       (workspace_id, count_id, filter, status, after, total, matching, expected, started_at)
     select workspace_id, $1, $2::text::jsonb, 'running', $3::uuid, $4, $5, $6, now() - interval '1 minute'
     from workspaces where name = $7`,
    [id, JSON.stringify(PRO), stands.after, stands.total, stands.matching, 10, workspace.name],
  );
  return id;
}

describe("an exact count that is a job", () => {
  test("it reports how many users it has counted and about how many there are, and its result is the exact number", async () => {
    const workspace = await withUsers();
    const started = await startCount(workspace, { filter: PRO });
    assert.deepEqual([started.status, started.counted, started.expected], ["running", 0, 10]);
    const ended = await whenEnded(workspace, started.count_id);
    assert.deepEqual(
      [ended.status, ended.counted, ended.matching, ended.expected],
      ["finished", 10, 5, 10],
    );
    assert.ok(ended.finished_at >= ended.started_at);
  });

  test("continues after the user at whom a stopped server left it, and counts nobody twice", async () => {
    const workspace = await withUsers();
    const { users } = (await ask(server, workspace, "users", { filter: PRO })).body;
    // The second user of the five: three are left, and those without the plan beside them.
    const after = users[1].platform_id;
    const id = await leaveCount(workspace, { after, total: 1_000, matching: 700 });
    await startCount(workspace, { filter: PRO });
    const ended = await whenEnded(workspace, id);
    assert.equal(ended.matching, 703);
    assert.ok(ended.counted >= 1_003 && ended.counted <= 1_008, String(ended.counted));
  });

  test("the counts of a workspace wait in a queue, and cancelling one starts the next", async () => {
    const workspace = await withUsers();
    const first = await leaveCount(workspace, { after: BEFORE_ALL, total: 0, matching: 0 });
    const second = await leaveCount(workspace, { after: BEFORE_ALL, total: 0, matching: 0 });
    const listed = async () =>
      (await server.admin("GET", `${pathOf(workspace)}/counts`)).body.counts;
    const [one, two] = await listed();
    assert.deepEqual(new Set([one.count_id, two.count_id]), new Set([first, second]));
    assert.deepEqual([two.before, one.before], [0, 1]);
    assert.equal(one.description, 'Users who match: plan is "pro".');
    const stopped = await server.admin("DELETE", `${pathOf(workspace)}/counts/${first}`);
    assert.deepEqual([stopped.status, stopped.body.status], [200, "cancelled"]);
    const third = await startCount(workspace, { filter: PRO });
    await whenEnded(workspace, third.count_id);
    const all = new Map((await listed()).map((each: any) => [each.count_id, each]));
    assert.equal((all.get(first) as any).status, "cancelled");
    assert.deepEqual([(all.get(first) as any).counted, (all.get(second) as any).matching], [0, 5]);
    const again = await server.admin("DELETE", `${pathOf(workspace)}/counts/${second}`);
    assert.equal(again.body.status, "finished");
    const none = await server.admin("DELETE", `${pathOf(workspace)}/counts/${randomUUID()}`);
    assert.equal(none.status, 404);
  });

  test("at most 20 counts of a workspace wait, and the next one gets 503", async () => {
    const workspace = await withUsers();
    for (let index = 0; index < 20; index++) {
      await leaveCount(workspace, { after: BEFORE_ALL, total: 0, matching: 0 });
    }
    const body = { filter: PRO, exact: true, wait_s: 0 };
    const { status, headers } = await ask(server, workspace, "count", body);
    assert.deepEqual([status, headers.get("retry-after")], [503, "60"]);
  });

  test("a count whose filter names something that is gone ends as failed, and says what", async () => {
    const workspace = await withUsers();
    const id = randomUUID();
    await server.database.query(
      `insert into segment_counts
         (workspace_id, count_id, filter, status, after, total, matching, expected, started_at)
       select workspace_id, $1, $2::text::jsonb, 'running', $3::uuid, 0, 0, 10, now() - interval '1 minute'
       from workspaces where name = $4`,
      [id, JSON.stringify({ in_segment: randomUUID() }), BEFORE_ALL, workspace.name],
    );
    await startCount(workspace, { filter: PRO });
    const ended = await whenEnded(workspace, id);
    assert.equal(ended.status, "failed");
    assert.match(ended.failure, /in_segment/);
  });

  test("a hundred counts of a segment are kept, the newest ones", async () => {
    const workspace = await withUsers();
    const id = randomUUID();
    await declare(server, workspace, id, { name: "Pros", filter: PRO });
    await server.database.query(
      `insert into segment_counts (workspace_id, count_id, segment_id, filter, status, after, total, matching,
         expected, started_at, finished_at)
       select workspace_id, gen_random_uuid(), $1::uuid, $2::text::jsonb, 'finished', $3::uuid, number, 0, 0,
         now() - interval '1 hour', now() - interval '1 hour' + number * interval '1 second'
       from workspaces, generate_series(1, 150) as number where name = $4`,
      [id, JSON.stringify(PRO), BEFORE_ALL, workspace.name],
    );
    await ask(server, workspace, "count", { segment_id: id, exact: true });
    const rows = await server.database.query<{ oldest: number; rows: number }>(
      "select min(total) as oldest, count(*)::int as rows from segment_counts where segment_id = $1 and total > 10",
      [id],
    );
    assert.deepEqual([...rows], [{ oldest: 52, rows: 99 }]);
  });

  test("the last exact count of a segment is kept with its time until the filter changes", async () => {
    const workspace = await withUsers();
    const id = randomUUID();
    await declare(server, workspace, id, { name: "Pros", filter: PRO });
    const counted = async () => {
      const path = `/admin/v1/workspaces/${workspace.name}/segment-sizes`;
      const { segments } = (await server.admin("GET", path)).body;
      return segments.find((each: any) => each.id === id)?.counted;
    };
    assert.equal(await counted(), undefined);
    await ask(server, workspace, "count", { segment_id: id, exact: true });
    const { total, matching, at } = await counted();
    assert.deepEqual([total, matching], [10, 5]);
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
    await succeeds(workspace.track({ attributes: [{ external_id: "u1", plan: "pro" }] }));
    assert.equal((await counted()).at, at);
    const { count_id } = await startCount(workspace, { segment_id: id });
    await whenEnded(workspace, count_id);
    assert.equal((await counted()).matching, 6);
    const ofSegment = await server.admin("GET", `${pathOf(workspace)}/counts?segment_id=${id}`);
    assert.equal(ofSegment.body.counts.length, 2);
    await declare(server, workspace, id, { name: "Pros", description: "Named.", filter: PRO });
    assert.equal((await counted()).matching, 6);
    const filter = { custom_attribute: "plan", equals: "free" };
    await declare(server, workspace, id, { name: "Pros", filter });
    assert.equal(await counted(), undefined);
  });

  test("how long a request counts by itself is a whole number of seconds, at most five", async () => {
    const workspace = await withUsers();
    for (const wait_s of [-1, 6, 1.5, "1"]) {
      const { status, body } = await ask(server, workspace, "count", { filter: PRO, wait_s });
      assert.equal(status, 400);
      assert.match(body.message, /'wait_s'/);
    }
  });
});
