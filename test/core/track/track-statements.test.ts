/*
 * The cost of a batch of /users/track: statements, round trips and rows. Below HTTP, because it
 * counts what reaches the engine; nothing is timed. A change that makes a batch more expensive
 * fails here.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemClock } from "../../../src/core/base/clock.ts";
import { createMetrics } from "../../../src/core/base/observe/metrics.ts";
import { NO_TRACING } from "../../../src/core/base/observe/tracing.ts";
import type { Database, Queryable } from "../../../src/core/database/database.ts";
import { createIdempotency } from "../../../src/core/http/idempotency.ts";
import {
  removeExternalIds,
  renameExternalIds,
} from "../../../src/core/people/identity/external-ids.ts";
import { mergeUsers } from "../../../src/core/people/identity/merge-users.ts";
import {
  type AddressCache,
  createAddressCache,
} from "../../../src/core/people/profiles/address-cache.ts";
import { createIdCache, type IdCache } from "../../../src/core/people/profiles/id-cache.ts";
import {
  createRemovedProfiles,
  type RemovedProfiles,
} from "../../../src/core/people/profiles/removed-profiles.ts";
import { createQuotas } from "../../../src/core/people/quotas/quotas.ts";
import { checkRequest, type TrackBody } from "../../../src/core/track/check-request.ts";
import { type WriteRequest, writeBatch } from "../../../src/core/track/write-batch.ts";
import { openMigrated } from "../../databases.ts";
import { contextIn, testWorkspace } from "../../test-context.ts";
import { countingDatabase } from "../database/counted-statements.ts";
import { identityServices, peopleServices } from "../people/people-services.ts";

// On Citus through the coordinator: past it, the count of removed ids is one statement more.
const database = await openMigrated({ citusDirect: false });

const workspace = testWorkspace();

const idempotency = createIdempotency({ database, clock: systemClock });
const idCache = createIdCache();
const quotas = createQuotas(database, systemClock);
const addressCache = createAddressCache();

/** How many times the response to a statement is awaited before the next one is sent. */
function roundTripsOf(inner: Database): {
  readonly database: Database;
  readonly trips: () => number;
} {
  let trips = 0;
  let underWay = 0;
  const sending = async <Result>(send: () => Promise<Result>): Promise<Result> => {
    if (underWay++ === 0) trips++;
    return send().finally(() => underWay--);
  };
  const watched = (queryable: Queryable): Queryable => ({
    query: (sql, parameters) => sending(() => queryable.query(sql, parameters)),
    execute: (...statement) => sending(() => queryable.execute(...statement)),
  });
  return {
    trips: () => trips,
    database: {
      ...inner,
      ...watched(inner),
      reader: () => watched(inner),
      transaction: (work) =>
        inner.transaction((tx, ...rest) => work({ ...tx, ...watched(tx) }, ...rest)),
      transactionAtOnce: (work) =>
        inner.transactionAtOnce((tx, ...rest) => work({ ...tx, ...watched(tx) }, ...rest)),
    },
  };
}

interface Cost {
  readonly transactions: number;
  /** Before the transaction. */
  readonly reads: number;
  readonly statements: number;
  /** Within the transaction, beside its begin and its commit. */
  readonly roundTrips: number;
  readonly rowsWritten: number;
}

/** Writes requests as one batch of this process. @returns its cost. */
const costOf = (...bodies: TrackBody[]): Promise<Cost> => costWith({}, ...bodies);

/** @param caches the caches of the writing process, if it is another one. */
async function costWith(
  caches: {
    readonly idCache?: IdCache;
    readonly addressCache?: AddressCache;
    readonly removedProfiles?: RemovedProfiles;
  },
  ...bodies: TrackBody[]
): Promise<Cost> {
  const { database: counting, counted } = countingDatabase(database, "counted");
  const watched = roundTripsOf(counting);
  const requests: WriteRequest[] = [];
  for (const body of bodies) {
    const { items, faults } = await checkRequest(workspace, body, new Date(), { objects: 1_000 });
    assert.deepEqual(faults, []);
    requests.push({ context: contextIn(workspace), items });
  }
  const services = {
    ...peopleServices(watched.database, idCache),
    idempotency,
    quotas,
    onWritten: () => {},
    addressCache,
    ...caches,
    metrics: createMetrics(),
    tracing: NO_TRACING,
  };
  const { verdicts } = await writeBatch(services, requests);
  for (const { outcome } of verdicts.flat()) assert.equal(outcome, "applied");
  return {
    transactions: counted.transactions,
    reads: counted.reads.length,
    statements: counted.statements.length,
    roundTrips: watched.trips() - counted.reads.length,
    rowsWritten: counted.written,
  };
}

const users = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** One attributes object and one event for each. */
const bodyFor = (names: readonly string[]): TrackBody => ({
  attributes: names.map((external_id, index) => ({ external_id, home_city: "Rome", score: index })),
  events: names.map((external_id) => ({
    external_id,
    name: "opened",
    time: "2026-01-01T12:00:00Z",
  })),
});

