import type { Dataset } from "../engines/engine.ts";

/*
 * PostgreSQL's own counters, and the sizes of tables and indexes: why an update of many users costs
 * more than one of few.
 */

/** Totals since the server's start or the last reset. */
export interface Counters {
  readonly logBytes: number;
  readonly fullPages: number;
  /** Pages that were not in the cache of PostgreSQL, or are new, by table with its indexes. */
  readonly pagesRead: Readonly<Record<string, number>>;
}

/** The tables that `track` writes to, and those it looks users up in. */
export const TABLES = ["profiles", "identifiers", "events", "event_summaries"];

const LISTED = TABLES.map((name) => `'${name}'`).join();

/**
 * PostgreSQL's processes report their counters after a moment without work, at most once a second.
 */
const REPORTED_AFTER_MS = 2_500;

export async function readCounters(dataset: Dataset): Promise<Counters> {
  await new Promise((resolve) => setTimeout(resolve, REPORTED_AFTER_MS));
  const [log] = await dataset.run(["select wal_bytes, wal_fpi from pg_stat_wal"]);
  const tables = await dataset.run([
    `select relname as name,
       coalesce(heap_blks_read, 0) + coalesce(idx_blks_read, 0) + coalesce(toast_blks_read, 0) as pages
     from pg_statio_user_tables where relname in (${LISTED})`,
  ]);
  return {
    logBytes: Number(log?.wal_bytes),
    fullPages: Number(log?.wal_fpi),
    pagesRead: Object.fromEntries(tables.map(({ name, pages }) => [name, Number(pages)])),
  };
}

/**
 * Reads the tables and their indexes once, so that the operating system caches as much as fits into
 * memory, as on a server that has run for long. Without the extension pg_prewarm nothing is read.
 */
export async function readAhead(dataset: Dataset): Promise<void> {
  await dataset
    .run([
      "create extension if not exists pg_prewarm",
      `select sum(pg_prewarm(c.oid::regclass, 'read')) from pg_class c left join pg_index on indexrelid = c.oid
       where coalesce(indrelid, c.oid)::regclass::text in (${LISTED})`,
    ])
    .catch(() => {});
}

export interface TableSize {
  readonly rows: number;
  /** With indexes. */
  readonly bytes: number;
  /** Pages from the root of the primary key to a row's entry; undefined without the extension pageinspect. */
  readonly levels: number | undefined;
}

export async function readSizes(dataset: Dataset): Promise<Readonly<Record<string, TableSize>>> {
  const hasInspection = await dataset
    .run(["create extension if not exists pageinspect"])
    .then(() => true)
    .catch(() => false);
  const levels = hasInspection
    ? "(select level + 1 from bt_metap(indexrelid::regclass::text))"
    : "null";
  const tables = await dataset.run([
    `select relname as name, reltuples as rows, pg_total_relation_size(c.oid) as bytes, ${levels} as levels
     from pg_class c join pg_index on indrelid = c.oid and indisprimary
     where relname in (${LISTED}) and relnamespace = 'public'::regnamespace`,
  ]);
  return Object.fromEntries(
    tables.map(({ name, rows, bytes, levels }) => [
      String(name),
      {
        rows: Number(rows),
        bytes: Number(bytes),
        levels: levels === null ? undefined : Number(levels),
      },
    ]),
  );
}
