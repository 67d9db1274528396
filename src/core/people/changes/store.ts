import { bucketsOfIds, OF_PROFILES } from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { smallints, uuids } from "../../database/parameters/typed-list.ts";
import { PARTITION_BUCKETS } from "./partitions.ts";

const ALL_PARTITIONS = smallints(PARTITION_BUCKETS);

export interface BatchRow {
  readonly bucket: number;
  readonly batchId: string;
  readonly count: number;
  /** How many changes of the transaction follow these in the partition. */
  readonly behind: number;
  readonly bytes: number;
  readonly behindBytes: number;
  readonly people: readonly number[];
  readonly body: string;
}

/**
 * Moves the heads of partitions forward, and locks them until the transaction ends: in one order,
 * so that transactions never deadlock. The added changes have positions up to the new head.
 */
export async function addToHeads(
  tx: Transaction,
  workspaceId: number,
  batches: readonly BatchRow[],
): Promise<void> {
  const sums = new Map<number, { count: number; bytes: number }>();
  for (const { bucket, count, bytes } of batches) {
    const sum = sums.get(bucket) ?? { count: 0, bytes: 0 };
    sum.count += count;
    sum.bytes += bytes;
    sums.set(bucket, sum);
  }
  await moveHeads(tx, workspaceId, sums);
}

async function moveHeads(
  tx: Transaction,
  workspaceId: number,
  sums: ReadonlyMap<number, { readonly count: number; readonly bytes: number }>,
): Promise<void> {
  const values = [...sums.values()];
  await tx.query(
    `insert into change_heads (workspace_id, bucket, position, bytes)
     select $1, bucket, new.count, new.bytes
     from buckets join unnest($2::smallint[], $3::int[], $4::int[])
       as new (bucket, count, bytes) using (bucket)
     where bucket = any($2::smallint[])
     order by bucket
     on conflict (workspace_id, bucket) do update
       set position = change_heads.position + excluded.position,
         bytes = change_heads.bytes + excluded.bytes`,
    [
      workspaceId,
      smallints([...sums.keys()]),
      values.map(({ count }) => count),
      values.map(({ bytes }) => bytes),
    ],
  );
}

/** Leaves a gap after all changes so far, so that readers learn that something is missing. */
export const skipPositions = (tx: Transaction, workspaceId: number): Promise<void> =>
  moveHeads(
    tx,
    workspaceId,
    new Map(PARTITION_BUCKETS.map((bucket) => [bucket, { count: 1, bytes: 0 }])),
  );

/** Writes batches, after `addToHeads` of the same transaction. */
export async function insertBatches(
  tx: Transaction,
  workspaceId: number,
  batches: readonly BatchRow[],
  { epoch, writtenAt }: { readonly epoch: number; readonly writtenAt: Date },
): Promise<void> {
  const each = smallints(batches.map(({ bucket }) => bucket));
  await tx.query(
    `insert into change_batches (workspace_id, bucket, position, count, batch_id, epoch, written_at,
       bytes, people, body)
     select $1, bucket, head.position - new.behind, new.count, new.batch_id, $10, $11,
       head.bytes - new.behind_bytes, new.people::int[], new.body
     from change_heads head
       join unnest($2::smallint[], $3::int[], $4::int[], $5::int[], $6::uuid[], $7::text[],
           string_to_array($8, chr(10)))
         as new (bucket, count, behind, behind_bytes, batch_id, people, body) using (bucket)
     where head.workspace_id = $1 and bucket = any($9::smallint[])`,
    [
      workspaceId,
      each,
      batches.map(({ count }) => count),
      batches.map(({ behind }) => behind),
      batches.map(({ behindBytes }) => behindBytes),
      uuids(batches.map(({ batchId }) => batchId)),
      batches.map(({ people }) => `{${people.join()}}`),
      // JSON contains no line breaks, so a line break separates changes. An array would escape
      // every quote: two thirds of what this statement took.
      batches.map(({ body }) => body).join("\n"),
      smallints([...new Set(batches.map(({ bucket }) => bucket))]),
      epoch,
      writtenAt,
    ],
  );
}

