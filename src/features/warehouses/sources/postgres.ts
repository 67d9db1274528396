import { once } from "node:events";
import { connect, type Socket } from "node:net";
import postgres from "postgres";
import Type from "typebox";
import { hostsOf } from "../../../core/database/postgres/hosts-of.ts";
import {
  limitReads,
  type Outbound,
  OutboundRefused,
  type ReadLimit,
  UNGUARDED,
} from "../../../core/outbound/outbound.ts";
import { ConnectionUnfit, SourceUnfit } from "../../../core/outbound/unfit.ts";
import { TableName } from "./list-tables.ts";
import {
  firstTables,
  LARGEST_PAYLOAD_BYTES,
  type Opening,
  SourceFailed,
  sourceKind,
  TABLES_LIMIT,
  withoutValues,
} from "./source.ts";
import { type Dialect, sqlSource, type Values, type WarehouseColumn } from "./sql-table.ts";

/*
 * A table or view of PostgreSQL or a compatible database such as Redshift: the SQL is limited to
 * what Redshift supports.
 */

const NAME = '(?:[A-Za-z_][A-Za-z0-9_$]*|"[^"\\u0000]+")';

const TABLE = new RegExp(`^${NAME}(?:\\.${NAME}){0,2}$`);

const connection = {
  url: Type.Refine(
    Type.String({ maxLength: 2_048, description: "postgres://user:password@host:port/database" }),
    (url) => /^postgres(?:ql)?:\/\//.test(url),
    () => "must begin with postgres://",
  ),
};

/** Quoted for a statement. */
const place = { table: TableName(TABLE, 255, "public.crm_users", "quoted if it needs quotes") };

/** How many rows are requested at a time: with 1 MB in each of them they fit into memory. */
const ROWS_AT_A_TIME = 256;

/** How long a statement may take to answer: it may sort the whole table, or wait for a lock. */
const LONGEST_ANSWER_MS = 3_600_000;

/** The most that the rows of one query take, with the columns beside a payload. */
const MOST_BYTES_AT_A_TIME = 1.5 * ROWS_AT_A_TIME * LARGEST_PAYLOAD_BYTES;

const kind = (type: keyof typeof TEXT_TYPE, label: string) =>
  sourceKind({
    type,
    label,
    connection,
    place,
    secrets: ["url"],
    placeOf: ({ table }) => table,
    hostsOf: ({ url }) => hostsOf(url),

    async open({ url, table }, opening) {
      const { ask, close } = connectTo(url, opening);
      try {
        await ask("begin read only");
        const columns = await readColumns(ask, table);
        const dialect = dialectOf(TEXT_TYPE[type]);
        const run = async (statement: string) => ({
          count: undefined,
          pages: () => pagesOf(ask, statement),
        });
        return sqlSource({ dialect, table, columns, run }, { close });
      } catch (error) {
        await close();
        throw error;
      }
    },

    async list({ url }, opening) {
      const { ask, close } = connectTo(url, opening);
      try {
        await ask("begin read only");
        const rows = await ask<[name: string]>(`${TABLES[type]} limit ${TABLES_LIMIT}`);
        return firstTables(rows.map(([name]) => name));
      } finally {
        await close();
      }
    },
  });

type DescribedColumn = postgres.Column<string>;

type Answer<Row> = Row[] & { readonly columns: readonly DescribedColumn[] };

/** One connection: the transaction and the cursor are its own. */
function connectTo(url: string, { signal, outbound }: Opening) {
  signal.throwIfAborted();
  let limit: ReadLimit | undefined;
  const sql = postgres(url, {
    max: 1,
    max_lifetime: null,
    connect_timeout: 10,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: "rapport" },
    ...{
      socket: async (options: SocketOptions) => {
        const socket = await openSocket(options, outbound, signal);
        limit = limitReads(socket, MOST_BYTES_AT_A_TIME);
        return socket;
      },
    },
  });
  const end = () => sql.end({ timeout: 0 });
  signal.addEventListener("abort", end, { once: true });
  return {
    /** Ends the connection if the answer takes too long. @throws SourceFailed, SourceUnfit */
    async ask<Row>(statement: string): Promise<Answer<Row>> {
      limit?.renew();
      let timeout: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timeout = setTimeout(() => {
          reject(new SourceFailed(undefined, "the server is too slow."));
          void end();
        }, LONGEST_ANSWER_MS);
      });
      const answer = sql.unsafe(statement).values().catch(fail);
      try {
        return (await Promise.race([answer, late])) as unknown as Answer<Row>;
      } finally {
        clearTimeout(timeout);
      }
    },
    close: async () => {
      signal.removeEventListener("abort", end);
      await end();
    },
  };
}

/**
 * What the user may read, without partitions and the tables of the system. Redshift lists tables
 * outside the cluster, too.
 */
const TABLES = {
  postgres: `select quote_ident(nspname) || '.' || quote_ident(relname)
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where relkind in ('r', 'p', 'v', 'm', 'f') and not relispartition
      and nspname <> 'information_schema' and nspname !~ '^pg_'
      and has_schema_privilege(pg_namespace.oid, 'usage')
      and has_any_column_privilege(pg_class.oid, 'select')
    order by nspname, relname`,
  redshift: `select quote_ident(table_schema) || '.' || quote_ident(table_name) from svv_tables
    where table_schema not in ('information_schema', 'pg_catalog', 'pg_internal')
    order by table_schema, table_name`,
} as const;

interface SocketOptions {
  readonly host: string[];
  readonly port: number[];
  /** The limit of a socket file's path. */
  readonly path?: string;
}

/**
 * Connects where the guard allows it, to the first host that answers; the client would resolve the name by itself, or
 * open a socket file.
 */
