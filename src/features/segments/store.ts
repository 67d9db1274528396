import { erasedInSteps } from "../../core/admin/retention/retention.ts";
import type { Json } from "../../core/base/values/plain-json.ts";
import type { Queryable, Transaction } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";

export interface SegmentRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** As declared. */
  readonly filter: Json;
  readonly declared: boolean;
}

export type StoredSegment = SegmentRow & { readonly createdAt: Date; readonly updatedAt: Date };

const SEGMENT = `segment_id as id, name, description, to_jsonb(tags) as tags, filter, declared,
  created_at as "createdAt", updated_at as "updatedAt"`;

export const selectSegments = (database: Queryable, workspaceId: number) =>
  database.query<StoredSegment>(
    `select ${SEGMENT} from segments where workspace_id = $1 order by created_at, segment_id`,
    [workspaceId],
  );

export async function selectSegmentsById(
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
): Promise<StoredSegment[]> {
  if (ids.length === 0) return [];
  return database.query<StoredSegment>(
    `select ${SEGMENT} from segments where workspace_id = $1 and segment_id = any($2::uuid[])`,
    [workspaceId, ids],
  );
}

export type SegmentSummary = Pick<SegmentRow, "id" | "name" | "tags">;

/** Segments without their filters, the oldest first or last. */
export const selectSummaries = (
  database: Queryable,
  workspaceId: number,
  direction: "asc" | "desc",
  { offset, limit }: { readonly offset: number; readonly limit: number },
) =>
  database.query<SegmentSummary>(
    `select segment_id as id, name, to_jsonb(tags) as tags from segments where workspace_id = $1
     order by created_at ${direction}, segment_id ${direction} offset $2 limit $3`,
    [workspaceId, offset, limit],
  );

export async function upsertSegments(
  tx: Transaction,
  workspaceId: number,
  segments: readonly SegmentRow[],
  now: Date,
): Promise<void> {
  if (segments.length === 0) return;
  await tx.query(
    `insert into segments
       (workspace_id, segment_id, name, description, tags, filter, declared, created_at, updated_at)
     select $1, id, name, description, array(select jsonb_array_elements_text(tags::jsonb)),
       filter::jsonb, declared, $8, $8
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[])
       as new (id, name, description, tags, filter, declared)
     on conflict (workspace_id, segment_id) do update set name = excluded.name,
       description = excluded.description, tags = excluded.tags, filter = excluded.filter,
       declared = excluded.declared, updated_at = excluded.updated_at`,
    [
      workspaceId,
      ...listsOf(segments, "id", "name", "description"),
      segments.map(({ tags }) => JSON.stringify(tags)),
      segments.map(({ filter }) => JSON.stringify(filter)),
      segments.map(({ declared }) => declared),
      now,
    ],
  );
}

export async function deleteSegments(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const parameters = [workspaceId, ids];
  await tx.query(
    "delete from segments where workspace_id = $1 and segment_id = any($2::uuid[])",
    parameters,
  );
  await tx.query(
    "delete from segment_sizes where workspace_id = $1 and segment_id = any($2::uuid[])",
    parameters,
  );
}

export interface SizeOfDay {
  /** `2026-01-31` */
  readonly day: string;
  readonly size: number;
}

/** Records the sizes of segments on a day; recorded sizes stay. */
export async function insertSizes(
  tx: Transaction,
  workspaceId: number,
  day: string,
  sizes: readonly { readonly id: string; readonly size: number }[],
): Promise<void> {
  if (sizes.length === 0) return;
  await tx.query(
    `insert into segment_sizes (workspace_id, segment_id, day, size)
     select $1, id, $2::date, size from unnest($3::uuid[], $4::bigint[]) as new (id, size)
     on conflict do nothing`,
    [workspaceId, day, sizes.map(({ id }) => id), sizes.map(({ size }) => size)],
  );
}

export const deleteSizes = (
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
  day: string,
) =>
  tx.execute(
    `delete from segment_sizes where workspace_id = $1 and segment_id = any($2::uuid[]) and day = $3::date`,
    [workspaceId, ids, day],
  );

/** The recorded sizes of a segment from the first to the last day, both included, in their order. */
export const selectSizes = (
  database: Queryable,
  workspaceId: number,
  id: string,
  from: string,
  to: string,
) =>
  database.query<SizeOfDay>(
    `select to_char(day, 'YYYY-MM-DD') as day, size from segment_sizes
     where workspace_id = $1 and segment_id = $2 and day between $3::date and $4::date order by day`,
    [workspaceId, id, from, to],
  );

