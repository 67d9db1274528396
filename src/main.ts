#!/usr/bin/env node
import cluster from "node:cluster";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import type { AdminTarget } from "./admin-client.ts";
import { COMPANY_SECTIONS, SECTIONS } from "./app.ts";
import { applyThroughApi } from "./apply-command.ts";
import { runSyncThroughApi } from "./cdi-command.ts";
import { announce, startWorkers } from "./cluster.ts";
import { readConfig, SETTINGS } from "./config.ts";
import { migrate, packageRoot } from "./database/migrate.ts";
import { importThroughApi } from "./import-command.ts";
import { addKeysCommand, addScimTokensCommand } from "./keys-command.ts";
import { welcomeText } from "./welcome.ts";
import { publishedSchema } from "./workspaces/apply.ts";

/* The executable: subcommands, signals and exit codes. Everything else is in the modules. */

/** Loaded only by a process that serves: the first of several, which only watches, is half as large. */
const server = () => import("./serve.ts");

const settings = Object.entries(SETTINGS)
  .map(([name, { about, default: value }]) => {
    return `  ${name.padEnd(17)} ${about}${value && ` (default: ${value})`}`;
  })
  .join("\n");

const { version } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));

const program = new Command("rapport")
  .description("An open customer-engagement data server.")
  .version(version)
  .addHelpText("after", `\nEnvironment:\n${settings}`);

program
  .command("serve", { isDefault: true })
  .description("Migrates the database, applies the manifest, and serves.")
  .option("--workers <count>", "how many server processes share the port (WEB_CONCURRENCY)")
  .addHelpText("after", `\nEnvironment:\n${settings}`)
  .action(async (options: { workers?: string }) => {
    if (options.workers) process.env.WEB_CONCURRENCY = options.workers;
    const config = readConfig();
    const isFirst = cluster.isPrimary;
    const running =
      isFirst && config.workers > 1
        ? await startWorkers(config.workers)
        : await (await server()).serve(config);
    if (isFirst) process.stdout.write(welcomeText(running.welcome, config));
    else announce(running.welcome);
    stopOnSignal(running.stop);
  });

/** A terminal, npm and the first process may all pass on the same wish to stop. */
const SAME_WISH_MS = 2_000;

/** The first signal answers what is in flight and ends with 0; a later one does not wait. */
function stopOnSignal(stop: () => Promise<void>): void {
  let stoppingSince: number | undefined;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stoppingSince === undefined) {
        stoppingSince = performance.now();
        stop().then(() => process.exit(0), fail);
      } else if (performance.now() - stoppingSince > SAME_WISH_MS) process.exit(1);
    });
  }
}

program
  .command("migrate")
  .description(
    "Brings the database (of DATABASE_URL, else in DATA_DIR) to this version's schema, and ends.",
  )
  .action(async () => {
    const database = await (await server()).openDatabase(readConfig());
    const applied = await migrate(database).finally(() => database.close());
    process.stdout.write(applied.length > 0 ? `${applied.join("\n")}\n` : "Nothing to do.\n");
  });

/** The options of a command that talks to a running server. */
const withTarget = (command: Command): Command =>
  command
    .option("--url <url>", "the server's base URL", "http://127.0.0.1:8080")
    .option("--admin-token <token>", "default: ADMIN_TOKEN, or what the data folder has");

function targetOf(options: { url: string; adminToken?: string }): AdminTarget {
  const { adminToken, dataDir } = readConfig();
  return { url: options.url, adminToken: options.adminToken ?? adminToken, dataDir };
}

withTarget(program.command("apply <manifest>"))
  .description("Applies a manifest to a running server.")
  .action(async (manifest: string, options: { url: string; adminToken?: string }) => {
    process.stdout.write(await applyThroughApi(manifest, targetOf(options)));
  });

program
  .command("schema")
  .description(
    "Prints the JSON Schema of a manifest, for editors; a server has it at /manifest.schema.json.",
  )
  .action(() => {
    const sections = { sections: SECTIONS, companySections: COMPANY_SECTIONS };
    process.stdout.write(`${JSON.stringify(publishedSchema(sections), null, 2)}\n`);
  });

withTarget(program.command("import <workspace> <file>"))
  .description("Imports users from a file, one JSON object a line, into a running server.")
  .addHelpText(
    "after",
    "\nExits with 0 when every line was imported, 2 when some were not, else 1.",
  )
  .action(
    async (workspace: string, path: string, options: { url: string; adminToken?: string }) => {
      const outputs = { output: process.stdout, errors: process.stderr };
      process.exitCode = await importThroughApi({ path, workspace }, targetOf(options), outputs);
    },
  );

const cdi = program.command("cdi").description("Syncs from a warehouse.");

withTarget(cdi.command("run <integration>"))
  .description("Starts a sync on a running server and shows it until it ends.")
  .option("--workspace <name>", "where several workspaces have an integration of that name")
  .addHelpText("after", "\nExits with 0 on success, 2 when some rows failed, 1 otherwise.")
  .action(
    async (name: string, options: { url: string; adminToken?: string; workspace?: string }) => {
      const sync = { name, workspace: options.workspace };
      process.exitCode = await runSyncThroughApi(sync, targetOf(options), process.stdout);
    },
  );

addKeysCommand(program, { withTarget, targetOf });
addScimTokensCommand(program, { withTarget, targetOf });

function fail(error: unknown): void {
  process.stderr.write(`rapport: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

/** Else it would be taken for an argument of `serve`, the command that goes without saying. */
function refuseUnknownCommand([name]: readonly string[]): void {
  const isOption = name === undefined || name.startsWith("-");
  const known = ["help", ...program.commands.map((command) => command.name())];
  if (isOption || known.includes(name)) return;
  program.error(`error: unknown command '${name}'; rapport --help lists the commands`);
}

refuseUnknownCommand(process.argv.slice(2));
program.parseAsync().catch(fail);
