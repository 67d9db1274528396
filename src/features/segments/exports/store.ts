import type { Json } from "../../../core/base/values/plain-json.ts";
import type { Queryable, Transaction } from "../../../core/database/database.ts";
import type { BucketFolder } from "../../../core/outbound/bucket.ts";
import { deletingFiltersOf } from "../store.ts";

/** An export of a segment: the request, not the users. */
export interface SegmentExport {
  readonly workspaceId: number;
  readonly id: string;
  readonly segmentId: string;
  /** The segment's filter at the time of the request. */
  readonly filter: Json;
  readonly fields: readonly string[];
  readonly format: "zip" | "gzip";
  readonly prefix: string;
  /** The address to report to; null if the response was enough. */
  readonly callbackUrl: string | null;
  /** How this server was called, for the link in the report. */
  readonly baseUrl: string;
  readonly expiresAt: Date;
  /** The bucket for its files; null if it is a link. */
  readonly bucket: BucketFolder | null;
  /** The hash of the secret that asked for it, and the address of that call; null from earlier versions. */
  readonly makerHash: string | null;
  readonly makerAddress: string | null;
}

export interface StoredExport extends SegmentExport {
  /** The last user that is in the files written so far. */
  readonly after: string;
  readonly files: number;
  readonly users: number;
  /** Why it failed; null if it did not. */
  readonly failure: string | null;
}

const EXPORT = `workspace_id as "workspaceId", export_id as id, segment_id as "segmentId", filter,
  to_jsonb(fields) as fields, format, prefix, callback_url as "callbackUrl", base_url as "baseUrl",
  expires_at as "expiresAt", written_to as bucket, after, files, users, failure,
  maker_hash as "makerHash", maker_address as "makerAddress"`;

/**
 * @param tokenHash the hash of the link's token; a report has its own link, because only the hash
 * of the first is stored. Null for
 *   an export into a bucket.
 */
export const insertExport = (
  tx: Transaction,
  each: SegmentExport,
  tokenHash: string | null,
  now: Date,
) =>
  tx.execute(
    `insert into segment_exports (workspace_id, export_id, segment_id, filter, fields, format, prefix,
       callback_url, base_url, token_hashes, is_running, created_at, expires_at, written_to,
       maker_hash, maker_address)
     values ($1, $2, $3, $4::text::jsonb, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::text::jsonb, $15, $16)`,
    [
      each.workspaceId,
      each.id,
      each.segmentId,
      JSON.stringify(each.filter),
      each.fields,
      each.format,
      each.prefix,
      each.callbackUrl,
      each.baseUrl,
      tokenHash === null ? [] : [tokenHash],
      each.callbackUrl !== null || each.bucket !== null,
      now,
      each.expiresAt,
      each.bucket && JSON.stringify(each.bucket),
      each.makerHash,
      each.makerAddress,
    ],
  );

/** Distinguishes this lock from Rapport's others. */
const EXPORTS_LOCK = 7_270_417;

/** Until the transaction ends, no other one starts an export. */
export const lockExports = (tx: Transaction) =>
  tx.query("select pg_advisory_xact_lock($1::bigint)", [EXPORTS_LOCK]);

export interface RunningExport {
  readonly workspaceId: number;
  readonly segmentId: string;
  /** Whether a job writes it into a bucket; otherwise it only waits for its callback. */
  readonly isWriting: boolean;
}

export const selectRunning = (tx: Queryable, now: Date) =>
  tx.query<RunningExport>(
    `select workspace_id as "workspaceId", segment_id as "segmentId",
       written_to is not null as "isWriting" from segment_exports
     where is_running and expires_at > $1`,
    [now],
  );

export async function selectExport(tx: Queryable, workspaceId: number, id: string) {
  const [row] = await tx.query<StoredExport>(
    `select ${EXPORT} from segment_exports where workspace_id = $1 and export_id = $2`,
    [workspaceId, id],
  );
  return row;
}

export async function selectExportOf(tx: Queryable, tokenHash: string, now: Date) {
  const [row] = await tx.query<StoredExport>(
    `select ${EXPORT} from segment_exports where token_hashes @> array[$1::text] and expires_at > $2`,
    [tokenHash, now],
  );
  return row;
}

/** Counts a download. @returns whether there may be one more. */
export async function countDownload(tx: Queryable, id: string, most: number): Promise<boolean> {
  const rows = await tx.query(
    `update segment_exports set downloads = downloads + 1
     where export_id = $1 and downloads < $2 returning 1`,
    [id, most],
  );
  return rows.length > 0;
}

/** @returns whether it is the first time that somebody has read all of an export. */
export async function announceExport(tx: Transaction, id: string): Promise<boolean> {
  const rows = await tx.query(
    `update segment_exports set is_announced = true
     where export_id = $1 and not is_announced returning 1`,
    [id],
  );
  return rows.length > 0;
}

/**
 * Adds a link to an export.
 *
 * @param tokenHash the hash of the link's token.
 */
export const addToken = (tx: Queryable, id: string, tokenHash: string) =>
  tx.execute(
    "update segment_exports set token_hashes = token_hashes || $2::text where export_id = $1",
    [id, tokenHash],
  );

/** Saves that one more file of an export is in the bucket. */
export const advanceExport = (
  tx: Transaction,
  id: string,
  { after, files, users }: Pick<StoredExport, "after" | "files" | "users">,
) =>
  tx.execute(
    "update segment_exports set after = $2::uuid, files = $3, users = $4 where export_id = $1",
    [id, after, files, users],
  );

export const failExport = (tx: Transaction, id: string, failure: string) =>
  tx.execute("update segment_exports set failure = $2 where export_id = $1", [id, failure]);

export const endExport = (tx: Queryable, id: string) =>
  tx.execute("update segment_exports set is_running = false where export_id = $1", [id]);

export const deleteExpiredExports = (database: Queryable, now: Date) =>
  database.execute("delete from segment_exports where expires_at < $1", [now]);

export const deleteAllExports = (tx: Transaction, workspaceId: number) =>
  tx.execute("delete from segment_exports where workspace_id = $1", [workspaceId]);

/** Deletes the exports whose filter names an erased person: their links stop working. */
export const deleteExportsNaming = deletingFiltersOf("segment_exports", "export_id");