export async function insertErased(
  tx: Transaction,
  workspaceId: number,
  profileIds: readonly string[],
  erasedAt: Date,
): Promise<void> {
  if (profileIds.length === 0) return;
  const buckets = bucketsOfIds(profileIds);
  await tx.query(
    `insert into erased_people (workspace_id, bucket, profile_id, erased_at)
     select $1, bucket, profile_id, $5
     from buckets join unnest($2::uuid[], $3::smallint[]) as new (profile_id, bucket) using (bucket)
     where bucket = any($4::smallint[])
     on conflict do nothing`,
    [workspaceId, uuids(profileIds), buckets.each, buckets.all, erasedAt],
  );
}

/** Which of these users were deleted. */
export async function selectErased(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
): Promise<string[]> {
  if (profileIds.length === 0) return [];
  const rows = await database.query<{ id: string }>(
    `select profile_id as id from erased_people
     where ${OF_PROFILES}`,
    [workspaceId, uuids(profileIds), bucketsOfIds(profileIds).all],
  );
  return rows.map(({ id }) => id);
}

export interface Head {
  readonly workspaceId: number;
  readonly bucket: number;
  readonly position: number;
}

/** The heads of workspaces. A partition without changes so far has none. */
export const selectHeads = (database: Queryable, workspaceIds: readonly number[]) =>
  database.query<Head>(
    `select workspace_id as "workspaceId", bucket, position from change_heads
     where workspace_id = any($1::int[]) and bucket = any($2::smallint[])`,
    [workspaceIds, ALL_PARTITIONS],
  );

/** The workspaces that have, or had, changes. */
export async function selectRecorded(database: Queryable): Promise<number[]> {
  const rows = await database.query<{ workspaceId: number }>(
    'select distinct workspace_id as "workspaceId" from change_heads',
  );
  return rows.map(({ workspaceId }) => workspaceId);
}

export interface BatchPlace {
  readonly bucket: number;
  readonly position: number;
  readonly count: number;
  readonly epoch: number;
  readonly batchId: string;
  readonly writtenAt: Date;
  readonly length: number;
}

export const PLACE = `bucket, position, count, epoch, batch_id as "batchId", written_at as "writtenAt",
  octet_length(body) as length`;

export const selectBatches = (
  database: Queryable,
  workspaceId: number,
  { bucket, after, limit }: { bucket: number; after: number; limit: number },
) =>
  database.query<BatchPlace>(
    `select ${PLACE} from change_batches
     where workspace_id = $1 and bucket = $2::smallint and position > $3
     order by position limit $4`,
    [workspaceId, bucket, after, limit],
  );

/** The oldest batch of a partition since the feed was turned on. */
export async function selectOldest(
  database: Queryable,
  workspaceId: number,
  bucket: number,
  epoch: number,
) {
  const [row] = await database.query<BatchPlace>(
    `select ${PLACE} from change_batches
     where workspace_id = $1 and bucket = $2::smallint and epoch = $3
     order by position limit 1`,
    [workspaceId, bucket, epoch],
  );
  return row;
}

/** The position before the first batch of a partition that was written at a time or later. */
export async function selectPositionAt(
  database: Queryable,
  workspaceId: number,
  { bucket, time, epoch }: { bucket: number; time: Date; epoch: number },
): Promise<number | undefined> {
  const [row] = await database.query<{ position: number }>(
    `select position - count as position from change_batches
     where workspace_id = $1 and bucket = $2::smallint and epoch = $3 and written_at >= $4
     order by position limit 1`,
    [workspaceId, bucket, epoch, time],
  );
  return row?.position;
}

export async function selectBodies(
  database: Queryable,
  workspaceId: number,
  places: readonly Pick<BatchPlace, "bucket" | "position">[],
): Promise<{ bucket: number; position: number; body: string }[]> {
  if (places.length === 0) return [];
  return database.query(
    `select bucket, position, body from change_batches
     where workspace_id = $1 and bucket = any($2::smallint[]) and position = any($3::bigint[])
       and (bucket, position) in (select * from unnest($4::smallint[], $3::bigint[]))`,
    [
      workspaceId,
      smallints([...new Set(places.map(({ bucket }) => bucket))]),
      places.map(({ position }) => position),
      smallints(places.map(({ bucket }) => bucket)),
    ],
  );
}

