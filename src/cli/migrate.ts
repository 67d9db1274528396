import type { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { readConfig } from "../server/config.ts";
import { printText } from "./terminal.ts";

export function define(command: Command): void {
  command
    .option("--force", "applies unsafe migrations though servers of an earlier version run")
    .addHelpText(
      "after",
      `\nExample:\n  DATABASE_URL=postgres://localhost/rapport ${RAPPORT} migrate`,
    )
    .action(async ({ force = false }: { readonly force?: boolean }) => {
      const { openDatabase } = await import("../server/open-database.ts");
      const { migrate } = await import("../core/database/migrations/migrate.ts");
      const { finishMigrations } = await import("../core/database/migrations/steps.ts");
      const { assemble } = await import("../server/assemble.ts");
      const { systemClock } = await import("../core/base/clock.ts");
      const { readDistributed } = await import("../core/database/citus/distribute.ts");
      const config = readConfig();
      const database = await openDatabase(config);
      try {
        const before = await readDistributed(database);
        const applied = await migrate(database, config.citusShards, force);
        const { migrationSteps } = await assemble();
        const steps: string[] = [];
        await finishMigrations(database, migrationSteps, systemClock, (name, report) => {
          const counts = Object.entries(report).map(([what, count]) => `${what} ${count}`);
          steps.push([`${name}:`, counts.join(", ") || "nothing to change"].join(" "));
        });
        const { tables, shards } = await readDistributed(database);
        const done =
          applied.length === 0 && tables > before.tables
            ? [`Distributed ${tables - before.tables} tables over ${shards} shards.`]
            : [...applied, ...steps];
        printText(done.length > 0 ? `${done.join("\n")}\n` : "Nothing to do.\n");
      } finally {
        await database.close();
      }
    });
}
