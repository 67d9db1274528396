import type { Clock } from "../../base/clock.ts";
import type { Transaction } from "../../database/database.ts";
import type { JobKey } from "./job.ts";
import { deleteJobs, insertJobs } from "./store.ts";

/**
 * Enqueues a job within a transaction.
 *
 * @returns its id, or undefined if the same job is already waiting or running.
 */
export async function enqueue(
  tx: Transaction,
  clock: Clock,
  key: JobKey,
): Promise<string | undefined> {
  const id = clock.newId();
  const added = await insertJobs(tx, [{ ...key, id, runAt: clock.now() }]);
  return added.length > 0 ? id : undefined;
}

/**
 * Withdraws the jobs of a kind, for all subjects if none are given. One that is running can commit
 * nothing any more.
 */
export const withdraw = (
  tx: Transaction,
  workspaceId: number,
  kind: string,
  subjects?: readonly string[],
) => deleteJobs(tx, workspaceId, kind, subjects);