describe("the cost of a /users/track batch", () => {
  test("names of attributes and events that this process has seen cause no lookup for the quotas", async () => {
    const { database: counting, counted } = countingDatabase(database, "counted");
    const seen = createQuotas(counting, systemClock);
    const items = async (body: TrackBody) =>
      (await checkRequest(workspace, body, new Date(), { objects: 1_000 })).items;
    await seen.of(workspace, await items(bodyFor(["ada"])));
    const statements = counted.statements.length;
    assert.ok(statements > 0);
    assert.equal(seen.of(workspace, await items(bodyFor(["bob", "eve"]))), undefined);
    assert.deepEqual([counted.statements.length, counted.reads.length], [statements, 0]);
  });

  test("a batch for known users reads nothing and takes one round trip and three rows per user", async () => {
    const [one = "", ...others] = users(25, "known");
    await costOf(bodyFor([one, ...others]));
    const cheapest = { transactions: 1, reads: 0, statements: 4, roundTrips: 1 };
    // The profile, the event and its summary.
    assert.deepEqual(await costOf(bodyFor([one])), { ...cheapest, rowsWritten: 3 });
    assert.deepEqual(await costOf(bodyFor([one, ...others])), { ...cheapest, rowsWritten: 75 });
  });

  test("twenty requests in one batch take no more statements than one request", async () => {
    const names = users(25, "many");
    const first = await costOf(bodyFor(names));
    const batch = Array.from({ length: 20 }, () => bodyFor(names));
    // A profile and a summary are written once, however many requests of the batch name them.
    assert.deepEqual(await costOf(...batch), {
      transactions: 1,
      reads: 0,
      statements: 4,
      // Where writers wait for each other, a batch this large first waits for its lanes.
      roundTrips: database.ordersWriters ? 2 : 1,
      rowsWritten: 25 + 500 + 25,
    });
    assert.equal(first.transactions, 1);
  });

  test("a batch for new users takes one lookup and one round trip", async () => {
    assert.deepEqual(await costOf(bodyFor(users(25, "new"))), {
      transactions: 1,
      reads: 1,
      statements: 5,
      roundTrips: 1,
      // The identifier is one more. Profiles are made by the statement that says how many there are.
      rowsWritten: 100,
    });
  });

  test("a batch of attributes alone takes two statements", async () => {
    const names = users(25, "attributes");
    await costOf(bodyFor(names));
    const attributes = names.map((external_id) => ({ external_id, score: 7 }));
    const cost = await costOf({ attributes });
    assert.deepEqual(cost, {
      transactions: 1,
      reads: 0,
      statements: 2,
      roundTrips: 1,
      rowsWritten: 25,
    });
  });

  test("a batch that repeats the addresses of known users reads nothing", async () => {
    const names = users(25, "addressed");
    const attributes = names.map((external_id, index) => ({
      external_id,
      email: `${external_id}@Example.com`,
      phone: `+1415555${2600 + index}`,
      score: index,
    }));
    await costOf({ attributes });
    const cheapest = { transactions: 1, reads: 0, statements: 2, roundTrips: 1, rowsWritten: 25 };
    assert.deepEqual(await costOf({ attributes }), cheapest);
    // The state of the address is one more row each.
    const states = attributes.map((each) => ({ ...each, email_subscribe: "opted_in" }));
    assert.equal((await costOf({ attributes: states })).reads, 0);
  });

  test("a repeated address that another process has changed meanwhile is set again", async () => {
    const [name = ""] = users(1, "moved");
    const body = (email: string): TrackBody => ({ attributes: [{ external_id: name, email }] });
    await costOf(body("one@example.com"));
    const elsewhere = createAddressCache();
    await costWith({ addressCache: elsewhere }, body("two@example.com"));
    assert.equal((await costOf(body("one@example.com"))).transactions, 2, "the stale cache");
    const [row] = await database.query<{ id: string; email: string }>(
      "select profile_id as id, email from profiles where external_id = $1",
      [name],
    );
    assert.equal(row?.email, "one@example.com");
    const holders = await database.query<{ value: string }>(
      "select value from identifiers where profile_id = $1 and kind = 'email'",
      [row?.id],
    );
    assert.deepEqual([...holders], [{ value: "one@example.com" }]);
  });

  test("processes that update one user with the same address do not abort each other", async () => {
    const [name = ""] = users(1, "shared");
    const body: TrackBody = {
      attributes: [{ external_id: name, email: "shared@example.com", score: 1 }],
    };
    const other = { idCache: createIdCache(), addressCache: createAddressCache() };
    await costOf(body);
    await costWith(other, body);
    const costs = await Promise.all(
      Array.from({ length: 10 }, (_, index) => costWith(index % 2 ? other : {}, body)),
    );
    assert.deepEqual(
      costs.map(({ transactions }) => transactions),
      Array(10).fill(1),
    );
  });

  test("processes that meet a user for the first time do not abort each other over the same address", async () => {
    const attributes = users(1, "met").map((external_id) => ({
      external_id,
      email: "met@example.com",
    }));
    const body: TrackBody = { attributes };
    await costOf(body);
    const costs = await Promise.all(
      Array.from({ length: 10 }, () =>
        costWith({ idCache: createIdCache(), addressCache: createAddressCache() }, body),
      ),
    );
    assert.deepEqual(
      costs.map(({ transactions }) => transactions),
      Array(10).fill(1),
    );
  });

  test("a batch of any number of counters reads its users in one statement", async () => {
    const names = users(25, "counters");
    await costOf(bodyFor(names));
    const attributes = names.map((external_id) => ({ external_id, score: { inc: 1 } }));
    const cost = { transactions: 1, reads: 1, statements: 2, roundTrips: 1 };
    assert.deepEqual(await costOf({ attributes: attributes.slice(0, 1) }), {
      ...cost,
      rowsWritten: 1,
    });
    assert.deepEqual(await costOf({ attributes }), { ...cost, rowsWritten: 25 });
  });

  test("a cached user who was deleted costs one more transaction and is created again", async () => {
    const [name = ""] = users(1, "gone");
    await costOf(bodyFor([name]));
    for (const table of ["identifiers", "profiles", "events", "event_summaries"]) {
      await database.execute(
        table === "identifiers"
          ? "delete from identifiers where workspace_id = $1 and value = $2"
          : `delete from ${table} where workspace_id = $1 and profile_id = $2`,
        [workspace.id, table === "identifiers" ? name : idCache.get(workspace.id, name)],
      );
    }
    const { transactions } = await costOf(bodyFor([name]));
    assert.equal(transactions, 2);
    assert.equal((await costOf(bodyFor([name]))).transactions, 1);
  });
});

