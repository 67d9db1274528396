import { createPool } from "../base/pool.ts";
import { Problem } from "../base/problem.ts";
import { createSemaphore, type Semaphore } from "../base/semaphore.ts";
import { JsonText } from "../base/values/plain-json.ts";
import type { LanePlan } from "../database/lanes.ts";
import type { LockWaits } from "../database/lock-waits.ts";
import { createSharedTransactions, type Waiting } from "../database/shared-transactions.ts";
import { createPeopleLockWaits } from "../people/profiles/locked-people.ts";
import type { Item, Verdict } from "./item.ts";
import { type Part, splitRequest } from "./split-request.ts";
import { type WriteRequest, type WriteServices, writeBatch } from "./write-batch.ts";

/**
 * How many items may wait, of all workspaces. Beyond that a request is refused before memory grows. One
 * workspace alone fills three quarters of it (core/base/pool.ts), so that others always find room.
 */
export const MOST_WAITING_ITEMS = 20_000;

/** How many items one transaction takes, at most (lab/NOTEBOOK.md). */
const BATCH_ITEMS = 2_000;

/** Nested properties count as an item for each of these, so that a transaction takes two full requests. */
const CHARACTERS_OF_ITEM = 2_500;

/** One tick for the affected profiles, one for the named profile. An item that affects many takes more (`applyItem`). */
const MICROSECONDS_OF_ITEM = 2;

export type WriteQueue = ReturnType<typeof createWriteQueue>;

/**
 * Requests that wait share transactions (`createSharedTransactions`).
 *
 * Several lanes write at the same time, each for its share of the buckets, so that their
 * transactions do not wait for each other's rows. A request is split among them if that cannot be
 * noticed.
 *
 * @param plan of the engine (`Database.lanes`).
 */
export function createWriteQueue(services: WriteServices, plan: LanePlan) {
  const { depth } = plan;
  const slots = createSemaphore(plan.atOnce);
  const lockWaits = createPeopleLockWaits(services.database, namesIn);
  const lanes = Array.from({ length: plan.count }, () =>
    createLane(services, depth, slots, lockWaits, noteMoment),
  );
  const room = createPool(MOST_WAITING_ITEMS);
  let waitingItems = 0;
  let lastMoment = 0;

  /** A timestamp later than all earlier ones, leaving room for this many items (`applyItem`). */
  function nextMoment(items: number): number {
    const moment = Math.max(services.clock.now().getTime() * 1_000, lastMoment);
    lastMoment = moment + items * MICROSECONDS_OF_ITEM;
    return moment;
  }

  /** What comes after a transaction is later than it, also while the clock stands behind. */
  function noteMoment(moment: number): void {
    lastMoment = Math.max(lastMoment, moment);
  }

  function report(items: number): void {
    waitingItems += items;
    services.metrics.waiting(waitingItems);
  }

  return {
    /**
     * Writes a request together with others that wait; resolves once all of it is committed.
     *
     * @returns the verdicts on its items, in their order.
     * @throws Problem RATE_LIMITED when too much is waiting.
     */
    async write(request: WriteRequest) {
      const { length } = request.items;
      const owner = request.context.workspace.name;
      if (!room.take(owner, length)) {
        throw new Problem("RATE_LIMITED", "The write queue is full. Try again later.", {
          retryAfterSeconds: 1,
        });
      }
      report(length);
      try {
        // As a whole it waits; in parts one would be written, and its caller told 503.
        const isAwaited = lockWaits?.isAwaited(request.context.workspace.id, request) ?? false;
        const parts = splitRequest(request, plan.inUse(waitingItems), isAwaited);
        const moment = nextMoment(length);
        const write = ({ lane, items, places }: Part) =>
          (lanes[lane] as Lane).run(
            request.context.workspace.id,
            {
              ...request,
              items,
              moments: places.map((place) => moment + place * MICROSECONDS_OF_ITEM),
            },
            sizeOf(items),
            services.database,
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

/** How many items of a transaction they take: what is nested takes the engine a hundred times its size while it is parsed. */
function sizeOf(items: readonly Item[]): number {
  let size = items.length;
  for (const { work } of items) {
    if (work.kind !== "attributes" && work.properties instanceof JsonText) {
      size += Math.floor(work.properties.text.length / CHARACTERS_OF_ITEM);
    }
  }
  return size;
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

const namesIn = ({ items }: WriteRequest) => items.map(({ identifier }) => identifier);

type Lane = ReturnType<typeof createLane>;

/** Transactions for a share of the buckets. */
const createLane = (
  services: WriteServices,
  depth: number,
  slots: Semaphore,
  lockWaits: LockWaits<WriteRequest, Waiting<WriteRequest, Verdict[]>> | undefined,
  noteMoment: (moment: number) => void,
) =>
  createSharedTransactions<WriteRequest, Verdict[]>({
    name: "write batch",
    tracing: services.tracing,
    depth,
    mostTogether: BATCH_ITEMS,
    slots,
    lockWaits,
    async runTogether(requests, _within, lockMs) {
      const startedAt = performance.now();
      const { verdicts, nextMoment } = await writeBatch(services, requests, lockMs);
      noteMoment(nextMoment);
      const items = requests.reduce((sum, request) => sum + request.items.length, 0);
      services.metrics.batch(items, (performance.now() - startedAt) / 1_000);
      return verdicts;
    },
  });
