/*
 * The databases of tests: the settings of a server on one, and databases without a server. On the embedded engine in memory
 * or, if TEST_DATABASE_URL names a PostgreSQL, there.
 */
import { after } from "node:test";
import type { Database } from "../src/core/database/database.ts";
import { migrate } from "../src/core/database/migrations/migrate.ts";
import { type Config, readConfig } from "../src/server/config.ts";
import { openDatabase } from "../src/server/open-database.ts";
import { createEngineSupply, type EngineSupply, lend } from "./core/database/emptied-engines.ts";
import { freshDatabase, migratedDatabase } from "./core/database/fresh-database.ts";

/** Servers of one test share a database, and none has its own key. */
export const TEST_SECRET_KEY = "the-secret-key-of-the-tests";

/** A hundredth of the cost, for passwords that protect nobody. */
const QUICK_PASSWORDS = { log2N: 10, r: 8, p: 1 };

/** The settings of a server for a test, on a separate database, which is empty by default. */
export async function testConfig(
  settings: Partial<Config> = {},
  database = freshDatabase,
): Promise<Config> {
  const config = readConfig({
    PORT: "0",
    DATA_DIR: "memory:",
    LOG_LEVEL: "silent",
    ADMIN_TOKEN: "the-admin-token-of-the-tests",
    SECRET_KEY: TEST_SECRET_KEY,
    // Tests of access send many wrong keys from one address.
    MAX_FAILED_AUTH: "1000000",
    LIVE_REQUESTS: "1000",
    // All tests come from one address.
    PAGE_LIMIT: "1000000",
    // A test shares the event loop with its server, and compiles files on it.
    MAX_EVENT_LOOP_DELAY: "3600",
  });
  const databaseUrl = "databaseUrl" in settings ? settings.databaseUrl : await database();
  return { ...config, passwordCost: QUICK_PASSWORDS, ...settings, databaseUrl };
}

let engines: EngineSupply | undefined;

/** Lets the files that run in this process use engines in memory one after the other. */
export const shareEngines = (): void => {
  engines = createEngineSupply();
};

export const closeEngines = async (): Promise<void> => engines?.close();

/** The settings of a server on a separate database, which may have the tables of this version already. */
export const preparedConfig = (settings: Partial<Config> = {}): Promise<Config> =>
  testConfig(settings, engines ? migrated : freshDatabase);

const migrated = (): Promise<string | undefined> =>
  migratedDatabase(async (databaseUrl) => {
    const database = await openDatabase(await testConfig({ databaseUrl }));
    await migrate(database);
    await database.close();
  });

/** Opens the database of settings that `preparedConfig` has made. */
export function openPrepared(config: Config): Promise<Database> {
  const isInMemory = config.databaseUrl === undefined && config.dataDir === "memory:";
  return engines && isInMemory ? engines.open() : openDatabase(config);
}

/** A database with the tables of this version, for what needs no server. It closes when the test file ends. */
export async function openMigrated(settings: Partial<Config> = {}): Promise<Database> {
  let database: Database | undefined;
  // Registered before the database is created, because hooks run in order: it is dropped then.
  after(() => database?.close());
  database = await openPrepared(await preparedConfig(settings));
  await migrate(database);
  return database;
}

/** A database that outlives the servers on it: each finds what the one before it has left. */
export interface LastingDatabase {
  readonly database: Database;
  /** The settings of each server on it. */
  readonly settings: Partial<Config>;
  /** The database for one server, which closes it; undefined if the server opens it by its settings. */
  forServer(): Database | undefined;
}

/** It goes when the test file ends. In memory, too: a server that starts on it reads all that it knows from its tables. */
export async function lastingDatabase(): Promise<LastingDatabase> {
  let database: Database | undefined;
  after(() => database?.close());
  const config = await preparedConfig();
  const { databaseUrl } = config;
  const opened = await openPrepared(config);
  database = opened;
  await migrate(opened);
  return {
    database: opened,
    settings: { databaseUrl },
    forServer: () => (databaseUrl === undefined ? lend(opened, async () => {}) : undefined),
  };
}
