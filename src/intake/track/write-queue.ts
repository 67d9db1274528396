import type { ActiveSpan } from "../../base/observe/tracing.ts";
import { createPool } from "../../base/pool.ts";
import { Problem } from "../../base/problem.ts";
import type { Database } from "../../database/database.ts";
import {
  createSharedTransactions,
  createSlots,
  type Slots,
} from "../../database/shared-transactions.ts";
import type { Verdict } from "./item.ts";
import { chooseLanes, chooseLanesOnCluster } from "./lane-choice.ts";
import { type Part, splitRequest } from "./split-request.ts";
import { type WriteRequest, type WriteServices, writeBatch } from "./write-batch.ts";

/**
 * How many items may wait, of all workspaces. Beyond that a request is refused before memory grows. One
 * workspace alone fills three quarters of it (base/pool.ts), so that others always find room.
 */
export const MOST_WAITING_ITEMS = 20_000;

/** How many items one transaction takes, at most (lab/NOTEBOOK.md). */
const BATCH_ITEMS = 2_000;

/**
 * How many transactions a process writes at the same time, at most (lab/NOTEBOOK.md). Fewer if
 * other processes write too, because their lanes divide users independently.
 */
const MOST_LANES = 3;
const MOST_LANES_AMONG_OTHERS = 2;

/** For the embedded engine: while it runs one transaction, the next is computed. */
const IN_TURNS = { lanes: 1, depth: 2, atOnce: 2 };

/**
 * On a cluster there is a lane for each shard (`chooseLanesOnCluster`), and so many of them write at the same time. A
 * request waits for all lanes that have a part of it. While more of them write, fewer requests are complete, so each
 * transaction finds less to take: of 3,200 updates in flight in 8 lanes it took 160 with six at a time, 240 with three
 * and 285 with two. What a transaction costs before its first row is as much as a hundred rows.
 */
const AT_ONCE_ON_CLUSTER = 3;
const AT_ONCE_ON_CLUSTER_AMONG_OTHERS = 2;

/** One tick for the affected profiles, one for the named profile (`applyItem`). */
const MICROSECONDS_OF_ITEM = 2;

export interface WriteQueue {
  /**
   * Writes a request together with others that wait; resolves once all of it is committed.
   *
   * @returns the verdicts on its items, in their order.
   * @throws Problem RATE_LIMITED when too much is waiting.
   */
  write(request: WriteRequest): Promise<Verdict[]>;
}

/**
 * Requests that wait share transactions (`createSharedTransactions`).
 *
 * Several lanes write at the same time, each for its share of the buckets, so that their transactions
 * do not wait for each other's rows. A request is split among them where that cannot be noticed. Where
 * transactions take turns anyway, one lane prepares a second one while the first runs. On a cluster each
 * shard or node has a lane, so that most transactions begin and commit on one node.
 *
 * @param processes how many server processes there are, each with such a queue.
 * @param shards how many shards the tables are cut into; 1 where there is no cluster.
 */
export function createWriteQueue(services: WriteServices, processes = 1, shards = 1): WriteQueue {
  const { lanes: count, depth, atOnce } = planLanes(services.database, processes, shards);
  const { nodes = () => undefined } = services.database;
  const lanesInUse = shards > 1 ? chooseLanesOnCluster(shards, nodes) : chooseLanes(count);
  const slots = createSlots(atOnce);
  const lanes = Array.from({ length: count }, () => createLane(services, depth, slots));
  const room = createPool(MOST_WAITING_ITEMS);
  let waitingItems = 0;
  let lastMoment = 0;

  /** A timestamp later than all earlier ones, leaving room for this many items (`applyItem`). */
  function nextMoment(items: number): number {
    const moment = Math.max(services.clock.now().getTime() * 1_000, lastMoment);
    lastMoment = moment + items * MICROSECONDS_OF_ITEM;
    return moment;
  }

  function report(items: number): void {
    waitingItems += items;
    services.metrics.waiting(waitingItems);
  }

  return {
    async write(request) {
      const { length } = request.items;
      const owner = request.context.workspace.name;
      if (!room.take(owner, length)) {
        throw new Problem("RATE_LIMITED", "The write queue is full. Try again later.", {
          retryAfterSeconds: 1,
        });
      }
      report(length);
      try {
        const parts = splitRequest(request, lanesInUse(waitingItems));
        const moment = nextMoment(length);
        const write = ({ lane, items, places }: Part) =>
          (lanes[lane] as Lane).run(
            request.context.workspace.id,
            {
              ...request,
              items,
              moments: places.map((place) => moment + place * MICROSECONDS_OF_ITEM),
            },
            items.length,
          );
        const [first, ...others] = parts;
        if (first && others.length === 0) return await write(first);
        return inOrder(parts, await Promise.allSettled(parts.map(write)));
      } finally {
        room.give(owner, length);
        report(-length);
      }
    },
  };
}

/** The verdicts of all parts in the order of the request's items; the first error, if there is one. */
function inOrder(
  parts: readonly Part[],
  written: readonly PromiseSettledResult<Verdict[]>[],
): Verdict[] {
  const verdicts: Verdict[] = [];
  for (const [index, result] of written.entries()) {
    if (result.status === "rejected") throw result.reason;
    const places = parts[index]?.places ?? [];
    for (const [order, verdict] of result.value.entries()) {
      verdicts[places[order] as number] = verdict;
    }
  }
  return verdicts;
}

function planLanes({ isSerialized, concurrency }: Database, processes: number, shards: number) {
  if (isSerialized) return IN_TURNS;
  const isAlone = processes === 1;
  if (shards > 1) {
    const atOnce = isAlone ? AT_ONCE_ON_CLUSTER : AT_ONCE_ON_CLUSTER_AMONG_OTHERS;
    return { lanes: shards, depth: 1, atOnce: Math.min(atOnce, concurrency) };
  }
  const lanes = Math.min(isAlone ? MOST_LANES : MOST_LANES_AMONG_OTHERS, concurrency);
  return { lanes, depth: 1, atOnce: lanes };
}

type Lane = ReturnType<typeof createLane>;

/** Transactions for a share of the buckets. */
const createLane = (services: WriteServices, depth: number, slots: Slots) =>
  createSharedTransactions<WriteRequest, Verdict[], ActiveSpan>({
    name: "write batch",
    tracing: services.tracing,
    depth,
    mostTogether: BATCH_ITEMS,
    slots,
    async runTogether(requests) {
      const startedAt = performance.now();
      const verdicts = await writeBatch(services, requests);
      const items = requests.reduce((sum, request) => sum + request.items.length, 0);
      services.metrics.batch(items, (performance.now() - startedAt) / 1_000);
      return verdicts;
    },
  });