/** The latest batches of a partition that may name one of these users, the newest first. */
export const selectBatchesAbout = (
  database: Queryable,
  workspaceId: number,
  {
    bucket,
    tags,
    before,
    limit,
  }: { bucket: number; tags: readonly number[]; before: number; limit: number },
) =>
  database.query<BatchPlace & { body: string }>(
    `select ${PLACE}, body from change_batches
     where workspace_id = $1 and bucket = $2::smallint and position < $3 and people && $4::int[]
     order by position desc limit $5`,
    [workspaceId, bucket, before, tags, limit],
  );

export async function deleteAllRecorded(tx: Transaction, workspaceId: number): Promise<void> {
  await skipPositions(tx, workspaceId);
  await tx.query("delete from change_batches where workspace_id = $1", [workspaceId]);
  await tx.query("delete from erased_people where workspace_id = $1", [workspaceId]);
}

/** Batches that are to be deleted. */
interface OldPart {
  readonly until: number;
  /** How many batches, and how many changes they have. */
  readonly count: number;
  readonly changes: number;
  /** Whether any of them only takes too much space. */
  readonly isOversize: boolean;
}

interface OldBatches {
  readonly bucket: number;
  readonly before: Date;
  /** The bounds of a partition. */
  readonly mostBytes: number;
  readonly limit: number;
}

/** How far the oldest batches are to be deleted; null if none are. */
export async function selectOldBatches(
  database: Queryable,
  workspaceId: number,
  { bucket, before, mostBytes, limit }: OldBatches,
): Promise<OldPart | null> {
  const [head] = await database.query<{ bytes: number }>(
    "select bytes from change_heads where workspace_id = $1 and bucket = $2::smallint",
    [workspaceId, bucket],
  );
  if (!head) return null;
  const rows = await database.query<{
    position: number;
    changes: number;
    writtenAt: Date;
    bytes: number;
  }>(
    `select position, count as changes, written_at as "writtenAt", bytes from change_batches
     where workspace_id = $1 and bucket = $2::smallint order by position limit $3`,
    [workspaceId, bucket, limit],
  );
  const isOld = ({ writtenAt, bytes }: (typeof rows)[number]) =>
    writtenAt < before || bytes < head.bytes - mostBytes;
  const end = rows.findIndex((row) => !isOld(row));
  const count = end < 0 ? rows.length : end;
  const part = rows.slice(0, count);
  const last = part.at(-1);
  if (!last) return null;
  return {
    until: last.position,
    count,
    changes: part.reduce((sum, { changes }) => sum + changes, 0),
    isOversize: part.some(({ writtenAt }) => writtenAt >= before),
  };
}

/** Changes of a partition that were written since a time, in order. */
export const selectBodiesAfter = (
  database: Queryable,
  workspaceId: number,
  { bucket, after, since, limit }: { bucket: number; after: number; since: Date; limit: number },
): Promise<{ position: number; body: string }[]> =>
  database.query(
    `select position, body from change_batches
     where workspace_id = $1 and bucket = $2::smallint and position > $3 and written_at >= $4
     order by position limit $5`,
    [workspaceId, bucket, after, since, limit],
  );

export const deleteBatches = (
  tx: Transaction,
  workspaceId: number,
  bucket: number,
  until: number,
) =>
  tx.execute(
    "delete from change_batches where workspace_id = $1 and bucket = $2::smallint and position <= $3",
    [workspaceId, bucket, until],
  );

/** Up to a number of users whose changes are to be deleted. */
export async function selectAllErased(
  database: Queryable,
  workspaceId: number,
  limit: number,
): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    "select profile_id as id from erased_people where workspace_id = $1 order by profile_id limit $2",
    [workspaceId, limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Removes users from the list of those whose changes are hidden, once their changes are deleted.
 */
export const deleteErased = (tx: Transaction, workspaceId: number, profileIds: readonly string[]) =>
  tx.execute(
    `delete from erased_people
     where ${OF_PROFILES}`,
    [workspaceId, uuids(profileIds), bucketsOfIds(profileIds).all],
  );

export const updateBody = (
  tx: Transaction,
  workspaceId: number,
  { bucket, position, body }: { bucket: number; position: number; body: string },
) =>
  tx.execute(
    `update change_batches set body = $4
     where workspace_id = $1 and bucket = $2::smallint and position = $3`,
    [workspaceId, bucket, position, body],
  );
