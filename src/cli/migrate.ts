import type { Command } from "commander";
import { readConfig } from "../server/config.ts";

export function define(command: Command): void {
  command
    .addHelpText("after", "\nExample:\n  DATABASE_URL=postgres://localhost/rapport rapport migrate")
    .action(async () => {
      const { openDatabase } = await import("../server/open-database.ts");
      const { migrate } = await import("../database/migrate.ts");
      const database = await openDatabase(readConfig());
      const applied = await migrate(database).finally(() => database.close());
      process.stdout.write(applied.length > 0 ? `${applied.join("\n")}\n` : "Nothing to do.\n");
    });
}
