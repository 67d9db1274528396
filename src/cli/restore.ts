import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import {
  type BackupSummary,
  BackupUnreadable,
  verifyBackup,
} from "../core/database/backup/backup-file.ts";
import { loadDatabase, refuseForeignSchema } from "../core/database/backup/load-database.ts";
import { isSignedBy } from "../core/database/backup/signature.ts";
import type { Database } from "../core/database/database.ts";
import { ENGINE_FOLDER } from "../core/database/embedded/pglite.ts";
import { type Config, readConfig } from "../server/config.ts";
import { openDatabase } from "../server/open-database.ts";
import { readSecretKeys } from "../server/server-secrets.ts";
import { counted, displayProgress } from "./progress.ts";
import { printJson, printText } from "./terminal.ts";

const HELP = `
Restores into an empty place, before a server starts on it: the database of DATABASE_URL, or the embedded engine in
DATA_DIR. A backup of one engine restores into the other. The whole file is verified before anything is written,
and everything is written or nothing. If SECRET_KEY is set, as for the server, only a backup that was signed with
it (or with PREVIOUS_SECRET_KEY) is restored.

Examples:
  DATA_DIR=./restored ${RAPPORT} restore rapport.backup
  DATABASE_URL=postgres://localhost/empty ${RAPPORT} restore rapport.backup`;

export function define(command: Command): void {
  command
    .argument("<file>", `a file that ${RAPPORT} backup wrote`)
    .option("--unsigned", "restores a backup without a signature, which anybody may have edited")
    .option("--json", "prints the result as JSON")
    .addHelpText("after", HELP)
    .action(async (path: string, { json, unsigned }: { json?: true; unsigned?: true }) => {
      const config = readConfig();
      const summary = await verifyBackup(path);
      const { header, rows, tables } = summary;
      await refuseForeignSchema(path, header);
      await refuseForged(path, summary, config, unsigned ?? false);
      refuseFolder(config);
      const database = await openDatabase(config);
      const display = displayProgress(process.stderr, "row", "restored");
      let done = 0;
      let key: string | undefined;
      let isLoaded = false;
      try {
        await loadDatabase(database, path, summary, (more) => {
          done += more;
          display.show({ done, total: rows, failed: 0 });
        });
        isLoaded = true;
        key = await missingKey(config, database);
      } finally {
        display.end();
        await database.close();
        if (!isLoaded) await removeEngine(config);
      }
      if (key !== undefined) process.stderr.write(`${key}\n`);
      if (json) printJson({ file: path, created_at: header.created_at, tables, rows });
      else printText(`Restored ${counted(rows, "row")} as of ${header.created_at}\n`);
    });
}

/** A sentence about the key that is missing to open the secrets of the backup; undefined if none is. */
async function missingKey(config: Config, database: Database): Promise<string | undefined> {
  const { DATABASE_CHECKS } = await import("../server/start-checks.ts");
  return DATABASE_CHECKS["secret key"](config, database).then(
    () => undefined,
    (error: Error) => `A server does not start on it yet. ${error.message}`,
  );
}

/** Leaves a folder as it was found, so that another backup can be restored there. */
async function removeEngine({ databaseUrl, dataDir }: Config): Promise<void> {
  if (!databaseUrl) await rm(join(dataDir, ENGINE_FOLDER), { recursive: true, force: true });
}

/** An embedded engine that is there may have been used: even an empty one belongs to a server. */
function refuseFolder({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl) return;
  if (dataDir === "memory:") {
    throw new Error(
      "DATA_DIR=memory: keeps nothing. Set DATA_DIR to a new folder, or DATABASE_URL.",
    );
  }
  const engine = join(dataDir, ENGINE_FOLDER);
  if (!existsSync(engine)) return;
  throw new Error(
    `${engine} exists already. Set DATA_DIR to a new folder, and start the server on it afterwards.`,
  );
}

/** With the key there is no reason to restore a backup that was not signed with it. */
async function refuseForged(
  path: string,
  { end: { signature, ...signed } }: BackupSummary,
  config: Config,
  isUnsignedAccepted: boolean,
): Promise<void> {
  const { current, previous } = (await readSecretKeys(config, false)).secrets;
  const secrets = [current, previous].filter((secret) => secret !== undefined);
  if (secrets.length === 0) return;
  if (signature === undefined) {
    if (isUnsignedAccepted) return;
    const reason = "has no signature: it was written without SECRET_KEY, or by an earlier version.";
    throw new BackupUnreadable(path, `${reason} If nobody can have edited it, pass --unsigned.`);
  }
  if (typeof signature === "string" && isSignedBy(secrets, signature, signed)) return;
  const reason = "was changed after it was written, or was signed with another SECRET_KEY.";
  throw new BackupUnreadable(
    path,
    `${reason} Set SECRET_KEY to the one of the server that it is of.`,
  );
}