/** The recorded sizes of all segments from a day on, in the order of days. */
export const selectSizesSince = (database: Queryable, workspaceId: number, since: string) =>
  database.query<SizeOfDay & { readonly id: string }>(
    `select segment_id as id, to_char(day, 'YYYY-MM-DD') as day, size from segment_sizes
     where workspace_id = $1 and day >= $2::date order by segment_id, day`,
    [workspaceId, since],
  );

export type CountStatus = "running" | "finished" | "cancelled" | "failed";

/** An exact count, as far as it has come. */
export interface ExactCount {
  readonly id: string;
  readonly segmentId: string | null;
  readonly filter: Json;
  readonly status: CountStatus;
  /** The user after whom the count continues. */
  readonly after: string;
  /** Users counted so far, and those who meet the filter. */
  readonly total: number;
  readonly matching: number;
  /** About how many users it will have looked at. */
  readonly expected: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** Why it failed; null if it did not. */
  readonly failure: string | null;
}

const columnsOfCount = (filter: string) =>
  `count_id as id, segment_id as "segmentId", ${filter} as filter, status, after, total, matching, expected,
  started_at as "startedAt", finished_at as "finishedAt", failure`;

/** Distinguishes this lock from Rapport's others. */
const COUNTS_LOCK = 7_270_418;

/** Until the transaction ends, no other one stores a count of the workspace. */
export const lockCounts = (tx: Transaction, workspaceId: number) =>
  tx.query("select pg_advisory_xact_lock($1::int, $2::int)", [COUNTS_LOCK, workspaceId]);

/**
 * About how many bytes reading a stored filter takes, told without reading it: the stored size, or eight times that of a
 * compressed filter.
 */
const FILTER_BYTES =
  "pg_column_size(filter) * case when pg_column_compression(filter) is null then 1 else 8 end";

/** Keeps the newest counts of a segment, or of filters without one, and those that run. */
export const trimCounts = (
  tx: Transaction,
  workspaceId: number,
  segmentId: string | null,
  kept: number,
) =>
  tx.execute(
    `delete from segment_counts where workspace_id = $1 and count_id in (
       select count_id from segment_counts
       where workspace_id = $1 and segment_id is not distinct from $2::text::uuid
         and status <> 'running'
       order by finished_at desc, count_id desc offset $3)`,
    [workspaceId, segmentId, kept],
  );

/** Keeps the newest counts of a workspace, as many as have about this many bytes of filters, and those that run. */
export const trimCountedFilters = (tx: Transaction, workspaceId: number, bytes: number) =>
  tx.execute(
    `delete from segment_counts where workspace_id = $1 and count_id in (
       select count_id from (
         select count_id, sum(${FILTER_BYTES}) over (
           order by finished_at desc, count_id desc rows unbounded preceding) as bytes
         from segment_counts where workspace_id = $1 and status <> 'running'
       ) as measured where bytes > $2::bigint)`,
    [workspaceId, bytes],
  );

export const insertCount = (tx: Transaction, workspaceId: number, count: ExactCount) =>
  tx.execute(
    `insert into segment_counts (workspace_id, count_id, segment_id, filter, status, after, total,
       matching, expected, started_at, finished_at)
     values ($1, $2, $3, $4::text::jsonb, $5, $6, $7, $8, $9, $10, $11)`,
    [
      workspaceId,
      count.id,
      count.segmentId,
      JSON.stringify(count.filter),
      count.status,
      count.after,
      count.total,
      count.matching,
      count.expected,
      count.startedAt,
      count.finishedAt,
    ],
  );

export async function selectCount(database: Queryable, workspaceId: number, id: string) {
  const [row] = await database.query<ExactCount>(
    `select ${columnsOfCount("filter")} from segment_counts where workspace_id = $1 and count_id = $2`,
    [workspaceId, id],
  );
  return row;
}

/**
 * The newest counts of a workspace, or of one of its segments.
 *
 * @param filterBytes the filters of the newest counts are read up to this size together; further ones are null.
 */
