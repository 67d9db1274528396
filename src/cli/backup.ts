import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { RAPPORT_VERSION } from "../core/base/version.ts";
import { writeBackup } from "../core/database/backup/backup-file.ts";
import { folderOfCopy } from "../core/database/backup/copy-folder.ts";
import { dumpDatabase } from "../core/database/backup/dump-database.ts";
import type { Database } from "../core/database/database.ts";
import { ENGINE_FOLDER, openEmbedded } from "../core/database/embedded/pglite.ts";
import { type Config, readConfig } from "../server/config.ts";
import { openDatabase } from "../server/open-database.ts";
import { readSecretKeys } from "../server/server-secrets.ts";
import { callAdmin } from "./admin-client.ts";
import { counted, displayProgress, megabytes } from "./progress.ts";
import {
  AdminError,
  type AdminTarget,
  type TargetOptions,
  targetOf,
  withTarget,
} from "./target.ts";
import { printJson, printText } from "./terminal.ts";

const HELP = `
Writes all data of a running server as of one moment. Run it where the server runs, with the
same environment. The file is verified after it is written, and only its owner can read it. It holds everything
but the data folder's tokens and the SECRET_KEY: keep those elsewhere.

Examples:
  ${RAPPORT} backup rapport-2026-01-01.backup
  DATABASE_URL=postgres://localhost/rapport ${RAPPORT} backup rapport.backup`;

export function define(command: Command): void {
  withTarget(command.argument("<file>", "a new file"))
    .addHelpText("after", HELP)
    .action(async (path: string, options: TargetOptions) => {
      const config = readConfig();
      const source = await openSource(config, targetOf(options));
      const { secrets } = await readSecretKeys(config, false);
      const display = displayProgress(process.stderr, "row", "written");
      let done = 0;
      const onRows = (rows: number) => {
        done += rows;
        display.show({ done, total: null, failed: 0 });
      };
      try {
        const { header, tables, rows, bytes } = await writeBackup(
          path,
          (writer) => dumpDatabase(source.database, RAPPORT_VERSION, writer, onRows),
          secrets.current,
        );
        display.end();
        if (options.json)
          printJson({ file: path, created_at: header.created_at, tables, rows, bytes });
        else {
          const size = `${counted(rows, "row")} of ${counted(tables, "table")}, ${megabytes(bytes)}`;
          printText(`Backed up and verified: ${size}\n`);
        }
      } finally {
        display.end();
        await source.close();
      }
    });
}

interface BackupSource {
  readonly database: Database;
  close(): Promise<void>;
}

/**
 * The source of the backup: a database server, the folder of a stopped server, or a copy of a
 * running one's.
 */
async function openSource(config: Config, target: AdminTarget): Promise<BackupSource> {
  const { databaseUrl, dataDir } = config;
  if (databaseUrl) {
    const database = await openDatabase(config);
    return { database, close: () => database.close() };
  }
  const id = await copyOf(target);
  if (id === undefined) return openExisting(dataDir, nothingThere(dataDir));
  // Only the id in the response is used: the command opens nothing but a copy in its own data
  // folder.
  const copy = folderOfCopy(dataDir, id);
  const removeCopy = () => callAdmin(target, "DELETE", `/engine-copies/${id}`);
  try {
    const source = await openExisting(copy, notHere(dataDir));
    return { ...source, close: () => source.close().finally(removeCopy) };
  } catch (error) {
    await removeCopy().catch(() => {});
    throw error;
  }
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A copy that a running server makes; undefined if no server runs. */
async function copyOf(target: AdminTarget): Promise<string | undefined> {
  try {
    const { id } = await callAdmin<{ id: unknown }>(target, "POST", "/engine-copies");
    if (typeof id === "string" && ID.test(id)) return id;
  } catch (error) {
    if (error instanceof AdminError && error.status === undefined) return undefined;
    throw error;
  }
  throw new Error("The server has another version than this command: update the older one.");
}

/** Opens an engine that is there, and creates none. */
async function openExisting(folder: string, refusal: string): Promise<BackupSource> {
  const isThere = await access(join(folder, ENGINE_FOLDER, "global")).then(
    () => true,
    () => false,
  );
  if (!isThere) throw new Error(refusal);
  const database = await openEmbedded(folder);
  return { database, close: () => database.close() };
}

const nothingThere = (dataDir: string): string =>
  `There is nothing to back up in ${dataDir}. Set DATA_DIR or DATABASE_URL as for the server.`;

const notHere = (dataDir: string): string =>
  `The server's copy is not in ${dataDir}: run ${RAPPORT} backup on the server's machine, with its DATA_DIR.`;
