import { addressForm } from "../../base/values/address-form.ts";
import { bucketOfId, bucketsOfIds } from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { uuids } from "../../database/parameters/typed-list.ts";
import { type MergeRecord, readRecord } from "./merge-record.ts";

/* The records of merges, which an undo reads. Each has the id and the bucket of its entry in the audit. */

export interface NewRecord {
  readonly mergeId: string;
  readonly keptId: string;
  /** JSON. */
  readonly body: string;
}

/** The piece of records that earlier versions wrote: what the writes of the merge had found out. */
const LATE_PIECE = -1;

/** About as many characters as one statement takes; a single record may be larger. */
const MOST_CHARACTERS = 1_048_576;

/** About as many bytes of records as are read at a time; a single record may be larger. */
const MOST_BYTES = 4 * 1_048_576;

const SEPARATOR = "\u001e";

export async function insertRecords(
  tx: Transaction,
  workspaceId: number,
  records: readonly NewRecord[],
): Promise<void> {
  for (const some of writtenTogether(records)) await insertTogether(tx, workspaceId, some);
}

const writtenTogether = <Written extends { readonly body: string }>(records: readonly Written[]) =>
  portionsOf(records, ({ body }) => body.length, MOST_CHARACTERS);

/** Records in portions of about this size, in their order. */
function* portionsOf<Each>(
  records: readonly Each[],
  sizeOf: (record: Each) => number,
  most: number,
): Generator<Each[]> {
  let together: Each[] = [];
  let size = 0;
  for (const record of records) {
    if (together.length > 0 && size + sizeOf(record) > most) {
      yield together;
      [together, size] = [[], 0];
    }
    together.push(record);
    size += sizeOf(record);
  }
  if (together.length > 0) yield together;
}

async function insertTogether(
  tx: Transaction,
  workspaceId: number,
  records: readonly NewRecord[],
): Promise<void> {
  const buckets = bucketsOfIds(records.map(({ keptId }) => keptId));
  // One text for all of them, divided at a character that JSON escapes: no side parses or escapes it.
  await tx.query(
    `insert into merge_records (workspace_id, bucket, merge_id, piece, body)
     select $1, bucket, id, 0, body
     from buckets join rows from (unnest($2::uuid[]), unnest($3::smallint[]), unnest(string_to_array($5::text, chr(30))))
       as new (id, bucket, body) using (bucket)
     where bucket = any($4::smallint[])`,
    [
      workspaceId,
      uuids(records.map(({ mergeId }) => mergeId)),
      buckets.each,
      buckets.all,
      records.map(({ body }) => body).join(SEPARATOR),
    ],
  );
}

/** Adds a piece to a record. @param piece from 1. @param body JSON. */
export const insertPiece = (
  tx: Transaction,
  workspaceId: number,
  { mergeId, keptId, body }: NewRecord,
  piece: number,
) =>
  tx.execute(
    `insert into merge_records (workspace_id, bucket, merge_id, piece, body)
     select $1, bucket, $2::uuid, $3::int, $4::text from buckets where bucket = $5::smallint`,
    [workspaceId, mergeId, piece, body, bucketOfId(keptId)],
  );

/** What names a record. */
export interface RecordPlace {
  readonly mergeId: string;
  readonly keptId: string;
}

const OF_RECORD = "workspace_id = $1 and merge_id = $2::uuid and bucket = $3::smallint";

const ofRecord = (workspaceId: number, { mergeId, keptId }: RecordPlace) => [
  workspaceId,
  mergeId,
  bucketOfId(keptId),
];

const OF_RECORDS =
  "workspace_id = $1 and merge_id = any($2::uuid[]) and bucket = any($3::smallint[])";

const ofRecords = (workspaceId: number, places: readonly RecordPlace[]) => [
  workspaceId,
  places.map(({ mergeId }) => mergeId),
  bucketsOfIds(places.map(({ keptId }) => keptId)).all,
];

/** The same for records whose buckets are known. */
const inBuckets = (
  workspaceId: number,
  records: readonly { readonly mergeId: string; readonly bucket: number }[],
) => [
  workspaceId,
  records.map(({ mergeId }) => mergeId),
  [...new Set(records.map(({ bucket }) => bucket))],
];

export interface StoredRecord {
  readonly mergeId: string;
  readonly ended: "deleted" | "erased" | null;
  /** Null once it has ended. */
  readonly body: MergeRecord | null;
}

type Raw = Omit<StoredRecord, "body"> & { readonly piece: number; readonly body: string | null };

/** The records of these merges that are still there; none of its pieces. */
export async function selectRecords(
  database: Queryable,
  workspaceId: number,
  places: readonly RecordPlace[],
): Promise<StoredRecord[]> {
  if (places.length === 0) return [];
  const rows = await database.query<Raw>(
    `select merge_id as "mergeId", ended, piece, body from merge_records
     where ${OF_RECORDS} and piece <= 0`,
    ofRecords(workspaceId, places),
  );
  const late = new Map(
    rows.flatMap(({ mergeId, piece, body }) =>
      piece === LATE_PIECE && body !== null ? [[mergeId, body]] : [],
    ),
  );
  return rows.flatMap(({ mergeId, ended, piece, body }) => {
    if (piece === LATE_PIECE) return [];
    return [{ mergeId, ended, body: body === null ? null : readRecord(body, late.get(mergeId)) }];
  });
}