describe("the id cache", () => {
  test("an external_id that another process removed from its user is looked up again", async () => {
    const services = identityServices(database);
    const context = contextIn(workspace);
    const elsewhere = createIdCache();
    await costOf(bodyFor(["stays", "old-id"]));
    const { id } = workspace;
    const user = idCache.get(id, "old-id");
    await costWith({ idCache: elsewhere }, bodyFor(["old-id"]));

    await renameExternalIds(services, context, [
      { current_external_id: "old-id", new_external_id: "new-id" },
    ]);
    await costWith({ idCache: elsewhere }, bodyFor(["old-id"]));
    assert.equal(elsewhere.get(id, "old-id"), user, "a renamed id identifies the same user");

    await removeExternalIds(services, context, ["old-id"]);
    assert.equal((await costWith({ idCache: elsewhere }, bodyFor(["old-id"]))).transactions, 2);
    assert.notEqual(elsewhere.get(id, "old-id"), user);
    assert.equal(
      (await costOf(bodyFor(["stays"]))).transactions,
      2,
      "a stale cache costs one more",
    );
    assert.equal((await costOf(bodyFor(["old-id"]))).transactions, 1);
    assert.equal(idCache.get(id, "old-id"), elsewhere.get(id, "old-id"));
  });

  test("a user whom another process merged is looked up again before a batch relies on the cache", async () => {
    const elsewhere = createIdCache();
    const own = createRemovedProfiles(database, idCache, () => true);
    const others = createRemovedProfiles(database, elsewhere, () => true);
    await costOf(bodyFor(["merged", "kept"]));
    await costWith({ idCache: elsewhere }, bodyFor(["merged", "kept"]));
    const updates = [
      {
        identifier_to_merge: { external_id: "merged" },
        identifier_to_keep: { external_id: "kept" },
      },
    ];
    const context = contextIn(workspace);
    await mergeUsers(
      identityServices(database, { idCache, removedProfiles: own }),
      context,
      updates,
    );
    const caches = { idCache: elsewhere, removedProfiles: others };
    assert.equal((await costWith(caches, bodyFor(["merged", "kept"]))).transactions, 1);
    assert.equal((await costOf(bodyFor(["merged"]))).transactions, 1, "its own process knows");
  });

  test("the id cache keeps entries in use, evicts the others and stores the newest value", () => {
    const small = createIdCache(2);
    small.expect(1, 0);
    small.store(1, "a", "1", 0);
    small.store(1, "b", "2", 0);
    assert.equal(small.get(1, "a"), "1");
    assert.equal(small.get(2, "a"), undefined, "another workspace");
    small.store(1, "c", "3", 0);
    assert.equal(small.get(1, "a"), "1", "of the generation before");
    small.store(1, "d", "4", 0);
    small.store(1, "d", "5", 0);
    assert.equal(small.get(1, "a"), "1", "asked for in between");
    assert.equal(small.get(1, "b"), undefined);
    assert.equal(small.get(1, "d"), "5");
  });

  test("removing external ids clears the id cache of the workspace and invalidates earlier reads", () => {
    const cache = createIdCache();
    cache.expect(1, 0);
    cache.expect(2, 0);
    cache.store(1, "a", "1", 0);
    cache.store(2, "a", "2", 0);
    cache.expect(1, 1);
    cache.store(1, "b", "3", 0);
    assert.deepEqual([cache.get(1, "a"), cache.get(1, "b")], [undefined, undefined]);
    assert.equal(cache.get(2, "a"), "2");
  });
});
