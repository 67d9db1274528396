/*
 * Engines that stay open while servers on them are stopped and started, as a PostgreSQL would. Opening one takes ten
 * times as long as starting a server on it.
 */
import type { Database } from "../../../src/core/database/database.ts";
import type { Config } from "../../../src/server/config.ts";
import { openDatabase } from "../../../src/server/open-database.ts";

const opened = new Map<string, Promise<Database>>();

/** The database of these settings, by their data folder, which a server that stops does not close. */
export async function databaseOf(config: Config): Promise<Database> {
  const opening = opened.get(config.dataDir) ?? openDatabase(config);
  opened.set(config.dataDir, opening);
  return { ...(await opening), close: async () => {} };
}

/** Closes it, so that another process can open it. */
export async function closeDatabase(dataDir: string): Promise<void> {
  const opening = opened.get(dataDir);
  opened.delete(dataDir);
  await (await opening)?.close();
}
