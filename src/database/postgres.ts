import postgres from "postgres";
import type { Database, Queryable } from "./database.ts";
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
    ...queryable(sql),
    transaction: async (work) =>
      (await sql.begin((tx) =>
        work({ ...queryable(tx), script: async (text) => void (await tx.unsafe(text)) }),
      )) as Awaited<ReturnType<typeof work>>,
    // Autovacuum does it.
    maintain: async () => {},
    close: () => sql.end({ timeout: 5 }),
  };
}

function queryable(sql: Pick<postgres.Sql, "unsafe">): Queryable {
  const run = (text: string, parameters: readonly unknown[] = []) =>
    sql.unsafe(text, encodeParameters(parameters) as string[], { prepare: true });
  return {
    query: async <Row>(text: string, parameters?: readonly unknown[]) =>
      (await run(text, parameters)) as unknown as Row[],
    execute: async (text, parameters) => (await run(text, parameters)).count,
  };
}
