import { type Database, isUnavailable } from "../database/database.ts";
import { openEmbedded } from "../database/embedded/pglite.ts";
import type { Config } from "./config.ts";

/**
 * The engine that the settings ask for. Its client is loaded here alone, so that a command which needs nothing
 * but the engine, and a server that opens it while the rest is still loading, start at once.
 *
 * @throws if it cannot be reached.
 */
export async function openDatabase(config: Config): Promise<Database> {
  if (!config.databaseUrl) return openEmbedded(config.dataDir);
  const { openPostgres } = await import("../database/postgres/postgres.ts");
  const { databaseUrl, databaseTimeoutSeconds, citusDirect } = config;
  return openPostgres(databaseUrl, databaseTimeoutSeconds, citusDirect).catch(refuseDatabase);
}

function refuseDatabase(error: Error): never {
  if (!isUnavailable(error)) throw error;
  throw new Error(`The database of DATABASE_URL cannot be used: ${error.message}.`);
}
