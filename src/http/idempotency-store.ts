import { bucketOfValue, bucketsOfValues } from "../database/buckets.ts";
import { type Queryable, settleAll, type Transaction } from "../database/database.ts";

export interface RecordedAnswer {
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: unknown;
}

/** The answer that a key got after `since`, if any. */
export async function selectAnswer(
  database: Queryable,
  workspaceId: number,
  key: string,
  since: Date,
): Promise<RecordedAnswer | undefined> {
  const [row] = await database.query<RecordedAnswer>(
    `select key, fingerprint, status, body from idempotency_keys
     where workspace_id = $1 and key = $2 and bucket = $4 and created_at >= $3`,
    [workspaceId, key, since, bucketOfValue(workspaceId, key)],
  );
  return row;
}

/**
 * Records answers beside what they acknowledge; an answer older than `expiredBefore` makes room.
 *
 * @returns the keys recorded: a missing one was used by another request meanwhile.
 */
export async function insertAnswers(
  tx: Transaction,
  workspaceId: number,
  answers: readonly RecordedAnswer[],
  now: Date,
  expiredBefore: Date,
): Promise<string[]> {
  const keys = answers.map((answer) => answer.key);
  const buckets = bucketsOfValues(workspaceId, keys);
  // Apart from the insert: a Citus passes no parameter on to the condition of a conflict.
  const makesRoom = tx.query(
    `delete from idempotency_keys
     where workspace_id = $1 and key = any($2::text[]) and bucket = any($4::smallint[])
       and created_at < $3`,
    [workspaceId, keys, expiredBefore, buckets.all],
  );
  const inserted = tx.query<{ key: string }>(
    `insert into idempotency_keys (workspace_id, bucket, key, fingerprint, status, body, created_at)
     select $1, bucket, key, fingerprint, status, body::jsonb, $6
     from buckets join unnest($2::text[], $3::text[], $4::int[], $5::text[], $7::smallint[])
       as new (key, fingerprint, status, body, bucket) using (bucket)
     where bucket = any($8::smallint[])
     order by key
     on conflict (workspace_id, key, bucket) do nothing returning key`,
    [
      workspaceId,
      keys,
      answers.map((answer) => answer.fingerprint),
      answers.map((answer) => answer.status),
      answers.map((answer) => JSON.stringify(answer.body)),
      now,
      buckets.each,
      buckets.all,
    ],
  );
  const [rows] = await settleAll([inserted, makesRoom]);
  return rows.map((row) => row.key);
}

export async function deleteAnswersBefore(database: Queryable, time: Date): Promise<void> {
  await database.query("delete from idempotency_keys where created_at < $1", [time]);
}

/** Forgets every response of a workspace: its keys are free, and no personal data remains. */
export async function deleteAllAnswers(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("delete from idempotency_keys where workspace_id = $1", [workspaceId]);
}
