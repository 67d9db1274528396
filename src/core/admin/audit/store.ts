import type { Queryable, Transaction } from "../../database/database.ts";
import { listsOf } from "../../database/parameters/lists-of.ts";
import type { ChainedEntry, Head, StoredEntry, Unchained } from "./chain.ts";

const COLUMNS = `entry_id as id, at, workspace, action, kind, name, details, actor,
  actor_name as "actorName", call, request_id as "requestId", address, position, hash`;

/**
 * The end of the chain; undefined if its record was removed. Locks it until the transaction ends, so that
 * rows are added one transaction after the other.
 */
export async function lockHead(tx: Transaction): Promise<Head | undefined> {
  const [row] = await tx.query<HeadRow>(
    `update audit_heads set entries = entries where chain = 'audit' returning ${HEAD_COLUMNS}`,
  );
  return row && headOf(row);
}

const HEAD_COLUMNS = 'entries, hash, unchained, unchained_hash as "unchainedHash"';

interface HeadRow {
  readonly entries: number;
  readonly hash: string;
  readonly unchained: number;
  readonly unchainedHash: string;
}

const headOf = ({ entries, hash, unchained, unchainedHash }: HeadRow): Head => ({
  entries,
  hash,
  unchained: { rows: unchained, hash: unchainedHash },
});

/** Appends rows to the chain and moves its head, in the same transaction. */
export async function insertEntries(
  tx: Transaction,
  entries: readonly ChainedEntry[],
  head: Pick<Head, "entries" | "hash">,
): Promise<void> {
  await tx.query(
    `insert into audit_entries (entry_id, at, workspace, action, kind, name, details,
       actor, actor_name, call, request_id, address, position, hash)
     select id, at, workspace, action, kind, name, details::jsonb, actor, actor_name, call,
       request_id, address, position, hash
     from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[],
       $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::bigint[],
       $14::text[])
       as new (id, at, workspace, action, kind, name, details, actor, actor_name, call,
         request_id, address, position, hash)`,
    [
      ...listsOf(entries, "id", "at", "workspace", "action", "kind", "name"),
      entries.map((entry) => entry.details && JSON.stringify(entry.details)),
      ...listsOf(entries, "actor", "actorName", "call", "requestId", "address"),
      ...listsOf(entries, "position", "hash"),
    ],
  );
  await tx.query("update audit_heads set entries = $1, hash = $2 where chain = 'audit'", [
    head.entries,
    head.hash,
  ]);
}

export interface AuditFilter {
  readonly workspace: string | undefined;
  readonly kind: string | undefined;
  readonly name: string | undefined;
  /** Reads are of personal data. */
  readonly of: "changes" | "reads" | undefined;
  /**
   * Whose: the user name of a person, the name of a key or token, or a kind of actor such as `administrator` or `server`.
   */
  readonly by: string | undefined;
  /** Included, and not included. */
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  /** A part of the name of the thing, or of its name in other entries, ignoring case. */
  readonly text: string | undefined;
  readonly before: string | undefined;
}

/** Of the rows that one statement returns: a page with large ones ends earlier. */
const MOST_BYTES = 4 * 1_048_576;

/**
 * Reads the first of these entries, in their order: as many as have 4 MB together, and at least one. Measures them one by
 * one, so that no more is read than fits. `offset 0` keeps each a lookup by key: a join may scan the table.
 */
async function selectFitting<Row>(database: Queryable, ids: readonly string[]): Promise<Row[]> {
  if (ids.length === 0) return [];
  return database.query<Row>(
    `with recursive fitting (place, id, bytes) as (
       select 0, null::uuid, 0::bigint
       union all
       select place + 1, entry_id, bytes + size from fitting cross join lateral (
         select entry_id, octet_length(entry::text) as size from audit_entries as entry
         where entry_id = ($1::uuid[])[place + 1] offset 0) as next
       where bytes < ${MOST_BYTES})
     select entry.* from fitting cross join lateral (
       select ${COLUMNS} from audit_entries where entry_id = fitting.id offset 0) as entry
     where place = 1 or bytes <= ${MOST_BYTES} order by place`,
    [ids],
  );
}

/** The name that an entry gives a thing beside its id. */
const LABEL = `coalesce(details ->> 'user_name', details ->> 'name', details #>> '{after,name}')`;

/** The latest entries in which things are looked up by a part of their name; and how many of them. */
const MOST_SEARCHED = 100_000;
const MOST_THINGS = 1_000;

/**
 * How many bytes of details are read in search of names, the latest first. A compressed value counts eight times: how long
 * it is shows only when it is read.
 */
const MOST_SEARCHED_BYTES = 32 * 1_048_576;
const DETAILS_BYTES =
  "pg_column_size(details) * case when pg_column_compression(details) is null then 1 else 8 end";
const SEARCHED_BYTES = `sum(${DETAILS_BYTES}) over (order by entry_id desc rows unbounded preceding)`;

