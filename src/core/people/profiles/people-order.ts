import { setTimeout as sleep } from "node:timers/promises";
import { lockedError, settleAll } from "../../database/database.ts";
import { identifierKey, type PersonIdentifier } from "./identifiers.ts";

/**
 * Lets the writers of this process that name the same people work one after the other, if one of them
 * may remove people: a merge neither reads what a batch is about to change, nor removes a user from
 * under it. Other writers only patch what is stored, in any order, and do not wait.
 *
 * It only saves work, like the locks of lanes: writers in other processes, and those that name a
 * person in another way, meet on the rows (docs/decisions/lane-locks.md).
 */
export type PeopleOrder = ReturnType<typeof createPeopleOrder>;

interface Writer {
  readonly workspaceId: number;
  readonly names: readonly PersonIdentifier[];
  /** Whether it may remove the people it names. */
  readonly removes: boolean;
  /** How long it waits for others, at most; without it as long as they take. */
  readonly waitMs?: number | undefined;
}

/** A writer that has begun, or waits. */
interface Entered extends Writer {
  readonly done: Promise<void>;
  /** The keys of its names, once another writer has asked. */
  keys: ReadonlySet<string> | undefined;
}

export function createPeopleOrder() {
  // In the order of their arrival. Each waits only for earlier ones, so none waits in a circle.
  const entered = new Set<Entered>();
  return {
    /**
     * Runs `work` after all earlier writers that it must not meet.
     *
     * @throws an error that `isLocked` if it may wait for `waitMs` only and they take longer.
     */
    async run<Result>(writer: Writer, work: () => Promise<Result>) {
      const before = [...entered].filter((each) => mustNotMeet(each, writer));
      let leave = () => {};
      const done = new Promise<void>((resolve) => {
        leave = resolve;
      });
      const own: Entered = { ...writer, done, keys: undefined };
      entered.add(own);
      try {
        await allDone(before, writer.waitMs);
        return await work();
      } finally {
        entered.delete(own);
        leave();
      }
    },
  };
}

async function allDone(before: readonly Entered[], waitMs: number | undefined): Promise<void> {
  if (before.length === 0) return;
  const done = settleAll(before.map((each) => each.done));
  if (waitMs === undefined) return void (await done);
  const stop = new AbortController();
  const late = sleep(waitMs, "late", stop).catch(() => {});
  const first = await Promise.race([done, late]);
  stop.abort();
  if (first === "late") throw lockedError("Another request changes the same users.");
}

function mustNotMeet(earlier: Entered, later: Writer): boolean {
  if (earlier.workspaceId !== later.workspaceId || !(earlier.removes || later.removes))
    return false;
  earlier.keys ??= new Set(earlier.names.map(identifierKey));
  const { keys } = earlier;
  return later.names.some((name) => keys.has(identifierKey(name)));
}