async function openSocket(
  { host: hosts, port: ports, path }: SocketOptions,
  outbound: Outbound,
  signal: AbortSignal,
): Promise<Socket> {
  if (path) {
    if (outbound !== UNGUARDED) throw new OutboundRefused(path);
    const socket = connect(path);
    await once(socket, "connect", { signal });
    return socket;
  }
  let last: unknown;
  for (const [index, host] of hosts.entries()) {
    try {
      const socket = await outbound.connect(host, ports[index] ?? 5_432, signal);
      // The certificate must be for the name.
      return Object.assign(socket, { host });
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/** The type to which a value is cast; `text` of Redshift has 256 characters. */
const TEXT_TYPE = { postgres: "text", redshift: "varchar(65535)" } as const;

export const postgresSource = kind("postgres", "PostgreSQL");

export const redshiftSource = kind("redshift", "Amazon Redshift");

/** Failures that no later try can fix: names and rights. */
const UNFIT = /^(?:42|3F)/;

/** The login, or the database. */
const NO_WAY_IN = /^(?:28|3D)/;

function fail(error: unknown): never {
  const { code, message } = error as Error & { code?: string };
  if (UNFIT.test(code ?? "")) throw new SourceUnfit(`The warehouse refuses: ${message}.`, error);
  if (NO_WAY_IN.test(code ?? "")) {
    throw new ConnectionUnfit(`The warehouse refuses: ${message}.`, error);
  }
  if (error instanceof OutboundRefused) throw new ConnectionUnfit(message, error);
  // A sentence of the driver or the network has no SQLSTATE, and quotes no rows.
  const hasValues = /^[0-9A-Z]{5}$/.test(code ?? "");
  throw new SourceFailed(error, hasValues ? withoutValues(message) : undefined);
}

/** By type number: timestamp, timestamptz, date. */
const TIMES = [1114, 1184, 1082];

/** float4, float8, bool, bytea. */
const NOT_TEXT = [700, 701, 16, 17];

const TIMESTAMPTZ = 1184;
const NUMERIC = 1700;

interface PostgresColumn extends WarehouseColumn {
  /** A NUMERIC that may have digits after the point: 42 may be written 42.00. */
  readonly hasFraction: boolean;
}

async function readColumns(ask: Ask, table: string): Promise<PostgresColumn[]> {
  const { columns } = await ask(`select * from ${table} limit 0`);
  const numerics = columns.filter(({ type }) => type === NUMERIC);
  const scales = await readScales(ask, numerics);
  return columns.map((column) => {
    const { name, type } = column;
    const scale = type === NUMERIC ? scales.get(placeOf(column)) : 0;
    return {
      name,
      isTime: TIMES.includes(type),
      isText: !TIMES.includes(type) && !NOT_TEXT.includes(type) && (scale ?? 0) <= 0,
      time: type === TIMESTAMPTZ ? "zoned" : "local",
      hasFraction: scale === undefined,
    };
  });
}

const placeOf = ({ table, number }: DescribedColumn): string => `${table} ${number}`;

/** How many digits columns have after the point, as declared; without an entry, as many as a value has. */
async function readScales(
  ask: Ask,
  numerics: readonly DescribedColumn[],
): Promise<ReadonlyMap<string, number>> {
  const tables = [...new Set(numerics.map(({ table }) => table))].filter((oid) => oid !== 0);
  if (tables.length === 0) return new Map();
  const rows = await ask<[table: string, number: number, modifier: number]>(
    `select attrelid::bigint, attnum, atttypmod from pg_attribute
     where attrelid in (${tables.join()}) and atttypmod >= 4 and attnum > 0`,
  );
  // The precision is in the upper half of the number, the scale in the lower, of 11 bits with a sign.
  return new Map(
    rows.map(([table, number, modifier]) => [
      `${table} ${number}`,
      (((Number(modifier) - 4) & 0x7ff) ^ 0x400) - 0x400,
    ]),
  );
}

/** @param type the type to which a value is cast. */
const dialectOf = (type: string): Dialect => ({
  quote: (name) => `"${name.replaceAll('"', '""')}"`,
  // A time without a zone is in UTC.
  literal: (time, kind) =>
    kind === "zoned"
      ? `timestamp with time zone '${time}'`
      : `timestamp '${time.replace("T", " ").replace("Z", "")}'`,
  timeText: (column, kind) =>
    `to_char(${column}${kind === "zoned" ? " at time zone 'UTC'" : "::timestamp"}, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
  readTime: (text) => text,
  // A number in its one spelling: 42 and 42.00 name the same user.
  text: (column, described) =>
    (described as PostgresColumn).hasFraction
      ? `case when ${column} = trunc(${column}) then trunc(${column})::${type} else rtrim(${column}::${type}, '0') end`
      : `${column}::${type}`,
  bytes: (text) => `octet_length(${text})`,
});

type Ask = ReturnType<typeof connectTo>["ask"];

/** The rows of a statement as texts: a cursor reads them, because they need not fit into memory. */
async function* pagesOf(ask: Ask, statement: string): AsyncGenerator<Values[]> {
  await ask(`declare rapport_rows cursor for ${statement}`);
  try {
    for (;;) {
      const rows = await ask<unknown[]>(`fetch forward ${ROWS_AT_A_TIME} from rapport_rows`);
      if (rows.length === 0) return;
      const page = rows.map((row) => row.map((value) => (value === null ? null : `${value}`)));
      // Otherwise the client's remaining buffers keep every row of the table until a full collection.
      rows.length = 0;
      yield page;
    }
  } finally {
    // One that failed is closed already, with its transaction.
    await ask("close rapport_rows").catch(() => {});
  }
}
