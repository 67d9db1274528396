import type { Queryable } from "../../core/database/database.ts";
import { type BatchPlace, PLACE } from "../../core/people/changes/store.ts";

export interface PersonBatch extends BatchPlace {
  readonly body: string;
}

interface PersonBatches {
  readonly bucket: number;
  readonly epoch: number;
  readonly after: number;
  readonly tag: number;
  readonly since: Date | undefined;
  /** Only changes before this time, or at this time and a lower position. */
  readonly until: Pick<BatchPlace, "writtenAt" | "position"> | undefined;
  readonly limit: number;
}

/** Batches that may name a user, by their time, the newest first. */
export const selectPersonBatches = (
  database: Queryable,
  workspaceId: number,
  { bucket, epoch, after, tag, since, until, limit }: PersonBatches,
) =>
  database.query<PersonBatch>(
    `select ${PLACE}, body from change_batches
     where workspace_id = $1 and bucket = $2::smallint and position > $3 and epoch = $4
       and people && $5::int[]
       and ($6::timestamptz is null or written_at >= $6::timestamptz)
       and ($7::timestamptz is null or (written_at, position) < ($7::timestamptz, $8::bigint))
     order by written_at desc, position desc limit $9`,
    [
      workspaceId,
      bucket,
      after,
      epoch,
      [tag],
      since ?? null,
      until?.writtenAt ?? null,
      until?.position ?? 0,
      limit,
    ],
  );

export async function selectPosition(
  database: Queryable,
  workspaceId: number,
  bucket: number,
): Promise<number> {
  const [head] = await database.query<{ position: number }>(
    "select position from change_heads where workspace_id = $1 and bucket = $2::smallint",
    [workspaceId, bucket],
  );
  return head?.position ?? 0;
}

/** When the first batch of a partition after a position was written; null if there is none. */
export async function selectOldestAfter(
  database: Queryable,
  workspaceId: number,
  { bucket, epoch, after }: { bucket: number; epoch: number; after: number },
): Promise<Date | null> {
  const [row] = await database.query<{ writtenAt: Date }>(
    `select written_at as "writtenAt" from change_batches
     where workspace_id = $1 and bucket = $2::smallint and position > $3 and epoch = $4
     order by position limit 1`,
    [workspaceId, bucket, after, epoch],
  );
  return row?.writtenAt ?? null;
}
