import { setTimeout as sleep } from "node:timers/promises";
import type { DestinationStream } from "pino";
import { createLog, flushLog } from "../core/base/observe/log.ts";
import { type Database, isUnavailable, isUnreachable } from "../core/database/database.ts";
import { openEmbedded } from "../core/database/embedded/pglite.ts";
import type { Config } from "./config.ts";

/**
 * The engine that the settings ask for. Its client is loaded only here, so that a command which
 * needs only the engine, and a server that opens it while the rest is still loading, start at once.
 *
 * @throws if it cannot be reached.
 */
export async function openDatabase(config: Config): Promise<Database> {
  if (!config.databaseUrl) return openEmbedded(config.dataDir);
  const { openPostgres } = await import("../core/database/postgres/postgres.ts");
  const { databaseUrl, databaseTimeoutSeconds, citusDirect } = config;
  return openPostgres(databaseUrl, databaseTimeoutSeconds, citusDirect).catch(refuseDatabase);
}

/** How often a database that is not there yet is tried again. */
const TRY_EVERY_MS = 500;

/**
 * Opens the database for a server, which may start first: waits for a database that cannot be
 * reached, and logs that.
 *
 * @throws if it cannot be reached in time, and at once if it refuses.
 */
export async function awaitDatabase(config: Config, logTo?: DestinationStream): Promise<Database> {
  const { databaseUrl, databaseWaitSeconds } = config;
  const giveUpAt = performance.now() + databaseWaitSeconds * 1_000;
  for (let attempt = 1; ; attempt++) {
    try {
      return await openDatabase(config);
    } catch (error) {
      const { cause } = error as Error;
      if (databaseUrl === undefined || !isUnreachable(cause)) throw error;
      if (performance.now() > giveUpAt) throw error;
      if (attempt === 1) {
        const log = await createLog(config, logTo);
        const details = { error: (error as Error).message, wait_s: databaseWaitSeconds };
        log.warn(details, "waiting for the database");
        await flushLog(log);
      }
      await sleep(TRY_EVERY_MS);
    }
  }
}

function refuseDatabase(error: Error): never {
  if (!isUnavailable(error)) throw error;
  const message = `The database of DATABASE_URL cannot be used: ${error.message}.`;
  throw new Error(message, { cause: error });
}
