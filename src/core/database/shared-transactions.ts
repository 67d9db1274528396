import type { ActiveSpan, Tracing } from "../base/observe/tracing.ts";
import type { Semaphore } from "../base/semaphore.ts";
import { type Database, isLocked, isUnavailable } from "./database.ts";
import type { WaitingCall } from "./lock-line.ts";
import type { LockWaits } from "./lock-waits.ts";

interface Options<Call, Result> {
  /** How a trace names a transaction. */
  readonly name: string;
  readonly tracing: Pick<Tracing, "current" | "together">;
  /** How many transactions are under way at the same time, at most. */
  readonly depth: number;
  /** The most that one transaction takes; a larger call has a separate one. */
  readonly mostTogether: number;
  /** Shared by several of these to limit the transactions under way; without it only `depth` counts. */
  readonly slots?: Semaphore;
  /** Where calls wait that need a lock of another transaction; several of these share it. Without it all wait for the lock. */
  readonly lockWaits?: LockWaits<Call, Waiting<Call, Result>> | undefined;
  /**
   * Runs calls of one workspace in one transaction, in their order.
   *
   * @param within the running transaction, if there is one.
   * @param lockMs how long a transaction with a place to wait for locks (`lockWaits`) may wait for one.
   * @returns the result of each.
   */
  runTogether(
    calls: readonly Call[],
    within?: Database,
    lockMs?: number,
  ): Promise<readonly Result[]>;
}

export interface Waiting<Call, Result> extends WaitingCall<Call> {
  /** Its parent in a trace. */
  readonly place: ActiveSpan | undefined;
  resolve(result: Result): void;
}

/**
 * Group commit: while transactions run, calls gather; the next transaction takes all of one workspace. Workspaces take
 * turns: each gets one transaction before any of them gets the next one, however much of one waits.
 *
 * A call that fails does not fail the others: after an error each runs separately, and those that need a lock of another
 * transaction wait aside.
 */
export function createSharedTransactions<Call, Result>({
  name,
  tracing,
  depth,
  mostTogether,
  slots,
  lockWaits,
  runTogether,
}: Options<Call, Result>) {
  const waiting = createTurns<Waiting<Call, Result>>(mostTogether);
  let underWay = 0;

  async function runAll(): Promise<void> {
    if (underWay === depth) return;
    underWay++;
    // Calls of the same turn of the event loop go together.
    await new Promise((resolve) => setImmediate(resolve));
    while (!waiting.isEmpty()) {
      await slots?.take();
      await runBatch(waiting.take());
      slots?.give();
    }
    underWay--;
  }

  async function attempt(
    batch: readonly Waiting<Call, Result>[],
    lockMs: number | undefined,
  ): Promise<void> {
    const calls = batch.map((each) => each.call);
    const items = batch.reduce((sum, { size }) => sum + size, 0);
    const counts = { "rapport.requests": calls.length, "rapport.items": items };
    const run = () => runTogether(calls, undefined, lockMs);
    const results = await tracing.together(name, batch, counts, run);
    for (const [index, each] of batch.entries()) each.resolve(results[index] as Result);
  }

  /** Never throws: every call gets its result or its error. */
  async function runBatch(taken: readonly Waiting<Call, Result>[]): Promise<void> {
    const batch = lockWaits ? lockWaits.divert(taken) : taken;
    // Meanwhile another transaction may have taken all that waited.
    if (batch.length === 0) return;
    try {
      await attempt(batch, lockWaits?.lockMs());
    } catch (error) {
      if (lockWaits && isLocked(error)) return lockWaits.setAside(batch, attempt, error);
      if (batch.length === 1 || isUnavailable(error)) {
        for (const each of batch) each.reject(error);
        return;
      }
      for (const each of batch) await runBatch([each]);
    }
  }

  return {
    /**
     * Runs a call together with others that wait; resolves once the transaction is committed.
     *
     * @param size how much of a transaction it takes.
     * @param database the caller's: within a running transaction, which records the response, a call
     * runs separately.
     */
    async run(workspaceId: number, call: Call, size: number, database: Database): Promise<Result> {
      if (database.isWithin) return (await runTogether([call], database))[0] as Result;
      return new Promise((resolve, reject) => {
        const since = performance.now();
        const place = tracing.current();
        waiting.add(workspaceId, { workspaceId, call, size, since, place, resolve, reject });
        void runAll();
      });
    },
  };
}

/** The waiting calls, in a line for each workspace. */
function createTurns<One extends { readonly size: number }>(most: number) {
  // A map keeps the order of insertion, which is the order of turns.
  const lines = new Map<number, One[]>();
  return {
    isEmpty: () => lines.size === 0,
    add(workspaceId: number, one: One) {
      const line = lines.get(workspaceId);
      if (line) line.push(one);
      else lines.set(workspaceId, [one]);
    },
    /** As much of the next workspace in turn as fits; nothing if nothing waits. */
    take(): One[] {
      const [next] = lines;
      if (!next) return [];
      const [workspaceId, line] = next;
      lines.delete(workspaceId);
      let size = 0;
      // Once one does not fit, none after it may overtake it.
      const end = line.findIndex((each, index) => {
        size += each.size;
        return index > 0 && size > most;
      });
      if (end < 0) return line;
      lines.set(workspaceId, line.slice(end));
      return line.slice(0, end);
    },
  };
}
