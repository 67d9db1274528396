import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../database/database.ts";
import type { Positions } from "./cursor.ts";
import { type Head, selectHeads } from "./store.ts";

export type ChangeWatch = ReturnType<typeof createChangeWatch>;

/** One statement for all workspaces of a process; half of this is how long a change waits for it. */
const LOOK_EVERY_MS = 40;

interface Waiting {
  readonly after: Positions;
  wake(): void;
}

/**
 * Looks at the heads of workspaces for which a reader waits, because any process may write; without
 * readers it looks at nothing.
 */
export function createChangeWatch(database: Database) {
  const waiting = new Map<number, Set<Waiting>>();
  let isLooking = false;
  let isStopped = false;

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    while (waiting.size > 0 && !isStopped) {
      // A database that does not respond is no reason to wake anybody.
      const heads = await selectHeads(database, [...waiting.keys()]).catch((): Head[] => []);
      wakeLate(heads);
      if (waiting.size > 0) await sleep(LOOK_EVERY_MS, undefined, { ref: false });
    }
    isLooking = false;
  }

  function wakeLate(heads: readonly Head[]): void {
    for (const { workspaceId, bucket, position } of heads) {
      for (const each of waiting.get(workspaceId) ?? []) {
        if (position !== (each.after.get(bucket) ?? 0)) each.wake();
      }
    }
  }

  return {
    /**
     * Resolves once a workspace has changes after these positions, after the time, when the signal is
     * aborted, or when the server stops.
     */
    wait(
      workspaceId: number,
      after: Positions,
      milliseconds: number,
      signal?: AbortSignal,
    ): Promise<void> {
      if (isStopped || milliseconds <= 0 || signal?.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        const others = waiting.get(workspaceId) ?? new Set();
        waiting.set(workspaceId, others);
        const end = () => {
          clearTimeout(timer);
          others.delete(one);
          if (others.size === 0 && waiting.get(workspaceId) === others) waiting.delete(workspaceId);
          resolve();
        };
        const timer = setTimeout(end, milliseconds);
        const one = { after, wake: end };
        others.add(one);
        signal?.addEventListener("abort", end, { once: true });
        void look();
      });
    },
    get isStopped() {
      return isStopped;
    },
    stop() {
      isStopped = true;
      for (const others of waiting.values()) for (const each of others) each.wake();
    },
  };
}
