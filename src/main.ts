#!/usr/bin/env node
import { Command } from "commander";
import { applyThroughApi } from "./apply-command.ts";
import { readConfig, SETTINGS } from "./config.ts";
import { migrate } from "./database/migrate.ts";
import { openDatabase, serve } from "./serve.ts";
import { welcome } from "./welcome.ts";

/* The executable: subcommands, signals and exit codes. Everything else is in the modules. */

const settings = Object.entries(SETTINGS)
  .map(([name, { about, default: value }]) => {
    return `  ${name.padEnd(14)} ${about}${value && ` (default: ${value})`}`;
  })
  .join("\n");

const program = new Command("rapport")
  .description("An open customer-engagement data server.")
  .addHelpText("after", `\nEnvironment:\n${settings}`);

program
  .command("serve", { isDefault: true })
  .description("Migrates the database, applies the manifest, and serves.")
  .addHelpText("after", `\nEnvironment:\n${settings}`)
  .action(async () => {
    const server = await serve(readConfig());
    process.stdout.write(welcome(server, readConfig()));
    let isStopping = false;
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(1);
        isStopping = true;
        server.log.info({ signal }, "stopping");
        server.stop().then(() => process.exit(0), fail);
      });
    }
  });

program
  .command("migrate")
  .description("Brings the database to this version's schema, and ends.")
  .action(async () => {
    const database = await openDatabase(readConfig());
    const applied = await migrate(database).finally(() => database.close());
    process.stdout.write(applied.length > 0 ? `${applied.join("\n")}\n` : "Nothing to do.\n");
  });

program
  .command("apply <manifest>")
  .description("Applies a manifest to a running server.")
  .option("--url <url>", "the server's base URL", "http://127.0.0.1:8080")
  .option("--admin-token <token>", "default: ADMIN_TOKEN, or what the data folder has")
  .action(async (manifest: string, options: { url: string; adminToken?: string }) => {
    const config = readConfig();
    const changes = await applyThroughApi(manifest, {
      url: options.url,
      adminToken: options.adminToken ?? config.adminToken,
      dataDir: config.dataDir,
    });
    process.stdout.write(changes);
  });

function fail(error: unknown): void {
  process.stderr.write(`rapport: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

program.parseAsync().catch(fail);
