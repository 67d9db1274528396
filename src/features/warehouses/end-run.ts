import { commitTogether } from "../../core/database/commit-together.ts";
import { type Transaction, withRetries } from "../../core/database/database.ts";
import { enqueueMail } from "../../core/mail/mail-job.ts";
import { recordChanges } from "../../core/people/changes/record-changes.ts";
import type { JobStatus } from "./integration.ts";
import { MAIL_JOB } from "./mail.ts";
import { insertLogEntries, type LogEntry } from "./progress-store.ts";
import type { Run, SyncServices } from "./run.ts";
import type { StrayRow, Strays } from "./sources/source.ts";
import { finishRun, type RunRow, selectRun } from "./store.ts";
import { notedText, storable } from "./write-rows.ts";

/** How a run ends. By default the rows decide the status. */
export interface Ending {
  readonly status?: JobStatus;
  readonly message: string | null;
  readonly strays?: Strays;
}

/** The end of a run that read everything; undefined if there was nothing to read. */
export function endingOf(strays: Strays | undefined): Ending {
  if (!strays) return { message: "There is no file to read." };
  const { future, unreadable } = strays;
  const sentences = [
    ...(unreadable > 0
      ? [`Rows without a readable UPDATED_AT, which never sync: ${unreadable}.`]
      : []),
    ...(future > 0
      ? [`Rows that wait, because their UPDATED_AT is in the future: ${future}.`]
      : []),
  ];
  return { message: sentences.join(" ") || null, strays };
}

/**
 * Ends a run: sets its status, logs the rows outside every range, and mails the contacts unless the
 * run succeeded. All of it shares a transaction with the end of the job.
 */
export async function endRun(services: SyncServices, run: Run, ending: Ending): Promise<void> {
  const { database, clock, log, metrics } = services;
  const { job, workspace, integration, key } = run;
  const ended = await withRetries(database, async (tx) => {
    await job.finish(tx);
    const now = clock.now();
    const entries = ending.strays?.examples.map((row) => strayEntry(row, clock.newId())) ?? [];
    await insertLogEntries(tx, key, entries, now);
    const failed = ending.strays?.unreadable ?? 0;
    const counted = (await selectRun(tx, key)) as RunRow;
    const status = ending.status ?? statusOf(counted.rowsSynced, counted.rowsFailed + failed);
    const { message } = ending;
    await finishRun(tx, key, { status, message, failed, now });
    if (status !== "success" && integration.contactEmails.length > 0) {
      const subject = integration.id;
      await enqueueMail(tx, clock, { workspaceId: workspace.id, kind: MAIL_JOB, subject });
    }
    await recordEnd(tx, services, run, {
      status,
      rows_synced: counted.rowsSynced,
      rows_failed: counted.rowsFailed + failed,
    });
    return { status, rows_synced: counted.rowsSynced, rows_failed: counted.rowsFailed + failed };
  });
  metrics.sync({
    integration: integration.id,
    status: ended.status,
    synced: ended.rows_synced,
    failed: ended.rows_failed,
    at: clock.now(),
  });
  log.info({ workspace: workspace.name, integration_id: integration.id, ...ended }, "sync ended");
}

/** Tells the change feed of the end of a run, if that is on. */
async function recordEnd(
  tx: Transaction,
  { clock }: Pick<SyncServices, "clock">,
  { workspace, integration, job }: Run,
  figures: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (workspace.feed === null) return;
  const ids = { integration_id: integration.id, run_id: job.id };
  const drafts = [{ type: "sync.finished" as const, ...ids, ...figures }];
  await commitTogether(tx);
  await recordChanges(tx, workspace.id, workspace.feed, { drafts }, clock);
}

/** Rows but none synced: error; no rows: success. docs/decisions/warehouse-runs.md */
function statusOf(synced: number, failed: number): JobStatus {
  if (failed === 0) return "success";
  return synced > 0 ? "partial" : "error";
}

const STRAY_FAULTS = {
  future: {
    outcome: "waiting",
    field: "UPDATED_AT",
    code: "UPDATED_AT_IN_FUTURE",
    message: "'UPDATED_AT' is in the future: the row will be synced at that time",
  },
  timeless: {
    outcome: "failed",
    field: "UPDATED_AT",
    code: "INVALID_UPDATED_AT",
    message: "'UPDATED_AT' is missing or not a readable time",
  },
  broken: {
    outcome: "failed",
    field: null,
    code: "BROKEN_LINE",
    message: "the line does not match the columns of the first line, or has an unbalanced quote",
  },
} as const;

const strayEntry = ({ why, identity, updatedAt }: StrayRow, id: string): LogEntry => ({
  id,
  identity: storable(identity),
  updatedAt: updatedAt === null ? null : notedText(updatedAt),
  ...STRAY_FAULTS[why],
});
