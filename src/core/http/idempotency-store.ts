import type { Mentions } from "../base/mentions.ts";
import { bucketOfValue, bucketsOfValues } from "../database/buckets.ts";
import { type Queryable, settleAll, type Transaction } from "../database/database.ts";

export interface RecordedAnswer {
  readonly key: string;
  readonly fingerprint: string;
  readonly status: number;
  readonly body: unknown;
}

export interface NewAnswer extends RecordedAnswer {
  readonly namesPeople: boolean;
}

/** The status of an answer that named a person who was erased since. */
export const ERASED = 0;

/** The answer that a key got after `since`, if any. */
export async function selectAnswer(
  database: Queryable,
  workspaceId: number,
  key: string,
  since: Date,
) {
  const [row] = await database.query<RecordedAnswer>(
    `select key, fingerprint, status, body from idempotency_keys
     where workspace_id = $1 and key = $2 and bucket = $4 and created_at >= $3`,
    [workspaceId, key, since, bucketOfValue(workspaceId, key)],
  );
  return row;
}

/**
 * Records responses beside the writes they acknowledge; replaces a response older than
 * `expiredBefore`.
 *
 * @returns the keys recorded: a missing one was used by another request meanwhile.
 */
export async function insertAnswers(
  tx: Transaction,
  workspaceId: number,
  answers: readonly NewAnswer[],
  now: Date,
  expiredBefore: Date,
): Promise<string[]> {
  const keys = answers.map((answer) => answer.key);
  const buckets = bucketsOfValues(workspaceId, keys);
  // Apart from the insert: a Citus passes no parameter on to the condition of a conflict. The times are
  // subtracted, so that an engine that plans for few rows cannot go by the index of times instead of by key.
  const replaced = tx.query(
    `delete from idempotency_keys
     where workspace_id = $1 and key = any($2::text[]) and bucket = any($4::smallint[])
       and $3::timestamptz - created_at > interval '0'`,
    [workspaceId, keys, expiredBefore, buckets.all],
  );
  const inserted = tx.query<{ key: string }>(
    `insert into idempotency_keys
       (workspace_id, bucket, key, fingerprint, status, body, created_at, names_people)
     select $1, bucket, key, fingerprint, status, body::jsonb, $6, names_people
     from buckets join unnest($2::text[], $3::text[], $4::int[], $5::text[], $7::smallint[], $9::bool[])
       as new (key, fingerprint, status, body, bucket, names_people) using (bucket)
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
      answers.map((answer) => answer.namesPeople),
    ],
  );
  const [rows] = await settleAll([inserted, replaced]);
  return rows.map((row) => row.key);
}

export const deleteAnswersBefore = (database: Queryable, time: Date) =>
  database.execute("delete from idempotency_keys where created_at < $1", [time]);

/** Forgets every response of a workspace: its keys are free, and no personal data remains. */
export const deleteAllAnswers = (tx: Transaction, workspaceId: number) =>
  tx.execute("delete from idempotency_keys where workspace_id = $1", [workspaceId]);

const ANSWERS_AT_ONCE = 200;

/** Removes the bodies that name an erased person, in steps; the keys stay, so that a retry still changes nothing. */
export async function eraseAnswers(
  tx: Transaction,
  workspaceId: number,
  { mentions, since }: { readonly mentions: Mentions; readonly since: Date },
  after = "",
): Promise<string | undefined> {
  const page = await tx.query<{ key: string; isNaming: boolean }>(
    `select key, body::text ~* any($5::text[]) as "isNaming" from idempotency_keys
     where workspace_id = $1 and names_people and key > $2 and created_at >= $3
     order by key limit $4`,
    [workspaceId, after, since, ANSWERS_AT_ONCE, mentions.patterns],
  );
  const keys = page.filter(({ isNaming }) => isNaming).map(({ key }) => key);
  if (keys.length > 0) {
    await tx.query(
      `update idempotency_keys set body = 'null'::jsonb, status = ${ERASED}, names_people = false
       where workspace_id = $1 and key = any($2::text[]) and bucket = any($3::smallint[])`,
      [workspaceId, keys, bucketsOfValues(workspaceId, keys).all],
    );
  }
  return page.length === ANSWERS_AT_ONCE ? page.at(-1)?.key : undefined;
}
