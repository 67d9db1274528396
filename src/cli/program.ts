import { Command } from "commander";
import { FULL_VERSION } from "../core/base/version.ts";

/** A file of this folder that defines one subcommand: its options, help and action. */
interface CommandModule {
  /** @param loadAll defines every subcommand, for commands that list them all. */
  define(command: Command, loadAll: () => Promise<void>): void;
}

/**
 * Every subcommand with the sentence that `rapport --help` shows. Its module is loaded only when it runs,
 * so that help and version respond at once.
 */
const COMMANDS: Readonly<Record<string, [about: string, load: () => Promise<CommandModule>]>> = {
  serve: [
    "Migrates the database, applies the manifest, and serves (the default).",
    () => import("./serve.ts"),
  ],
  status: ["Says whether a server is ready, and its version.", () => import("./status.ts")],
  init: ["Writes a manifest to begin with.", () => import("./init.ts")],
  migrate: [
    "Migrates the database (DATABASE_URL, or the embedded one in DATA_DIR), and exits.",
    () => import("./migrate.ts"),
  ],
  apply: ["Applies a manifest to a running server.", () => import("./apply.ts")],
  validate: ["Checks a manifest without a server.", () => import("./validate.ts")],
  schema: ["Prints the JSON Schema of a manifest, for editors.", () => import("./schema.ts")],
  users: [
    "Searches, shows, watches, exports, erases and merges users.",
    () => import("../features/user-records/cli/users.ts"),
  ],
  segments: [
    "Lists, counts and exports segments of users.",
    () => import("../features/segments/cli/segments.ts"),
  ],
  import: [
    "Imports users, events, purchases or subscriptions from a file into a running server.",
    () => import("../features/import/cli/import.ts"),
  ],
  export: [
    "Exports users, events, purchases, subscription states or the configuration.",
    () => import("../features/export/cli/export.ts"),
  ],
  tail: [
    "Prints requests to a running server as they come in, with the verdict on each item.",
    () => import("../features/live-requests/cli/tail.ts"),
  ],
  changes: [
    "Prints the changes of users, in the order of their commits.",
    () => import("./changes/changes.ts"),
  ],
  webhooks: [
    "Lists, tests, pauses and replays webhooks.",
    () => import("../features/webhooks/cli/webhooks.ts"),
  ],
  backup: ["Writes all data of a running server to a file.", () => import("./backup.ts")],
  restore: [
    "Restores a backup into an empty database or data folder.",
    () => import("./restore.ts"),
  ],
  cdi: ["Runs warehouse syncs.", () => import("../features/warehouses/cli/cdi.ts")],
  keys: ["Manages the API keys of a running server.", () => import("./keys.ts")],
  secrets: ["Manages the key that seals stored secrets.", () => import("./sealing.ts")],
  "scim-tokens": ["Manages the SCIM tokens of a running server.", () => import("./scim-tokens.ts")],
  "sign-in": [
    "Prints a one-time link that signs in to the dashboard.",
    () => import("../features/sign-in/cli/sign-in.ts"),
  ],
  audit: ["Checks and exports the audit of a running server.", () => import("./audit.ts")],
  workspaces: ["Lists and deletes workspaces.", () => import("./workspaces.ts")],
  reset: [
    "Deletes the users of a workspace that has allow_reset: true.",
    () => import("./reset.ts"),
  ],
  doctor: ["Checks engine, schema, files, clock, disk and ports.", () => import("./doctor.ts")],
  settings: ["Lists every setting of a server.", () => import("./settings.ts")],
  completion: [
    "Prints a completion script for bash, zsh or fish.",
    () => import("./completion.ts"),
  ],
};

/** After an error in the arguments of a command: how it is called, and where its examples are. */
function adviseOn(command: Command, parent: string): void {
  const name = `${parent}${command.name()}`;
  command.showHelpAfterError(
    `\nUsage: ${name} ${command.usage()}\nSee the examples: ${name} --help`,
  );
  for (const each of command.commands) adviseOn(each, `${name} `);
}

const OF_PROGRAM = ["-h", "--help", "-V", "--version"];

/**
 * Runs `rapport` with its arguments; without a subcommand it serves.
 *
 * @throws with a sentence for the user. Wrong arguments are reported here and end the process.
 */
export async function run(words: readonly string[]): Promise<void> {
  const [first = ""] = words;
  const serves = first === "" || (first.startsWith("-") && !OF_PROGRAM.includes(first));
  const args = serves ? ["serve", ...words] : first === "version" ? ["--version"] : words;
  const program = new Command("rapport")
    .description("An open customer-engagement data server.")
    .version(FULL_VERSION)
    .addHelpText(
      "after",
      "\nrapport serve --help shows the usual settings, rapport settings all of them.",
    );
  const wanted = args[0] === "help" ? args[1] : args[0];
  const commands = Object.entries(COMMANDS).map(([name, [about, load]]) => ({
    command: program.command(name).description(about),
    load,
  }));
  const define = async (isWanted: (name: string) => boolean): Promise<void> => {
    for (const { command, load } of commands) {
      if (!isWanted(command.name())) continue;
      (await load()).define(command, () => define((name) => name !== wanted));
    }
  };
  await define((name) => name === wanted);
  adviseOn(program, "");
  await program.parseAsync(args, { from: "user" });
}