/** The same, in the order of the merges and a few megabytes at a time. */
export async function* readRecords(
  database: Queryable,
  workspaceId: number,
  places: readonly RecordPlace[],
): AsyncGenerator<StoredRecord[]> {
  const sizes = await selectRecordBytes(database, workspaceId, places);
  const sizeOf = ({ mergeId }: RecordPlace) => sizes.get(mergeId) ?? 0;
  for (const some of portionsOf(places, sizeOf, MOST_BYTES)) {
    const records = await selectRecords(database, workspaceId, some);
    const byId = new Map(records.map((record) => [record.mergeId, record]));
    yield some.flatMap(({ mergeId }) => byId.get(mergeId) ?? []);
  }
}

/** How many bytes the records of these merges have, without their pieces. */
export async function selectRecordBytes(
  database: Queryable,
  workspaceId: number,
  places: readonly RecordPlace[],
): Promise<ReadonlyMap<string, number>> {
  if (places.length === 0) return new Map();
  return bytesOf(database, ofRecords(workspaceId, places), "piece <= 0");
}

async function bytesOf(
  database: Queryable,
  parameters: readonly unknown[],
  which: "piece <= 0" | "true",
): Promise<ReadonlyMap<string, number>> {
  const rows = await database.query<{ id: string; bytes: number }>(
    `select merge_id as id, sum(octet_length(body))::bigint as bytes from merge_records
     where ${OF_RECORDS} and ${which} and body is not null group by merge_id`,
    parameters,
  );
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
}

/** A piece, as rows in JSON; undefined if there is no such piece. */
export async function selectPiece(
  database: Queryable,
  workspaceId: number,
  place: RecordPlace,
  piece: number,
): Promise<string[] | undefined> {
  const rows = await database.query<{ row: string }>(
    `select json_array_elements(body::json)::text as row from merge_records where ${OF_RECORD} and piece = $4`,
    [...ofRecord(workspaceId, place), piece],
  );
  return rows.length > 0 ? rows.map(({ row }) => row) : undefined;
}

/** Replaces records of merges into one profile, with all that each has. */
export async function updateRecords(
  tx: Transaction,
  workspaceId: number,
  keptId: string,
  records: readonly { readonly mergeId: string; readonly body: MergeRecord }[],
): Promise<void> {
  const bodies = records.map(({ mergeId, body }) => ({ mergeId, body: JSON.stringify(body) }));
  for (const some of writtenTogether(bodies)) {
    const own = [workspaceId, some.map(({ mergeId }) => mergeId), bucketOfId(keptId)];
    const these = "workspace_id = $1 and merge_id = any($2::uuid[]) and bucket = $3::smallint";
    await tx.query(`delete from merge_records where ${these} and piece = ${LATE_PIECE}`, own);
    await tx.query(
      `update merge_records r set body = new.body from unnest($2::uuid[], $4::text[]) as new (id, body)
       where ${these} and merge_id = new.id and piece = 0 and ended is null`,
      [...own, some.map(({ body }) => body)],
    );
  }
}

/** Deletes a record with its pieces. @returns whether it was there, and had not ended. */
export async function deleteRecord(
  tx: Transaction,
  workspaceId: number,
  place: RecordPlace,
): Promise<boolean> {
  const rows = await tx.query<{ piece: number }>(
    `delete from merge_records where ${OF_RECORD} and ended is null returning piece`,
    ofRecord(workspaceId, place),
  );
  return rows.some(({ piece }) => piece === 0);
}

/** The merges of these users, which were recorded and not undone. */
const selectPlaces = (database: Queryable, workspaceId: number, mergedIds: readonly string[]) =>
  database.query<RecordPlace>(
    `select audit_id as "mergeId", profile_id as "keptId" from identity_audit
     where workspace_id = $1 and merged_profile_id = any($2::uuid[]) and recorded and undone_at is null`,
    [workspaceId, mergedIds],
  );

/**
 * Empties the records of merges: nothing that they hold is kept.
 *
 * @param mergedIds the users who were merged.
 */
export async function endRecords(
  tx: Transaction,
  workspaceId: number,
  mergedIds: readonly string[],
): Promise<void> {
  if (mergedIds.length === 0) return;
  const places = await selectPlaces(tx, workspaceId, mergedIds);
  const records = places.map(({ mergeId, keptId }) => ({ mergeId, bucket: bucketOfId(keptId) }));
  await emptyRecords(tx, workspaceId, records, "deleted");
}

/** @returns the records that were still there; without the others an undo may have brought a user back. */
export async function emptyRecords(
  tx: Transaction,
  workspaceId: number,
  records: readonly Pick<FoundRecord, "mergeId" | "bucket">[],
  ended: "deleted" | "erased",
): Promise<ReadonlySet<string>> {
  if (records.length === 0) return new Set();
  const parameters = inBuckets(workspaceId, records);
  await tx.query(`delete from merge_records where ${OF_RECORDS} and piece <> 0`, parameters);
  const emptied = await tx.query<{ id: string }>(
    `update merge_records set body = null, ended = coalesce(ended, $4) where ${OF_RECORDS}
     returning merge_id as id`,
    [...parameters, ended],
  );
  return new Set(emptied.map(({ id }) => id));
}

