import type { Database, Queryable } from "../database.ts";
import { PEOPLE_LOCK_CLASSES } from "../people-lock.ts";
import { FROZEN_MS } from "./keep-transactions.ts";

/** A transaction that has held locks on Rapport's data for long. */
export interface LockHolder {
  /** The process of PostgreSQL; null for a prepared transaction, which has none. */
  readonly pid: number | null;
  /** The name that the program gave itself; of a prepared transaction, its own. */
  readonly application: string;
  readonly user: string;
  /** Its address; null over a socket. */
  readonly client: string | null;
  readonly state: string;
  readonly since: Date;
  readonly seconds: number;
  /** Its last statement without the values in it. */
  readonly query: string;
}

/** Others are of no interest once some are known. */
const MOST_HOLDERS = 5;

/** Locks that keep writers out of a whole table. */
const OF_TABLES = ["ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"];

/** Locks that keep writers of rows out, or that writers hold who have locked some. Vacuum and concurrent indexes are neither. */
const MODES = ["RowShareLock", "RowExclusiveLock", ...OF_TABLES];

const OUR_TABLES = `(select oid from pg_class where relkind in ('r', 'p')
  and relnamespace = (select oid from pg_namespace where nspname = current_schema()))`;

/** Whether a transaction holds a lock of ours; $2 are the classes of locks, $3 the modes. */
const HOLDS_OURS = `exists (select from pg_locks
  where pg_locks.pid = pg_stat_activity.pid and granted
    and (locktype = 'advisory' and classid::int8 = any($2::int8[])
      or locktype = 'relation' and mode = any($3::text[]) and relation in ${OUR_TABLES}))`;

/** A reset locks it, for as long as it takes; no writer of users waits for that. */
const LOCKED_BY_RESETS = "live_requests";

/** Whether another transaction has locked one of Rapport's tables, or waits to do so: writers wait behind it. */
export async function selectTableLock(database: Queryable): Promise<boolean> {
  const [row] = await database.query<{ isLocked: boolean }>(
    `select exists (select from pg_locks where locktype = 'relation' and mode = any($1::text[])
       and pid is distinct from pg_backend_pid() and relation in ${OUR_TABLES}
       and relation is distinct from to_regclass($2::text)) as "isLocked"`,
    [OF_TABLES, LOCKED_BY_RESETS],
  );
  return row?.isLocked ?? false;
}

/**
 * The transactions that have held locks on Rapport's tables for a while and wait for no other themselves, oldest first.
 * Statements of other users are only visible to members of `pg_read_all_stats`.
 *
 * @param seconds for how long, at least.
 */
export async function selectLockHolders(
  { engine, ...database }: Pick<Database, "engine"> & Queryable,
  seconds: number,
): Promise<LockHolder[]> {
  if (engine === "embedded") return [];
  const rows = await database.query<LockHolder>(
    `select pid, application_name as application, coalesce(usename, '') as "user",
       host(client_addr) as client, coalesce(state, '') as state, xact_start as since,
       extract(epoch from clock_timestamp() - xact_start)::float8 as seconds, query
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()
       and backend_type = 'client backend'
       and xact_start < clock_timestamp() - make_interval(secs => $1::float8)
       and wait_event_type is distinct from 'Lock'
       and ${HOLDS_OURS}
     union all
     select null, gid, owner, null, 'prepared', prepared,
       extract(epoch from clock_timestamp() - prepared)::float8, ''
     from pg_prepared_xacts
     where database = current_database()
       and prepared < clock_timestamp() - make_interval(secs => $1::float8)
     order by since limit $4`,
    [seconds, PEOPLE_LOCK_CLASSES, MODES, MOST_HOLDERS],
  );
  return rows.map((row) => ({ ...row, query: withoutValues(row.query) }));
}

/**
 * Ends transactions with such locks whose server was stopped while it was sending a statement. PostgreSQL counts them as
 * active, and would end them only once the statement has taken too long.
 */
export const endHalfSent = (database: Queryable) =>
  database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and usename = current_user
       and application_name = 'rapport' and state = 'active' and wait_event = 'ClientRead'
       and state_change < clock_timestamp() - make_interval(secs => $1::float8)
       and ${HOLDS_OURS}`,
    [FROZEN_MS / 1_000, PEOPLE_LOCK_CLASSES, MODES],
  );

const LONGEST_QUERY = 200;

/** A statement on one line, without texts and long numbers, which may be data of users. The end of a long one may be missing. */
function withoutValues(query: string): string {
  const text = query
    .replaceAll(/\be'(?:\\.|''|[^'\\])*(?:'|$)/gis, "'…'")
    .replaceAll(/'(?:''|[^'])*(?:'|$)/gs, "'…'")
    .replaceAll(/\$(\w*)\$.*?(?:\$\1\$|$)/gs, "'…'")
    .replaceAll(/\b\d{5,}\b/g, "…")
    .replaceAll(/(?:--[^\n]*|\s)+/g, " ")
    .trim();
  return text.length > LONGEST_QUERY ? `${text.slice(0, LONGEST_QUERY)}…` : text;
}

/** A holder in a sentence. */
export function describeHolder({
  pid,
  application,
  user,
  client,
  state,
  since,
  seconds,
  query,
}: LockHolder): string {
  const from = `user ${user}${client === null ? "" : ` at ${client}`}`;
  const who =
    pid === null
      ? `The prepared transaction '${application}' (${from})`
      : `${application || "A program without a name"} (process ${pid}, ${from}, ${state})`;
  const held = `has held locks since ${since.toISOString().slice(0, 19)}Z, for ${Math.round(seconds)} s`;
  return `${who} ${held}${query ? `: ${query}` : ""}`;
}
