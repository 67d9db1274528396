/* The faults of a cluster that the test starts, and whose nodes it kills. docs/operations/faults.md */
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../../lab/bench/engines/postgres-cluster.ts";
import { type CitusNodes, runSql, startCitus } from "../core/database/citus-nodes.ts";
import { type Answer, NEWSLETTER, startOwnServer, type TestWorkspace } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { untilReady } from "./faults.ts";
import { secondPhaseProxy } from "./second-phase-proxy.ts";

const stops: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const stop of stops) await stop();
});

const citus = process.env.TEST_CITUS_WORKERS
  ? await startCitus(await temporaryFolder())
  : undefined;
if (citus) stops.push(() => Promise.allSettled(citus.nodes.map((node) => node.crash())));
const skip = !citus && "it needs npm run test:citus, and the programs of PostgreSQL with Citus";

const WRITERS = 4;

const TIME = "2026-01-01T00:00:00Z";

const eventOf = (external_id: string) => ({ events: [{ external_id, name: "came", time: TIME }] });

/** Sends a request again, with the same key, until it succeeds. @returns how often that took. */
async function untilWritten(send: () => Promise<Answer<unknown>>): Promise<number> {
  for (let tries = 1; ; tries++) {
    const { status, headers, body } = await send();
    if (status < 300) return tries;
    // For a moment after a try was cut off, its key is still in use.
    assert.ok(status === 503 || status === 409, `${status} ${JSON.stringify(body)}`);
    if (status === 503) assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.ok(tries < 600, `It does not succeed: ${JSON.stringify(body)}`);
    await sleep(50);
  }
}

const SHARDS_OF_EVENTS =
  "select relname as shard from pg_class where relname ~ '^events_[0-9]+$' and relkind = 'r'";

/** From now on the worker ends each connection that commits an event. */
const cutOffCommits = ({ url }: Cluster): Promise<unknown> =>
  runSql(
    url,
    "set citus.enable_ddl_propagation = off",
    "set citus.override_table_visibility = off",
    `create function end_connection() returns trigger language plpgsql as
     'begin perform pg_terminate_backend(pg_backend_pid()); return null; end'`,
    `do $$ declare each record; begin
       for each in ${SHARDS_OF_EVENTS} loop
         execute format('create constraint trigger cut_off after insert on %I deferrable initially deferred '
           'for each row execute function end_connection()', each.shard);
       end loop;
     end $$`,
  );

const leaveCommits = ({ url }: Cluster): Promise<unknown> =>
  runSql(url, "set citus.enable_ddl_propagation = off", "drop function end_connection() cascade");

/** From now on the nodes reach a worker at another port. */
const movePort = ({ url }: Cluster, from: number, to: number): Promise<unknown> =>
  runSql(
    url,
    `select citus_update_node(nodeid, '127.0.0.1', ${to}) from pg_dist_node where nodeport = ${from}`,
  );

async function countsOf(workspace: TestWorkspace, external_ids: readonly string[]) {
  const users = await workspace.profiles({ external_ids });
  return new Map(users.map((user) => [user.external_id, user.custom_events[0]?.count ?? 0]));
}

/** Tracks users, sets their group, exports them and merges each into one, until it is told to end. */
async function write(workspace: TestWorkspace, writer: number, goesOn: () => boolean) {
  const kept = `kept-${writer}`;
  const group = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
  let users = 0;
  let refused = 0;
  const call = async (path: string, body: object, key: string) => {
    const headers = { "idempotency-key": `${key}-${path}` };
    refused += (await untilWritten(() => workspace.call("POST", path, body, { headers }))) - 1;
  };
  await call("/users/track", { attributes: [{ external_id: kept }] }, kept);
  while (goesOn()) {
    const id = `user-${writer}-${users++}`;
    const email = `${id}@example.com`;
    await call("/users/track", { ...eventOf(id), attributes: [{ external_id: id, email }] }, id);
    const subscription_groups = [{ ...group, external_ids: [id] }];
    await call("/v2/subscription/status/set", { subscription_groups }, id);
    await call("/users/export/ids", { external_ids: [id], email_address: email }, id);
    const merged = { external_id: id };
    const merge_updates = [
      { identifier_to_merge: merged, identifier_to_keep: { external_id: kept } },
    ];
    await call("/users/merge", { merge_updates }, id);
  }
  return { kept, users, refused };
}