/** A record as an eraser and a sweeper see it. */
export interface FoundRecord {
  readonly mergeId: string;
  readonly bucket: number;
  readonly mergedId: string | null;
  /** Whether events of the merged user were left where they are. */
  readonly isPartial: boolean;
}

/**
 * A page of records, the oldest first, which have a few megabytes together. A record is named if one of its pieces is.
 *
 * @returns none only if there are no more.
 */
export async function selectRecordsAfter(
  database: Queryable,
  workspaceId: number,
  {
    after,
    before,
    patterns,
    limit,
  }: {
    readonly after: string;
    /** An id that is higher than all of them. */
    readonly before: string;
    /** Those that name someone: see `Mentions`. Without them none is looked for. */
    readonly patterns: readonly string[];
    readonly limit: number;
  },
): Promise<(FoundRecord & { readonly isNamed: boolean })[]> {
  const next = await database.query<Pick<FoundRecord, "mergeId" | "bucket">>(
    `select merge_id as "mergeId", bucket from merge_records
     where workspace_id = $1 and piece = 0 and merge_id > $2::uuid and merge_id < $3::uuid
     order by merge_id limit $4`,
    [workspaceId, after, before, limit],
  );
  if (next.length === 0) return [];
  const sizes = await bytesOf(database, inBuckets(workspaceId, next), "true");
  const sizeOf = ({ mergeId }: (typeof next)[number]) => sizes.get(mergeId) ?? 0;
  const [first = []] = portionsOf(next, sizeOf, MOST_BYTES);
  return database.query(
    `select merge_id as "mergeId", bucket, r.body::json->'merged'->>'id' as "mergedId",
       coalesce(r.body::json->>'extent' = 'tokens_and_messages', false) as "isPartial",
       coalesce($4::text[] <> '{}' and exists (
         select from merge_records p where p.workspace_id = $1 and p.merge_id = r.merge_id
           and p.bucket = r.bucket and p.body ~* any($4::text[])), false) as "isNamed"
     from merge_records r where ${OF_RECORDS} and piece = 0 order by merge_id`,
    [...inBuckets(workspaceId, first), patterns],
  );
}

/** The same by bucket, where the kept user is not known. @returns the number of rows; none if an undo was faster. */
export const deleteFound = (
  tx: Transaction,
  workspaceId: number,
  { mergeId, bucket }: FoundRecord,
) =>
  tx.execute(
    "delete from merge_records where workspace_id = $1 and merge_id = $2::uuid and bucket = $3::smallint",
    [workspaceId, mergeId, bucket],
  );

/** Those among these workspaces that have records. */
export async function selectRecording(database: Queryable): Promise<number[]> {
  const rows = await database.query<{ id: number }>(
    "select distinct workspace_id as id from merge_records",
  );
  return rows.map(({ id }) => id);
}

export const deleteAllRecords = (tx: Transaction, workspaceId: number) =>
  tx.execute("delete from merge_records where workspace_id = $1", [workspaceId]);

/** How many of the latest records are searched for a name, and their bytes: a merge that went wrong is a recent one. */
const SEARCHED_RECORDS = 10_000;
const SEARCHED_BYTES = 32 * 1_048_576;

/** The merged users of recent records who had this external_id, alias name, address or number. @param email the form of the name as an address. */
export async function selectMergedNamed(
  database: Queryable,
  workspaceId: number,
  name: string,
  email: string,
  limit: number,
): Promise<string[]> {
  const named = `coalesce($2::text in (fields->'fields'->>'externalId', fields->'fields'->>'email', fields->'fields'->>'phone')
       or lower(fields->'fields'->>'email') = $3::text, false)
       or exists (select from json_array_elements(coalesce(fields->'fields'->'aliases', '[]')) as alias
         where alias->>'alias_name' = $2::text)`;
  const rows = await database.query<{ id: string; email: string | null }>(
    `select fields->>'id' as id, case when not ${named} then fields->'fields'->>'email' end as email from (
       select body::json->'merged' as fields from (
         select body, sum(octet_length(body)) over (order by merge_id desc) - octet_length(body) as bytes_before from (
           select merge_id, body from merge_records
           where workspace_id = $1 and piece = 0 and body is not null order by merge_id desc limit ${SEARCHED_RECORDS}
         ) as latest
       ) as measured where bytes_before < ${SEARCHED_BYTES}
     ) as searched
     where ${named} or octet_length(fields->'fields'->>'email') > length(fields->'fields'->>'email')
       or fields->'fields'->>'email' ilike '%xn--%'`,
    [workspaceId, name, email],
  );
  // SQL knows no punycode and folds no letters beyond ASCII.
  const found = rows.filter((row) => row.email === null || addressForm(row.email) === email);
  return found.slice(0, limit).map(({ id }) => id);
}
