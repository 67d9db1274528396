import postgres from "postgres";
import { checkWritten, type Database, type Queryable, type Transaction } from "./database.ts";
import { encodeParameters, readTimestamp } from "./parameters.ts";
import { PLANNER_SETTINGS } from "./planner.ts";

/** How many connections one process keeps, at most. */
const CONNECTIONS = 8;

/**
 * Opens a PostgreSQL (15 or newer) or a Citus coordinator.
 *
 * @param url `postgres://user:password@host:port/database`
 */
export async function openPostgres(url: string): Promise<Database> {
  const sql = postgres(url, {
    max: CONNECTIONS,
    onnotice: () => {},
    connect_timeout: 10,
    // The types of arrays need not be fetched: see parameters.ts.
    fetch_types: false,
    connection: { application_name: "rapport", TimeZone: "UTC", ...PLANNER_SETTINGS },
    types: {
      bigint: { to: 20, from: [20], serialize: String, parse: Number },
      timestamptz: { to: 1184, from: [1184], serialize: String, parse: readTimestamp },
    },
  });
  await sql`select 1`;

  return {
    engine: "postgres",
    concurrency: CONNECTIONS,
    takesTurns: false,
    ...queryable(sql),
    transaction: (work) => inTransaction(sql, work),
    // Nothing more to save: the client waits for the beginning, and whether to commit is told by what comes
    // back. (Its `reserve` would not wait, but forgets who asked when a connection is reset.)
    transactionAtOnce: (work) => inTransaction(sql, work),
    // Autovacuum does it.
    maintain: async () => {},
    close: () => sql.end({ timeout: 5 }),
  };
}

/**
 * Runs a transaction. Once its connection is lost the client must be asked for nothing more, not even
 * for a rollback: it would write to a socket that is not there, and that would end the process. So
 * what the work still asks fails, and its end is kept from the client, which has given up by then.
 */
async function inTransaction<Result>(
  sql: postgres.Sql,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  let isLost = false;
  const ask = async (tx: postgres.TransactionSql, statement: Parameters<typeof sql.unsafe>) => {
    if (isLost) throw Object.assign(new Error(LOST), { code: "CONNECTION_CLOSED" });
    return tx.unsafe(...statement).catch((error) => {
      if (HAS_NO_SOCKET.test(error.code)) isLost = true;
      throw error;
    });
  };
  try {
    const result = await sql.begin(async (tx) => {
      const unsafe = (...statement: Parameters<typeof sql.unsafe>) => ask(tx, statement);
      try {
        const script = async (text: string) => void (await unsafe(text));
        return await work({ ...queryable({ unsafe }), script });
      } finally {
        if (isLost) await new Promise(() => {});
      }
    });
    return result as Result;
  } finally {
    isLost = true;
  }
}

const LOST = "The transaction is over: its connection was lost.";

const HAS_NO_SOCKET = /^(?:CONNECTION_(?:CLOSED|DESTROYED)|ECONN\w+|EPIPE|ETIMEDOUT)$/;

/** What runs statements: the client, or a transaction of it. */
interface Asked {
  unsafe(
    ...statement: Parameters<postgres.Sql["unsafe"]>
  ): PromiseLike<postgres.RowList<postgres.Row[]>>;
}

function queryable(sql: Asked): Queryable {
  const run = (text: string, parameters: readonly unknown[] = []) =>
    sql.unsafe(text, encodeParameters(parameters, "text") as string[], { prepare: true });
  return {
    query: async <Row>(text: string, parameters?: readonly unknown[]) =>
      (await run(text, parameters)) as unknown as Row[],
    async execute(text, parameters, mustWrite) {
      const result = await run(text, parameters);
      return checkWritten(result.columns?.length ? result.length : result.count, mustWrite);
    },
  };
}
