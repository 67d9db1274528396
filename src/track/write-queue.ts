import { type Database, isUnavailable } from "../database/database.ts";
import { KeyTaken } from "../http/idempotency.ts";
import { createPool } from "../http/pool.ts";
import type { Place } from "../observe/tracing.ts";
import { Problem } from "../problem.ts";
import type { Verdict } from "./item.ts";
import { chooseLanes, chooseLanesOnCluster } from "./lane-choice.ts";
import { type Part, splitRequest } from "./split-request.ts";
import { type WriteRequest, type WriteServices, writeBatch } from "./write-batch.ts";

/**
 * How many items may wait, of all workspaces. Beyond that a request is refused before memory grows. One
 * workspace alone fills three quarters of it (http/pool.ts), so that others always find room.
 */
export const MOST_WAITING_ITEMS = 20_000;

/** How many items one transaction takes, at most (docs/performance.md). */
const BATCH_ITEMS = 2_000;

/**
 * How many transactions a process writes at the same time, at most (docs/performance.md). Fewer where
 * other processes write too: those do not keep to this one's shares of the people.
 */
const MOST_LANES = 3;
const MOST_LANES_AMONG_OTHERS = 2;

/** Where transactions take turns: while the engine runs one, the next one is worked out. */
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

interface Waiting {
  readonly request: WriteRequest;
  /** Where it belongs in a trace. */
  readonly place: Place | undefined;
  resolve(verdicts: Verdict[]): void;
  reject(error: unknown): void;
}

/**
 * Group commit: while a transaction runs, requests gather; the next transaction takes them all.
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

  /** A moment after all that were given before, with room for so many items (`applyItem`). */
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
          (lanes[lane] as Lane).write({
            ...request,
            items,
            moments: places.map((place) => moment + place * MICROSECONDS_OF_ITEM),
          });
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

/** Lets so many run at the same time; the others wait in their order. */
interface Slots {
  take(): Promise<void>;
  give(): void;
}

function createSlots(count: number): Slots {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    async take() {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
    give() {
      const next = waiting.shift();
      if (next) next();
      else free++;
    },
  };
}

interface Lane {
  write(request: WriteRequest): Promise<Verdict[]>;
}

/**
 * Transactions of one workspace each, which take the requests of a workspace in their order. Workspaces take turns:
 * each gets one transaction before any of them gets the next one, however much of one waits.
 *
 * @param depth how many of them are under way at the same time.
 */
function createLane(services: WriteServices, depth: number, slots: Slots): Lane {
  // A map keeps the order of insertion, which is the order of turns.
  const waiting = new Map<number, Waiting[]>();
  let underWay = 0;

  /** The requests of the workspace whose turn it is, as many as fit into a transaction. */
  function takeBatch(): Waiting[] {
    const [next] = waiting;
    if (!next) return [];
    const [workspaceId, line] = next;
    waiting.delete(workspaceId);
    let items = 0;
    // Once one does not fit, none after it may overtake it.
    const end = line.findIndex(({ request }, index) => {
      items += request.items.length;
      return index > 0 && items > BATCH_ITEMS;
    });
    if (end < 0) return line;
    waiting.set(workspaceId, line.slice(end));
    return line.slice(0, end);
  }

  async function writeAll(): Promise<void> {
    if (underWay === depth) return;
    underWay++;
    // Requests that arrive in the same turn of the event loop go together.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.size > 0) {
      await slots.take();
      const batch = takeBatch();
      if (batch.length > 0) await writeTogether(services, batch);
      slots.give();
    }
    underWay--;
  }

  return {
    write: (request) =>
      new Promise((resolve, reject) => {
        const { id } = request.context.workspace;
        const line = waiting.get(id);
        const one = { request, place: services.tracing.current(), resolve, reject };
        if (line) line.push(one);
        else waiting.set(id, [one]);
        void writeAll();
      }),
  };
}

/** Never throws: every request gets its verdicts or its error. */
async function writeTogether(services: WriteServices, batch: readonly Waiting[]): Promise<void> {
  const requests = batch.map((each) => each.request);
  try {
    const startedAt = performance.now();
    const items = requests.reduce((sum, request) => sum + request.items.length, 0);
    const counts = { "rapport.requests": requests.length, "rapport.items": items };
    const verdicts = await services.tracing.together("write batch", batch, counts, () =>
      writeBatch(services, requests),
    );
    services.metrics.batch(items, (performance.now() - startedAt) / 1_000);
    for (const [index, each] of batch.entries()) each.resolve(verdicts[index] ?? []);
  } catch (error) {
    if (error instanceof KeyTaken) return writeOthers(services, batch, error);
    if (batch.length === 1 || isUnavailable(error)) {
      for (const each of batch) each.reject(error);
      return;
    }
    // One of them cannot be written: written alone, it does not fail the others.
    for (const each of batch) await writeTogether(services, [each]);
  }
}

/** Leaves out the requests whose Idempotency-Key another request has used meanwhile. */
async function writeOthers(
  services: WriteServices,
  batch: readonly Waiting[],
  taken: KeyTaken,
): Promise<void> {
  const isTaken = ({ request }: Waiting) => taken.keys.has(request.recorded?.claim.key ?? "");
  for (const each of batch.filter(isTaken)) each.reject(taken);
  const others = batch.filter((each) => !isTaken(each));
  if (others.length > 0) await writeTogether(services, others);
}
