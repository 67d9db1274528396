import { LRUCache } from "lru-cache";
import type { Clock } from "../../core/base/clock.ts";
import { type Database, readTogether } from "../../core/database/database.ts";
import { countUsers } from "../../core/people/quotas/user-count.ts";
import { SAMPLE, sizeFrom } from "./estimate.ts";
import { countPortion } from "./members-store.ts";

/** How many users a workspace has, and when they were counted. */
export interface UserTotal {
  readonly users: number;
  /** False for an estimate. */
  readonly isExact: boolean;
  readonly countedAt: Date;
}

/** Counts the users of workspaces. */
export type UserTotals = ReturnType<typeof createUserTotals>;

export interface CountingServices {
  readonly userTotals: UserTotals;
}

/** Counting these takes about as long as a large export holds up the embedded engine: fractions of a second. */
const COUNTED_UP_TO = 1_000_000;

/** A number is shown for a second, or for this many times as long as counting took: 2 % of the time goes into counting. */
const KEPT_FOR_MS = 1_000;
const KEPT_FOR_COSTS = 50;
const KEPT_FOR_ESTIMATES_MS = 60_000;

const KEPT_WORKSPACES = 10_000;

/**
 * Requests for the users of one workspace share a count, and the number for a while afterwards.
 *
 * @param countedUpTo more users are estimated.
 */
export function createUserTotals(database: Database, clock: Clock, countedUpTo = COUNTED_UP_TO) {
  const totals = new LRUCache<
    number,
    { readonly total: Promise<UserTotal>; readonly started: number; until: number }
  >({ max: KEPT_WORKSPACES });

  function count(workspaceId: number): Promise<UserTotal> {
    const started = clock.elapsedMs();
    const total = countOrEstimate(database, workspaceId, clock.now(), countedUpTo);
    const entry = { total, started, until: Number.POSITIVE_INFINITY };
    totals.set(workspaceId, entry);
    total.then(
      () => {
        const now = clock.elapsedMs();
        entry.until = now + Math.max(KEPT_FOR_MS, KEPT_FOR_COSTS * (now - started));
      },
      () => totals.delete(workspaceId),
    );
    return total;
  }

  function read(workspaceId: number, keptForMs = 0): Promise<UserTotal> {
    const entry = totals.get(workspaceId);
    const now = clock.elapsedMs();
    const isNew = entry && (entry.until > now || entry.started + keptForMs > now);
    return isNew ? entry.total : count(workspaceId);
  }

  return {
    read: (workspaceId: number) => read(workspaceId),
    /** The number, at most a minute old, for estimates: whoever types a filter does not count all users each time. */
    readForEstimate: (workspaceId: number): Promise<number | undefined> =>
      read(workspaceId, KEPT_FOR_ESTIMATES_MS).then(
        ({ users }) => users,
        () => undefined,
      ),
  };
}

async function countOrEstimate(
  database: Database,
  workspaceId: number,
  now: Date,
  countedUpTo: number,
): Promise<UserTotal> {
  const counted = await countUsers(database.for("analysis"), workspaceId, countedUpTo + 1);
  if (counted <= countedUpTo) return { users: counted, isExact: true, countedAt: now };
  const sample = await readTogether(database.for("lookup"), (tx) =>
    countPortion({ tx, workspaceId, portion: SAMPLE, now }),
  );
  const { total } = sizeFrom(SAMPLE, { ...sample, matching: sample.seen });
  return { users: Math.max(total, counted), isExact: false, countedAt: now };
}
