/*
 * No workspace starves another: a workspace that floods with the heaviest requests it may send does not keep the
 * single requests of another one from being served. Told by order and by counts, not by time.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { selectDue } from "../../../../src/core/admin/jobs/store.ts";
import { systemClock } from "../../../../src/core/base/clock.ts";
import { createMetrics } from "../../../../src/core/base/observe/metrics.ts";
import { NO_TRACING, type Tracing } from "../../../../src/core/base/observe/tracing.ts";
import { createIdempotency } from "../../../../src/core/http/idempotency.ts";
import { createAddressCache } from "../../../../src/core/people/profiles/address-cache.ts";
import { createQuotas } from "../../../../src/core/people/quotas/quotas.ts";
import { checkRequest } from "../../../../src/core/track/check-request.ts";
import { createWriteQueue } from "../../../../src/core/track/write-queue.ts";
import { createSmallExports } from "../../../../src/features/export/small-exports.ts";
import { wantedBy } from "../../../../src/features/export/wanted-users.ts";
import { peopleServices } from "../../../core/people/people-services.ts";
import { openMigrated } from "../../../databases.ts";
import { startOwnServer, type TestServer, type TestWorkspace } from "../../../harness.ts";
import { contextIn, testWorkspace } from "../../../test-context.ts";

const TIME = "2026-01-01T12:00:00Z";

const settings = {
  track_max_updates: 1_000,
  rate_limits: { "users.track": "off", "users.export.ids": "off" },
};

/** Two workspaces of one server. */
async function twoOf(server: TestServer): Promise<[flooding: TestWorkspace, other: TestWorkspace]> {
  return [await server.workspace({ settings }), await server.workspace({ settings })];
}

const events = (count: number, name: string) => ({
  events: Array.from({ length: count }, (_, index) => ({
    external_id: `u${index % 50}`,
    name,
    time: TIME,
  })),
});

const eventsOf = (external_id: string, count: number) => ({
  events: Array.from({ length: count }, () => ({ external_id, name: "seen", time: TIME })),
});

/** Sends many requests at once. @returns the order of the responses, and their results. */
async function raced(requests: readonly { of: string; send(): Promise<{ status: number }> }[]) {
  const order: { of: string; status: number }[] = [];
  await Promise.all(
    requests.map(async ({ of, send }) => {
      const { status } = await send();
      order.push({ of, status });
    }),
  );
  return order;
}

/** How many requests of the flood were answered before the last one of the others. */
function aheadOf(order: readonly { of: string }[], of: string): number {
  const last = order.findLastIndex((each) => each.of === of);
  return order.slice(0, last).filter((each) => each.of !== of).length;
}

const server = await startOwnServer();

const database = await openMigrated();

describe("a workspace that floods", () => {
  test("a flood that fills the write queue is refused with 429 before another workspace finds no room", async () => {
    const [flooding, other] = await twoOf(server);
    // Five times what the queue holds: a third of it is written while the rest arrives.
    const flood = Array.from({ length: 100 }, () => ({
      of: "flood",
      send: () => flooding.track(events(1_000, "flood")),
    }));
    const singles = Array.from({ length: 5 }, () => ({
      of: "single",
      send: () => other.track(events(1, "single")),
    }));
    const order = await raced([...flood, ...singles]);
    const refused = order.filter(({ status }) => status === 429);
    assert.ok(refused.length > 0);
    assert.ok(refused.every(({ of }) => of === "flood"));
  });

  test("a large export of another workspace waits for a few large exports of the flood, not for all of them", async () => {
    const [flooding, other] = await twoOf(server);
    const ids = Array.from({ length: 50 }, (_, index) => `u${index}`);
    for (const workspace of [flooding, other]) await workspace.track(events(1_000, "seen"));
    const body = { external_ids: ids, fields_to_export: ["external_id", "recent_activity"] };
    const send = (workspace: TestWorkspace) => () =>
      workspace.call("POST", "/users/export/ids", body);
    const flood = Array.from({ length: 60 }, () => ({ of: "flood", send: send(flooding) }));
    const order = await raced([...flood, { of: "single", send: send(other) }]);
    assert.ok(aheadOf(order, "single") <= 20, JSON.stringify(order));
  });
});

