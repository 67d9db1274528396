import { existsSync } from "node:fs";
import { join } from "node:path";
import { RAPPORT } from "../core/base/command.ts";
import type { Database } from "../core/database/database.ts";
import { FolderInUse } from "../core/database/embedded/folder-lock.ts";
import { ENGINE_FOLDER } from "../core/database/embedded/pglite.ts";
import { type Examination, examine } from "../core/database/migrations/examine.ts";
import { describeHolder, selectLockHolders } from "../core/database/postgres/lock-holders.ts";
import type { Config } from "../server/config.ts";
import { openDatabase } from "../server/open-database.ts";
import { DATABASE_CHECKS, tryManifest } from "../server/start-checks.ts";
import { reportUpgrades } from "./doctor-addresses.ts";
import { type Finding, findingOf } from "./doctor-machine.ts";
import { explainError } from "./explain-error.ts";

/** The oldest PostgreSQL that Rapport runs on. */
const OLDEST_POSTGRES = 15;

/** Times are compared across processes: a second of difference shows in rate limits and histories. */
const MOST_CLOCK_MS = 1_000;

/**
 * Checks the engine, its schema and its clock.
 *
 * @param isServing whether a Rapport server has the port: then it has the embedded engine's folder, too.
 * @param hasSettings whether the settings and their files are valid; their consequences are checked
 * only then.
 */
export async function checkEngine(
  config: Config,
  isServing: boolean,
  hasSettings: boolean,
): Promise<Finding[]> {
  if (!config.databaseUrl) {
    const untouched = withoutOpening(config.dataDir, isServing);
    if (untouched) {
      return [untouched, ...(isServing || !hasSettings ? [] : await tryOnEmpty(config))];
    }
  }
  let database: Database | undefined;
  try {
    database = await openDatabase(config);
    const found = await examine(database);
    return [
      checkVersion(config, found),
      ...(await checkSchema(config, database, found, hasSettings)),
      ...(config.databaseUrl ? [checkClock(found), await checkLocks(database)] : []),
    ];
  } catch (error) {
    if (error instanceof FolderInUse) return [usedElsewhere(config)];
    const remedy = config.databaseUrl
      ? "Check DATABASE_URL, and that the database runs and accepts connections from here."
      : `Restore a backup into another folder (${RAPPORT} restore), and set DATA_DIR to it.`;
    return [{ check: "engine", status: "failed", message: explainError(error), remedy }];
  } finally {
    await database?.close();
  }
}

/** The report if the embedded engine must not be opened. */
function withoutOpening(dataDir: string, isServing: boolean): Finding | undefined {
  const check = "engine";
  if (dataDir === "memory:") {
    const remedy = "Set DATA_DIR to a folder to keep data.";
    const message = "Embedded, in memory: data is lost on exit.";
    return { check, status: "warning", message, remedy };
  }
  if (isServing) {
    return { check, status: "ok", message: `Embedded, in ${dataDir}; the running server has it.` };
  }
  if (existsSync(join(dataDir, ENGINE_FOLDER))) return undefined;
  return { check, status: "ok", message: `Embedded; ${RAPPORT} serve will create ${dataDir}.` };
}

function usedElsewhere({ dataDir, port }: Config): Finding {
  const message = `Embedded, in ${dataDir}. A Rapport server on another port than ${port} is using it.`;
  const remedy = "Run doctor with the PORT of that server, or set DATA_DIR to another folder.";
  return { check: "engine", status: "warning", message, remedy };
}

function checkVersion({ databaseUrl }: Config, { version }: Examination): Finding {
  const check = "engine";
  if (!databaseUrl) return { check, status: "ok", message: `Embedded, PostgreSQL ${version}.` };
  if (Number.parseInt(version, 10) >= OLDEST_POSTGRES) {
    return { check, status: "ok", message: `PostgreSQL ${version}.` };
  }
  const message = `PostgreSQL ${version} is older than ${OLDEST_POSTGRES}.`;
  return { check, status: "failed", message, remedy: "Upgrade PostgreSQL." };
}

/** Checks the schema and, once it is this version's, all that `serve` checks against the database. */
async function checkSchema(
  config: Config,
  database: Database,
  { schema: { pending } }: Examination,
  hasSettings: boolean,
): Promise<Finding[]> {
  const check = "schema";
  if (pending.length > 0) {
    const refused = [
      ...(await findingOf("writes", () => DATABASE_CHECKS.writes(config, database), START)),
      ...(await findingOf(check, () => DATABASE_CHECKS.schema(config, database), START)),
    ];
    const message = `Migrations to apply: ${pending.join(", ")}.`;
    const remedy = `Run ${RAPPORT} migrate, or ${RAPPORT} serve, which migrates at its start.`;
    if (refused.length > 0) return refused;
    const manifest = hasSettings ? await tryOnEmpty(config) : [];
    return [{ check, status: "warning", message, remedy }, ...manifest];
  }
  const findings: Finding[] = [];
  for (const [name, make] of Object.entries(DATABASE_CHECKS)) {
    if (!hasSettings && name !== check && name !== "writes") continue;
    const found = await findingOf(name, () => make(config, database), START);
    findings.push(...found);
    // One failure may be the cause of the next.
    if (found.some(({ status }) => status === "failed")) return findings;
  }
  const upgrades = await reportUpgrades(database);
  return [{ check, status: "ok", message: "Up to date." }, ...upgrades, ...findings];
}

/** Applies the manifest to an empty database in memory, as long as there is none with this version's schema. */
const tryOnEmpty = (config: Config): Promise<Finding[]> =>
  findingOf(
    "manifest",
    async () => {
      if (config.manifest === undefined) return undefined;
      await tryManifest(config, config.manifest);
      return `${config.manifest} can be applied to an empty database.`;
    },
    START,
  );

const START = `${RAPPORT} serve does not start until this is mended.`;

/** A transaction of Rapport seldom takes longer. */
const LONG_HELD_SECONDS = 5;

async function checkLocks(database: Database): Promise<Finding> {
  const check = "locks";
  const [oldest] = await selectLockHolders(database, LONG_HELD_SECONDS);
  if (!oldest) return { check, status: "ok", message: "No transaction has held locks for long." };
  const { pid, application } = oldest;
  const end =
    pid === null ? `rollback prepared '${application}'` : `select pg_terminate_backend(${pid})`;
  const remedy = `Requests may wait for it. If it does not end by itself: ${end}.`;
  return { check, status: "warning", message: `${describeHolder(oldest)}.`, remedy };
}

function checkClock({ clockAheadMs }: Examination): Finding {
  const check = "clock";
  const ms = Math.round(Math.abs(clockAheadMs));
  if (ms <= MOST_CLOCK_MS) {
    return { check, status: "ok", message: `Within ${ms} ms of the database's.` };
  }
  const message = `The database's clock is ${ms} ms ${clockAheadMs > 0 ? "ahead" : "behind"}.`;
  const remedy = "Synchronize the clocks of both machines (NTP).";
  return { check, status: "warning", message, remedy };
}
