import { isUnavailable } from "../database/database.ts";
import type { Place, Tracing } from "../observe/tracing.ts";

/** Writes what callers want written, several of them in one transaction. */
export interface GroupCommit<Call, Result> {
  /**
   * Writes a call together with others that wait; resolves once it is committed.
   *
   * @param size how much of a transaction it takes.
   */
  write(workspaceId: number, call: Call, size: number): Promise<Result>;
}

interface Options<Call, Result> {
  /** How a trace names a transaction. */
  readonly name: string;
  readonly tracing: Tracing;
  /** How many transactions are under way at the same time, at most. */
  readonly depth: number;
  /** How much one transaction takes, at most; a larger call has one of its own. */
  readonly mostTogether: number;
  /** Writes calls of one workspace in one transaction, in their order. @returns the result of each. */
  writeTogether(calls: readonly Call[]): Promise<readonly Result[]>;
}

interface Waiting<Call, Result> {
  readonly call: Call;
  readonly size: number;
  /** Where it belongs in a trace. */
  readonly place: Place | undefined;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Group commit: while transactions run, calls gather; the next transaction takes all of one workspace. Workspaces
 * take turns: each gets one transaction before any of them gets the next one, however much of one waits.
 *
 * A call that cannot be written does not fail the others: after an error each is written alone.
 */
export function createGroupCommit<Call, Result>({
  name,
  tracing,
  depth,
  mostTogether,
  writeTogether,
}: Options<Call, Result>): GroupCommit<Call, Result> {
  // A map keeps the order of insertion, which is the order of turns.
  const waiting = new Map<number, Waiting<Call, Result>[]>();
  let underWay = 0;

  /** The calls of the workspace whose turn it is, as many as fit into a transaction. */
  function takeBatch(): Waiting<Call, Result>[] {
    const [next] = waiting;
    if (!next) return [];
    const [workspaceId, line] = next;
    waiting.delete(workspaceId);
    let size = 0;
    // Once one does not fit, none after it may overtake it.
    const end = line.findIndex((each, index) => {
      size += each.size;
      return index > 0 && size > mostTogether;
    });
    if (end < 0) return line;
    waiting.set(workspaceId, line.slice(end));
    return line.slice(0, end);
  }

  async function writeAll(): Promise<void> {
    if (underWay === depth) return;
    underWay++;
    // Calls of the same turn of the event loop go together.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.size > 0) await writeBatch(takeBatch());
    underWay--;
  }

  /** Never throws: every call gets its result or its error. */
  async function writeBatch(batch: readonly Waiting<Call, Result>[]): Promise<void> {
    const calls = batch.map((each) => each.call);
    const counts = { "rapport.requests": calls.length };
    try {
      const results = await tracing.together(name, batch, counts, () => writeTogether(calls));
      for (const [index, each] of batch.entries()) each.resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) {
        for (const each of batch) each.reject(error);
        return;
      }
      for (const each of batch) await writeBatch([each]);
    }
  }

  return {
    write: (workspaceId, call, size) =>
      new Promise((resolve, reject) => {
        const one = { call, size, place: tracing.current(), resolve, reject };
        const line = waiting.get(workspaceId);
        if (line) line.push(one);
        else waiting.set(workspaceId, [one]);
        void writeAll();
      }),
  };
}