/** Tracing that notes the workspaces of each transaction when it begins. How long one takes then makes no difference. */
function noteTransactions() {
  const begun: string[][] = [];
  let workspace = "";
  const tracing: Tracing = {
    ...NO_TRACING,
    current: () => ({ traceId: workspace }),
    together(_name, callers, _attributes, work) {
      begun.push(callers.map(({ place }) => place?.traceId ?? ""));
      return work();
    },
  };
  return {
    tracing,
    /** Calls for a workspace: what the call hands over at once is noted as of that workspace. */
    callFor<Result>(name: string, call: () => Result): Result {
      workspace = name;
      return call();
    },
    /** How many transactions of one workspace began before the last one of another. */
    ahead: (of: string, another: string) =>
      begun
        .slice(
          0,
          begun.findLastIndex((each) => each.includes(another)),
        )
        .filter((each) => each.includes(of)).length,
  };
}

test("requests of another workspace wait for the transactions under way, however many requests of a flood wait before them", async () => {
  const { tracing, callFor, ahead } = noteTransactions();
  const services = {
    ...peopleServices(database),
    idempotency: createIdempotency({ database, clock: systemClock }),
    addressCache: createAddressCache(),
    metrics: createMetrics(),
    tracing,
    quotas: createQuotas(database, systemClock),
    onWritten: () => {},
  };
  const queue = createWriteQueue(services, await database.lanes(() => 1));
  const writesOf = async (name: string, id: number, bodies: readonly object[]) => {
    const workspace = testWorkspace({ id, name });
    const checked = await Promise.all(
      bodies.map((body) => checkRequest(workspace, body, new Date(), { objects: 1_000 })),
    );
    return checked.map(({ items }) => {
      const request = { context: contextIn(workspace), items };
      return () => callFor(name, () => queue.write(request));
    });
  };
  // All of one user go the same way; of many users, some go the same way too.
  const flood = Array.from({ length: 15 }, () => eventsOf("u0", 1_000));
  const singles = Array.from({ length: 15 }, (_, index) => eventsOf(`u${index}`, 1));
  const writes = [
    ...(await writesOf("flood", 1, flood)),
    ...(await writesOf("single", 2, singles)),
  ];
  await Promise.all(writes.map((write) => write()));
  assert.equal(ahead("flood", "single"), 1);
});

test("an export of another workspace waits for the transactions under way, however many exports of a flood wait before it", async () => {
  const { tracing, callFor, ahead } = noteTransactions();
  const smallExports = createSmallExports({ database, tracing });
  const read = (name: string, id: number, count: number) => {
    const ids = Array.from({ length: count }, (_, index) => `u${index}`);
    const wanted = wantedBy({ external_ids: ids });
    const workspace = testWorkspace({ id, name });
    return callFor(name, () => smallExports.read({ workspace, wanted, fields: ["external_id"] }));
  };
  const flood = Array.from({ length: 60 }, () => read("flood", 1, 50));
  await Promise.all([...flood, read("single", 2, 1)]);
  assert.equal(ahead("flood", "single"), 1);
});

test("syncs of one workspace start in turns with those of others, however many wait", async () => {
  const now = new Date();
  const due = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
  await database.transaction(async (tx) => {
    const jobs = [
      ...Array.from({ length: 10 }, (_, index) => ({ workspaceId: 1, runAt: due(60 - index) })),
      { workspaceId: 2, runAt: due(1) },
    ];
    for (const { workspaceId, runAt } of jobs) {
      await tx.query(
        `insert into jobs (job_id, workspace_id, kind, subject, run_at, failures)
         values ($1::uuid, $2::int, 'cdi.sync', $3, $4::timestamptz, 0)`,
        [randomUUID(), workspaceId, randomUUID(), runAt],
      );
    }
  });
  const order = await selectDue(database, {
    kinds: new Map([["cdi.sync", "transfer"]]),
    now,
    atMost: 4,
    running: [],
  });
  assert.deepEqual(
    order.map(({ workspaceId }) => workspaceId),
    [1, 2, 1, 1],
  );
});
