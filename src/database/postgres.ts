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
    // `fetch_types` stays on, though nobody needs the types of arrays: without it the client never hands
    // over a connection that `reserve` had to open.
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
    // It saves nothing more: whether to commit is told by what comes back.
    transactionAtOnce: (work) => inTransaction(sql, work),
    // Autovacuum does it.
    maintain: async () => {},
    close: () => sql.end({ timeout: 5 }),
  };
}

/**
 * Runs a transaction. Its beginning is not waited for: the first statements travel with it.
 *
 * Once its connection is lost the client must be asked for nothing more, not even for a rollback: it
 * would write to a socket that is not there, and that would end the process. So what the work still
 * asks fails, and the connection is not given back: the client has given it up by then.
 */
async function inTransaction<Result>(
  sql: postgres.Sql,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const connection = await sql.reserve();
  let isLost = false;
  let firstError: unknown;
  const unsafe = async (...statement: Parameters<typeof sql.unsafe>) => {
    if (isLost) throw Object.assign(new Error(LOST), { code: "CONNECTION_CLOSED" });
    return connection.unsafe(...statement).catch((error) => {
      // The client rejects what is under way before it says that the connection is closed.
      if (HAS_NO_SOCKET.test(error.code)) isLost = true;
      firstError ??= error;
      throw error;
    });
  };
  const script = async (text: string) => void (await unsafe(text));
  try {
    const begun = unsafe(
      "begin",
      [],
      tellingOfLoss(() => {
        isLost = true;
      }),
    );
    begun.catch(() => {});
    try {
      const result = await work({ ...queryable({ unsafe }), script });
      await begun;
      await script("commit");
      return result;
    } catch (error) {
      if (!isLost) await script("rollback");
      // Statements that were sent together fail together: all after the first only because of it.
      throw (error as { code?: unknown }).code === IS_ABORTED ? firstError : error;
    }
  } finally {
    if (!isLost) connection.release();
    isLost = true;
  }
}

/** The client tells who runs a statement on which connection, as its own transactions need it. */
interface WithConnection extends postgres.UnsafeQueryOptions {
  onexecute(connection: { onclose: () => void }): boolean;
}

const tellingOfLoss = (tell: () => void): WithConnection => ({
  onexecute(connection) {
    connection.onclose = tell;
    return true;
  },
});

const LOST = "The transaction is over: its connection was lost.";

const HAS_NO_SOCKET = /^(?:CONNECTION_(?:CLOSED|DESTROYED)|ECONN\w+|EPIPE|ETIMEDOUT)$/;

/** What every statement after a failed one is told, until the transaction ends. */
const IS_ABORTED = "25P02";

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
