import type { Clock } from "../../base/clock.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import type { Database } from "../../database/database.ts";
import { countUsers } from "./store.ts";

/** How many more users a workspace may have. */
export interface UserRoom {
  /** Counts a user that is about to be created. @returns false if there is no room. */
  take(): boolean;
}

interface Count {
  /** Counted in the database, plus the users that this process created since. */
  users: number;
  /** How many this process has created. */
  created: number;
  countedAt: number;
  counting: Promise<void> | undefined;
}

/** Users that other processes create are counted after this time. */
const RECOUNT_AFTER_MS = 30_000;

/** At the limit: the time after which deleted users free their places. */
const RECOUNT_FULL_AFTER_MS = 1_000;

export function createUserCount(database: Database, clock: Clock) {
  const counts = new Map<number, Count>();

  /** One at a time for each workspace: batches that run side by side share it. */
  function recount(count: Count, { id, settings }: Workspace): Promise<void> {
    const run = async () => {
      const createdBefore = count.created;
      const counted = await countUsers(database.for("analysis"), id, settings.max_users + 1);
      count.users = counted + count.created - createdBefore;
      count.countedAt = clock.elapsedMs();
    };
    count.counting ??= run().finally(() => {
      count.counting = undefined;
    });
    return count.counting;
  }

  return {
    room(workspace: Workspace) {
      const { max_users: limit } = workspace.settings;
      const count: Count = counts.get(workspace.id) ?? notCounted();
      counts.set(workspace.id, count);
      const room: UserRoom = {
        take() {
          if (count.users >= limit) return false;
          count.users += 1;
          count.created += 1;
          return true;
        },
      };
      const age = clock.elapsedMs() - count.countedAt;
      const mustWait = count.users >= limit && age > RECOUNT_FULL_AFTER_MS;
      if (mustWait) return recount(count, workspace).then(() => room);
      // Counting may take long, and nothing waits for it; if it fails, the next batch tries again.
      if (age > RECOUNT_AFTER_MS) recount(count, workspace).catch(() => {});
      return room;
    },
  };
}

export { countUsers } from "./store.ts";

/** Full until it is counted. */
const notCounted = (): Count => ({
  users: Number.POSITIVE_INFINITY,
  created: 0,
  countedAt: Number.NEGATIVE_INFINITY,
  counting: undefined,
});