export const selectCounts = (
  database: Queryable,
  workspaceId: number,
  segmentId: string | undefined,
  atMost: number,
  filterBytes: number,
) =>
  database.query<ExactCount>(
    `select ${columnsOfCount("case when bytes <= $4::bigint then filter end")} from (
       select newest.*, sum(octet_length(filter::text)) over (
         order by started_at desc, count_id desc rows unbounded preceding) as bytes
       from (
         select * from segment_counts
         where workspace_id = $1 and ($2::text is null or segment_id = $2::text::uuid)
         order by started_at desc, count_id desc limit $3
       ) as newest
     ) as measured order by started_at desc, count_id desc`,
    [workspaceId, segmentId ?? null, atMost, filterBytes],
  );

export interface CountedSize {
  readonly id: string;
  readonly total: number;
  readonly matching: number;
  readonly at: Date;
}

/** The last exact count of each segment whose filter has not changed since. */
export const selectCountedSizes = (database: Queryable, workspaceId: number) =>
  database.query<CountedSize>(
    `select distinct on (c.segment_id) c.segment_id as id, c.total, c.matching, c.finished_at as at
     from segment_counts c join segments s on s.workspace_id = c.workspace_id and s.segment_id = c.segment_id
     where c.workspace_id = $1 and c.status = 'finished' and c.filter = s.filter
     order by c.segment_id, c.finished_at desc`,
    [workspaceId],
  );

/** The counts of a workspace that have not ended, the oldest first. */
export const selectRunningIds = (database: Queryable, workspaceId: number) =>
  database.query<{ readonly id: string }>(
    `select count_id as id from segment_counts where workspace_id = $1 and status = 'running'
     order by started_at, count_id`,
    [workspaceId],
  );

/** Saves how far a count has come, unless it was cancelled. @returns whether it goes on. */
export async function updateCount(
  tx: Transaction,
  workspaceId: number,
  { id, after, total, matching }: Pick<ExactCount, "id" | "after" | "total" | "matching">,
  finishedAt: Date | null,
): Promise<boolean> {
  const rows = await tx.query(
    `update segment_counts set after = $3, total = $4, matching = $5, finished_at = $6,
       expected = greatest(expected, $4),
       status = case when $6::timestamptz is null then status else 'finished' end
     where workspace_id = $1 and count_id = $2 and status = 'running' returning 1`,
    [workspaceId, id, after, total, matching, finishedAt],
  );
  return rows.length > 0;
}

/**
 * Ends a running count before it is done.
 *
 * @param failure why it failed; null if it was cancelled.
 * @returns whether it was running.
 */
export async function endCount(
  tx: Transaction,
  workspaceId: number,
  id: string,
  failure: string | null,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query(
    `update segment_counts set finished_at = $3, failure = $4,
       status = case when $4::text is null then 'cancelled' else 'failed' end
     where workspace_id = $1 and count_id = $2 and status = 'running' returning 1`,
    [workspaceId, id, now, failure],
  );
  return rows.length > 0;
}

/** Deletes counts that ended before a time, and sizes of days before it. */
export async function deleteOldCounts(
  database: Queryable,
  endedBefore: Date,
  sizesBefore: Date,
): Promise<void> {
  await database.query("delete from segment_counts where finished_at < $1", [endedBefore]);
  await database.query("delete from segment_sizes where day < $1::timestamptz::date", [
    sizesBefore,
  ]);
}

/** Counts of a reset workspace would describe users who no longer exist. */
export async function deleteAllSizes(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("delete from segment_counts where workspace_id = $1", [workspaceId]);
  await tx.query("delete from segment_sizes where workspace_id = $1", [workspaceId]);
}

/** Deletes the rows whose filter names an erased person: in steps of at most 1,000 and about 1 MB of filters. */
export const deletingFiltersOf = (table: string, id: string) =>
  erasedInSteps(
    `with step as (
       select ${id}, filter from (
         select ${id}, filter, sum(${FILTER_BYTES}) over (order by ${id} rows unbounded preceding)
           - ${FILTER_BYTES} as bytes_before
         from (
           select ${id}, filter from ${table}
           where workspace_id = $1 and ${id} > $3::uuid order by ${id} limit 1000
         ) as next
       ) as measured where bytes_before < 1048576
     ), erased as (
       delete from ${table} where workspace_id = $1 and ${id} in (
         select ${id} from step where filter::text ~* any($2::text[]))
     )
     select ${id} as last from step order by ${id} desc limit 1`,
  );

export const deleteCountsNaming = deletingFiltersOf("segment_counts", "count_id");
