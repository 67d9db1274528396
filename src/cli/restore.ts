import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { readBackup, verifyBackup } from "../database/backup/backup-file.ts";
import { loadDatabase, refuseForeignSchema } from "../database/backup/load-database.ts";
import { ENGINE_FOLDER } from "../database/embedded/pglite.ts";
import { type Config, readConfig } from "../server/config.ts";
import { openDatabase } from "../server/open-database.ts";
import { counted, displayProgress } from "./progress.ts";
import { printJson } from "./terminal.ts";

const HELP = `
Restores into an empty place, before a server starts on it: the database of DATABASE_URL, or the embedded engine in
DATA_DIR. A backup of one engine restores into the other. The whole file is verified before anything is written,
and everything is written or nothing.

Examples:
  DATA_DIR=./restored rapport restore rapport.backup
  DATABASE_URL=postgres://localhost/empty rapport restore rapport.backup`;

export function define(command: Command): void {
  command
    .argument("<file>", "a file that rapport backup wrote")
    .option("--json", "prints the result as JSON")
    .addHelpText("after", HELP)
    .action(async (path: string, { json }: { json?: true }) => {
      const config = readConfig();
      const { header, rows, tables } = await verifyBackup(path);
      await refuseForeignSchema(path, header);
      refuseFolder(config);
      const database = await openDatabase(config);
      const display = displayProgress(process.stderr, "row", "restored");
      let done = 0;
      try {
        await loadDatabase(database, header, readBackup(path), (more) => {
          done += more;
          display.show({ done, total: rows, failed: 0 });
        });
      } finally {
        display.end();
        await database.close();
      }
      if (json) printJson({ file: path, created_at: header.created_at, tables, rows });
      else process.stdout.write(`Restored ${counted(rows, "row")} as of ${header.created_at}\n`);
    });
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
