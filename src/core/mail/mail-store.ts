import type { JobKey } from "../admin/jobs/job.ts";
import type { Transaction } from "../database/database.ts";

/**
 * Notes when a thing is mailed about: now, or when its pause since the last mail is over.
 *
 * @returns undefined if a mail about it waits already.
 */
export async function planMail(
  tx: Transaction,
  { workspaceId, kind, subject }: JobKey,
  now: Date,
  pauseHours: number,
): Promise<Date | undefined> {
  await tx.query(
    `delete from mail_times where workspace_id = $1
       and mailed_at <= $2::timestamptz - make_interval(hours => $3)`,
    [workspaceId, now, pauseHours],
  );
  const [row] = await tx.query<{ mailedAt: Date }>(
    `insert into mail_times (workspace_id, kind, subject, mailed_at) values ($1, $2, $3, $4)
     on conflict (workspace_id, kind, subject) do update
       set mailed_at = mail_times.mailed_at + make_interval(hours => $5)
       where mail_times.mailed_at <= excluded.mailed_at
     returning mailed_at as "mailedAt"`,
    [workspaceId, kind, subject, now, pauseHours],
  );
  return row?.mailedAt;
}