/**
 * Entries newest first: at most `limit`, and fewer if they are large.
 *
 * @returns whether more follow, too.
 */
export async function selectEntries(
  database: Queryable,
  filter: AuditFilter,
  limit: number,
): Promise<{ readonly rows: readonly StoredEntry[]; readonly hasMore: boolean }> {
  const found = await selectIds(database, filter, limit + 1);
  const ids = found.slice(0, limit).map(({ id }) => id);
  const rows = await selectFitting<StoredEntry>(database, ids);
  return { rows, hasMore: found.length > rows.length };
}

const selectIds = (database: Queryable, filter: AuditFilter, limit: number) =>
  database.query<{ readonly id: string }>(
    `select entry_id as id from audit_entries
     where ($1::text is null or workspace = $1) and ($2::text is null or kind = $2)
       and ($3::text is null or name = $3) and ($4::uuid is null or entry_id < $4)
       and ($6::text is null or (action = 'read') = ($6 = 'reads'))
       and ($7::text is null or actor_name = $7
         or (actor = $7 and (actor_name is null or actor = 'administrator')))
       and ($8::timestamptz is null or at >= $8) and ($9::timestamptz is null or at < $9)
       and ($10::text is null or strpos(lower(name), $10) > 0 or name in (
         select name from (
           select name, details, ${SEARCHED_BYTES} as bytes from (
             select entry_id, name, details from audit_entries order by entry_id desc limit ${MOST_SEARCHED}
           ) as latest
         ) as measured
         where case when bytes <= ${MOST_SEARCHED_BYTES} then strpos(lower(${LABEL}), $10) > 0 end
         limit ${MOST_THINGS}))
     order by entry_id desc limit $5`,
    [
      filter.workspace ?? null,
      filter.kind ?? null,
      filter.name ?? null,
      filter.before ?? null,
      limit,
      filter.of ?? null,
      filter.by ?? null,
      filter.since ?? null,
      filter.until ?? null,
      filter.text?.toLowerCase() ?? null,
    ],
  );

/** The latest names that entries give things, by id. */
export async function selectLabels(
  database: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ name: string; label: string }>(
    // Materialized: otherwise the order of the sum makes the engine walk the whole table.
    `with named as materialized (
       select entry_id, name, details from audit_entries where name = any($1::text[])
     )
     select distinct on (name) name, label from (
       select name, entry_id, case when bytes <= ${MOST_SEARCHED_BYTES} then left(${LABEL}, 1000) end as label from (
         select name, entry_id, details, ${SEARCHED_BYTES} as bytes from named
       ) as measured
     ) as labelled where label is not null order by name, entry_id desc`,
    [ids],
  );
  return new Map(rows.map(({ name, label }) => [name, label]));
}

/**
 * Rows of the chain behind a position, in its order: at most `limit`, and fewer if they are large, but none only at the end.
 *
 * @param since leaves out rows from before.
 */
export async function selectChain(
  database: Queryable,
  after: number,
  since: Date | undefined,
  limit: number,
): Promise<ChainedEntry[]> {
  const found = await database.query<{ readonly id: string }>(
    `select entry_id as id from audit_entries
     where position > $1 and ($2::timestamptz is null or at >= $2) order by position limit $3`,
    [after, since ?? null, limit],
  );
  const ids = found.map(({ id }) => id);
  return selectFitting<ChainedEntry>(database, ids);
}

/** The recorded end of the chain. */
export async function selectHead(database: Queryable): Promise<Head | undefined> {
  const [row] = await database.query<HeadRow>(
    `select ${HEAD_COLUMNS} from audit_heads where chain = 'audit'`,
  );
  return row && headOf(row);
}

/** The rows without a place in the chain, by the expression of migrations/0019-covers-the-whole-audit.sql. */
export async function selectUnchained(database: Queryable): Promise<Unchained> {
  const [row] = await database.query<Unchained>(
    `select count(*) as rows,
       encode(sha256(convert_to(coalesce(string_agg(jsonb_build_array(entry_id, extract(epoch from at),
         workspace, action, kind, name, details, actor, actor_name, call, request_id, address, hash)::text,
         E'\\n' order by entry_id), ''), 'UTF8')), 'hex') as hash
     from audit_entries where position is null`,
  );
  return row as Unchained;
}

/** The first row with a position that no row of the chain has: behind its recorded end, or before its beginning. */
export async function selectOutside(database: Queryable) {
  const [row] = await database.query<ChainedEntry>(
    `select ${COLUMNS} from audit_entries
     where position < 1 or position > (select entries from audit_heads where chain = 'audit')
     order by position limit 1`,
  );
  return row;
}

/** The first row with a time finer than rows are written with: its hash does not cover the rest. */
export async function selectFiner(database: Queryable) {
  const [row] = await database.query<ChainedEntry>(
    `select ${COLUMNS} from audit_entries
     where position >= 1 and isfinite(at) and at <> date_trunc('milliseconds', at) order by position limit 1`,
  );
  return row;
}
