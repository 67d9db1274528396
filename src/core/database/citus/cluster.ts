import {
  type Database,
  isUnavailable,
  type Queryable,
  SERIALIZATION_FAILURE,
  type WorkPlace,
} from "../database.ts";
import { evenLanes, type LanePlan, lanesFor, planEverySecond, type WriterCount } from "../lanes.ts";
import { countShards } from "./distribute.ts";
import type { Workers } from "./workers.ts";

/**
 * The coordinator of a cluster, with direct connections to workers: a transaction with all its rows
 * on one worker goes there.
 *
 * @param workers undefined if everything is to go through the coordinator.
 */
export function clusterOf(coordinator: Database, workers: Workers | undefined): Database {
  let begunOnWorkers = 0;
  const begin =
    (there: Database["transaction"]): Database["transaction"] =>
    (work, place) => {
      const holder = place && workers?.holderOf(place.buckets);
      if (!holder) return there(work);
      begunOnWorkers++;
      return onWorker(coordinator, holder, work, place);
    };
  return {
    ...coordinator,
    for: (use) => ({ ...coordinator.for(use), ordersWriters: false, commitsInParts: true }),
    // Their locks would have to be taken on every node that a transaction writes to.
    ordersWriters: false,
    commitsInParts: true,
    intakeCount: () => (coordinator.intakeCount?.() ?? 0) + begunOnWorkers,
    reader(buckets) {
      const holder = workers?.holderOf(buckets);
      return holder ? readerOf(holder) : coordinator;
    },
    lanes: async (writers) =>
      lanesOf(writers, coordinator.concurrency, await countShards(coordinator), workers),
    transaction: begin(coordinator.transaction),
    transactionAtOnce: begin(coordinator.transactionAtOnce),
    async close() {
      await Promise.all([coordinator.close(), workers?.close()]);
    },
  };
}

/**
 * Small tables are read before the transaction locks anything: the transactions that wait for its
 * locks may have all connections to the coordinator.
 */
async function onWorker<Result>(
  coordinator: Database,
  holder: Database,
  work: Parameters<typeof coordinator.transaction<Result>>[0],
  place: WorkPlace,
): Promise<Result> {
  await place.check(coordinator);
  return holder.transaction((tx) => work(tx, true)).catch(runAgain);
}

const readerOf = (holder: Database): Queryable => ({
  query: (...statement) => holder.query<never>(...statement).catch(runAgain),
  execute: (...statement) => holder.execute(...statement).catch(runAgain),
});

/**
 * If a worker fails for any reason, nothing is committed; the transaction runs again through the
 * coordinator, which decides.
 */
function runAgain(error: unknown): never {
  if (isUnavailable(error)) throw error;
  const message = "A node of the cluster refused a statement.";
  throw Object.assign(new Error(message, { cause: error }), { code: SERIALIZATION_FAILURE });
}

/**
 * There is a lane for each shard, and all of them write at the same time. A request waits for all
 * lanes that have a part of it. While more of them write, fewer requests are complete, so each
 * transaction finds less to take: of 3,200 updates in flight in 8 lanes it took 160 with six at a
 * time, 240 with three and 285 with two. The fixed cost of a transaction equals the cost of about a
 * hundred rows.
 */
const AT_ONCE = 3;
const AT_ONCE_AMONG_OTHERS = 2;

/**
 * A shard has its own lane if more items than this have waited for each lane. A transaction that
 * writes to all shards of a node runs each statement once for each of them, on all rows of the
 * batch, but begins and commits once: with 6 updates for each of four shards it took 5.3 ms of the
 * node where four transactions took 8.6, with 200 for each as much.
 */
const ITEMS_OF_SHARD = 128;

/** A lane for each shard and, while little waits, one for each node. */
function lanesOf(
  writers: WriterCount,
  concurrency: number,
  shards: number,
  workers: Workers | undefined,
): LanePlan {
  if (shards === 1) return lanesFor(writers, concurrency);
  const atOnce = () => Math.min(writers() === 1 ? AT_ONCE : AT_ONCE_AMONG_OTHERS, concurrency);
  const byShard = evenLanes(shards);
  const inUse = planEverySecond((items) => {
    const numbers = items <= ITEMS_OF_SHARD * shards ? workers?.numbers() : undefined;
    if (!numbers) return byShard;
    return { count: shards, of: (place) => (numbers[place] as number) % shards };
  });
  return { count: shards, depth: 1, atOnce, inUse };
}