describe("a server whose cluster loses nodes", { skip }, () => {
  const { nodes, url, complete } = (citus ?? {}) as CitusNodes;

  test("while a worker is down requests for its users get 503 and Retry-After, others succeed, and all do after its start", async () => {
    const server = await startOwnServer({ databaseUrl: url });
    const workspace = await server.workspace();
    const ids = Array.from({ length: 40 }, (_, user) => `user-${user}`);
    for (const id of ids) assert.equal((await workspace.track(eventOf(id))).status, 201);
    const worker = nodes[1];
    await worker.crash();
    const answers = await Promise.all(ids.map((id) => workspace.track(eventOf(id))));
    for (const { status, headers, body } of answers) {
      if (status === 201) continue;
      assert.equal(status, 503, JSON.stringify(body));
      assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    }
    const written = ids.filter((_, index) => answers[index]?.status === 201);
    assert.ok(written.length > 0 && written.length < ids.length, `${written.length} succeeded`);
    await worker.start();
    await untilReady(server);
    await untilWritten(() => workspace.call("POST", "/users/export/ids", { external_ids: ids }));
    const expected = ids.map((id) => [id, written.includes(id) ? 2 : 1]);
    assert.deepEqual([...(await countsOf(workspace, ids))].sort(), expected.sort());
    await complete();
    await server.stop();
  });

  test("a request whose commit a worker cuts off gets 503 and Retry-After, and repeated it takes effect once", async () => {
    const server = await startOwnServer({ databaseUrl: url });
    const workspace = await server.workspace();
    const ids = Array.from({ length: 8 }, (_, user) => `cut-off-${user}`);
    // Rows on one node commit in one phase; an address may be on another node, and then it takes
    // two.
    const bodyOf = (id: string, index: number) => ({
      ...eventOf(id),
      ...(index % 2 === 1 && { attributes: [{ external_id: id, email: `${id}@example.com` }] }),
    });
    const send = (id: string, index: number) =>
      workspace.track(bodyOf(id, index), { headers: { "idempotency-key": `${id}-once` } });
    for (const worker of nodes.slice(1)) await cutOffCommits(worker);
    for (const [index, id] of ids.entries()) {
      const { status, headers, body } = await send(id, index);
      assert.equal(status, 503, JSON.stringify(body));
      assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    }
    for (const worker of nodes.slice(1)) await leaveCommits(worker);
    for (const [index, id] of ids.entries()) await untilWritten(() => send(id, index));
    assert.deepEqual([...(await countsOf(workspace, ids))].sort(), ids.map((id) => [id, 1]).sort());
    await complete();
    await server.stop();
  });

  test("when every node is killed and started under load, nothing acknowledged is lost or doubled, and no prepared transaction remains", async () => {
    const server = await startOwnServer({ databaseUrl: url });
    const workspace = await server.workspace();
    let isOver = false;
    const writers = Array.from({ length: WRITERS }, (_, writer) =>
      write(workspace, writer, () => !isOver),
    );
    const writing = Promise.all(writers);
    writing.catch(() => {});
    try {
      for (const node of [...nodes, ...nodes]) {
        await sleep(300 + Math.random() * 300);
        await node.crash();
        await sleep(Math.random() * 300);
        await node.start();
      }
      await untilReady(server);
    } finally {
      isOver = true;
    }
    const written = await writing;
    await complete();
    const counts = await countsOf(
      workspace,
      written.map(({ kept }) => kept),
    );
    assert.deepEqual(
      [...counts].sort(),
      written.map(({ kept, users }) => [kept, users]),
    );
    assert.ok(
      written.some(({ refused }) => refused > 0),
      "No request met a fault.",
    );
  });

  test("a merge whose commit loses a worker in its second phase is acknowledged once it is readable on every node, and gets 503 if that takes long", async () => {
    const [coordinator, worker] = nodes;
    const workerPort = Number(new URL(worker.url).port);
    const proxy = await secondPhaseProxy(workerPort);
    stops.push(proxy.close);
    await movePort(coordinator, workerPort, proxy.port);
    const server = await startOwnServer({ databaseUrl: url });
    const workspace = await server.workspace();
    const pairs = Array.from({ length: 6 }, (_, pair) => [`merged-${pair}`, `kept-by-${pair}`]);
    const merge = ([merged, kept]: readonly string[]) => {
      const update = {
        identifier_to_merge: { external_id: merged },
        identifier_to_keep: { external_id: kept },
      };
      const headers = { "idempotency-key": `${merged}-once` };
      return workspace.call("POST", "/users/merge", { merge_updates: [update] }, { headers });
    };
    const assertWhole = async (pair: readonly string[]) =>
      assert.deepEqual([...(await countsOf(workspace, pair))], [[pair[1], 2]]);
    for (const id of pairs.flat()) assert.equal((await workspace.track(eventOf(id))).status, 201);

    const [last = [], ...others] = pairs;
    for (const pair of others) {
      proxy.cutOff(1);
      assert.equal((await merge(pair)).status, 202);
      await assertWhole(pair);
    }
    assert.ok(proxy.cuts() > 0, "No commit was cut off.");

    proxy.cutOff(Infinity);
    const { status, headers, body } = await merge(last);
    assert.equal(status, 503, JSON.stringify(body));
    assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    proxy.cutOff(0);
    await complete();
    await untilWritten(() => merge(last));
    await assertWhole(last);
    await server.stop();
    await movePort(coordinator, proxy.port, workerPort);
  });
});
