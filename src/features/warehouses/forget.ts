import { withdraw } from "../../core/admin/jobs/queue.ts";
import type { Retained } from "../../core/admin/retention/retention.ts";
import { earlier } from "../../core/base/clock.ts";
import type { Database, Transaction } from "../../core/database/database.ts";
import { SYNC_JOB } from "./integration.ts";
import { deleteOldLog } from "./progress-store.ts";
import { deleteRunsBefore, forget } from "./store.ts";

/**
 * A reset discards all sync progress. A running sync can commit nothing afterwards, so this happens
 * before users are removed.
 */
export async function eraseSyncs(tx: Transaction, workspaceId: number): Promise<void> {
  await withdraw(tx, workspaceId, SYNC_JOB);
  await forget(tx, "progress", workspaceId);
  await forget(tx, "runs", workspaceId);
}

const ROWS_AT_ONCE = 1_000;

/** Rows that syncs did not apply. */
export const RETAINED_ROW_LOG: Retained = {
  kind: "row_log",
  days: (settings) => settings.keep_row_log_days,
  async removeStep(tx, workspaceId, before) {
    const removed = await deleteOldLog(tx, workspaceId, before, ROWS_AT_ONCE);
    return { removed, after: removed === ROWS_AT_ONCE ? "more" : undefined };
  },
};

/** Runs are kept for a year. */
export const sweepSyncs = (database: Database, now: Date) =>
  deleteRunsBefore(database, earlier(now, { days: 365 }));
