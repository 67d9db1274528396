/* Track writes through the worker that has the rows, past the coordinator. Runs on Citus (`npm run test:citus`). */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import postgres from "postgres";
import { startOwnServer, type TestServer } from "../../harness.ts";
import { until } from "../../until.ts";

const skip = process.env.TEST_CITUS_WORKERS
  ? false
  : "there is no cluster: run npm run test:citus with DATABASE_URL";

const USERS = 40;

const ids = (name: string): string[] =>
  Array.from({ length: USERS }, (_, user) => `${name}-${user}`);

const cameTo = (users: readonly string[]) => ({
  events: users.map((external_id) => ({
    external_id,
    name: "came",
    time: "2026-01-01T00:00:00Z",
  })),
});

/** Connections to the server's database on each worker. */
function connect({ config }: TestServer): postgres.Sql[] {
  const database = new URL(config.databaseUrl ?? "").pathname;
  return (process.env.TEST_CITUS_WORKERS ?? "").split(",").map((worker) => {
    const sql = postgres(new URL(database, worker).href, { max: 1, fetch_types: false });
    after(() => sql.end());
    return sql;
  });
}

/** How many of the server's own sessions each worker has, without the coordinator's. */
const sessionsAt = (workers: readonly postgres.Sql[]): Promise<number[]> =>
  Promise.all(
    workers.map(async (sql) => {
      const rows = await sql`select from pg_stat_activity
        where datname = current_database() and application_name = 'rapport'`;
      return rows.length;
    }),
  );

describe("a server on Citus that reaches the workers", { skip }, () => {
  test("track writes through each worker, and only through the coordinator with CITUS_DIRECT=false", async () => {
    for (const citusDirect of [true, false]) {
      const server = await startOwnServer({ citusDirect });
      const workspace = await server.workspace();
      const workers = connect(server);
      for (const round of ["one", "two", "three"]) {
        assert.equal((await workspace.track(cameTo(ids(round)))).status, 201);
        // The first request makes the server look for the workers.
        if (citusDirect) await until(async () => (await sessionsAt(workers)).every(Boolean));
      }
      if (!citusDirect) assert.deepEqual(await sessionsAt(workers), [0, 0]);
      const users = await workspace.profiles({ external_ids: ids("three") });
      assert.deepEqual(
        users.map((user) => user.custom_events[0]?.count),
        users.map(() => 1),
      );
      assert.equal(users.length, USERS);
      await server.stop();
    }
  });

  test("every acknowledged event is stored while shards move from worker to worker", async () => {
    const server = await startOwnServer();
    const workspace = await server.workspace();
    const workers = connect(server);
    const users = ids("user");
    assert.equal((await workspace.track(cameTo(users))).status, 201);
    await until(async () => (await sessionsAt(workers)).every(Boolean));
    let written = 1;
    let isMoving = true;
    const writer = async () => {
      while (isMoving) {
        const { status, body } = await workspace.track(cameTo(users));
        assert.ok(status === 201 || status === 503, `${status} ${JSON.stringify(body)}`);
        if (status === 201) written++;
      }
    };
    const writing = Promise.all([writer(), writer()]);
    const placements = await server.database.query<{ shard: number; from: number }>(
      `select shardid as shard, groupid as "from" from pg_dist_placement join pg_dist_shard using (shardid)
       where logicalrelid = 'buckets'::regclass order by shardid limit 2`,
    );
    for (const { shard, from } of placements) {
      await server.database.for("analysis").query(
        `select citus_move_shard_placement($1::bigint, source.nodename, source.nodeport, target.nodename,
           target.nodeport, shard_transfer_mode => 'block_writes')
         from pg_dist_node source, pg_dist_node target
         where source.groupid = $2::int and target.groupid not in (0, $2::int)`,
        [shard, from],
      );
    }
    isMoving = false;
    await writing;
    assert.ok(written > 1);
    assert.equal((await workspace.track(cameTo(users))).status, 201);
    const stored = await workspace.profiles({ external_ids: users });
    const counts = stored.map((user) => user.custom_events[0]?.count ?? 0);
    assert.equal(counts.length, USERS);
    for (const count of counts) assert.ok(count >= written + 1, `${count} of ${written + 1}`);
    await server.stop();
  });

  test("a reset waits for a transaction that writes users past the coordinator", async () => {
    const server = await startOwnServer();
    const workspace = await server.workspace();
    const workers = connect(server);
    assert.equal((await workspace.track(cameTo(["one"]))).status, 201);
    const [row] = await server.database.query<{ id: number }>(
      "select workspace_id as id from workspaces where name = $1",
      [workspace.name],
    );
    const [sql] = workers as [postgres.Sql];
    await sql`begin`;
    await sql`select pg_advisory_xact_lock_shared(7270414, ${row?.id ?? 0}::int)`;
    let isReset = false;
    const reset = server
      .admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`)
      .then(({ status }) => {
        isReset = true;
        return status;
      });
    await until(async () => {
      const waiting = await sql`select from pg_locks
        where locktype = 'advisory' and classid = 7270414 and not granted`;
      return waiting.length > 0;
    });
    assert.equal(isReset, false);
    await sql`commit`;
    assert.equal(await reset, 200);
    assert.deepEqual(await workspace.profiles({ external_ids: ["one"] }), []);
    await server.stop();
  });
});
