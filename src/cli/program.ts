import { Command } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import { groupBy } from "../core/base/values/group-by.ts";
import { FULL_VERSION } from "../core/base/version.ts";
import type { Commands, Serve } from "../core/feature.ts";
import { PARTS } from "../server/app.ts";

/** The subcommands of the core. */
const CORE: Commands = {
  serve: [
    "Migrates the database, applies the manifest, and serves (the default).",
    () => import("./serve.ts"),
  ],
  status: [
    "Says whether a server is ready, and which version it runs.",
    () => import("./status.ts"),
  ],
  init: ["Writes a manifest to begin with.", () => import("./init.ts")],
  migrate: ["Migrates the database of DATABASE_URL or DATA_DIR.", () => import("./migrate.ts")],
  apply: ["Applies a manifest to a running server.", () => import("./apply.ts")],
  validate: ["Checks a manifest without a server.", () => import("./validate.ts")],
  schema: ["Prints the JSON Schema of a manifest, for editors.", () => import("./schema.ts")],
  changes: [
    "Prints the changes of users, in the order of their commits.",
    () => import("./changes/changes.ts"),
  ],
  backup: ["Writes all data of a running server to a file.", () => import("./backup.ts")],
  restore: [
    "Restores a backup into an empty database or data folder.",
    () => import("./restore.ts"),
  ],
  keys: ["Manages the API keys of a running server.", () => import("./keys.ts")],
  secrets: ["Manages the key that seals stored secrets.", () => import("./sealing.ts")],
  "scim-tokens": ["Manages the SCIM tokens of a running server.", () => import("./scim-tokens.ts")],
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

/** The order of `rapport --help`. A command that is not listed comes last. */
const SHOWN: readonly string[] = [
  "serve",
  "demo",
  "status",
  "init",
  "migrate",
  "apply",
  "validate",
  "schema",
  "users",
  "segments",
  "import",
  "export",
  "tail",
  "changes",
  "webhooks",
  "backup",
  "restore",
  "cdi",
  "keys",
  "secrets",
  "scim-tokens",
  "sign-in",
  "invite",
  "audit",
  "workspaces",
  "reset",
  "doctor",
  "settings",
  "completion",
];

/** Every subcommand: features have theirs in files that load nothing else, and two may have parts of one. */
async function allCommands() {
  const ofFeatures = await Promise.all(
    Object.values(PARTS).map(async (part) =>
      "commands" in part ? Object.entries((await part.commands()).commands) : [],
    ),
  );
  const placeOf = ([name]: readonly [string, ...unknown[]]) =>
    SHOWN.includes(name) ? SHOWN.indexOf(name) : SHOWN.length;
  const parts = groupBy([...Object.entries(CORE), ...ofFeatures.flat()], ([name]) => name);
  return [...parts.entries()]
    .sort((one, other) => placeOf(one) - placeOf(other))
    .map(([name, each]) => ({
      name,
      about: each[0]?.[1][0] ?? "",
      loads: each.map(([, [, load]]) => load),
    }));
}

/** After an error in the arguments of a command: how it is called, and where its examples are. */
function adviseOn(command: Command, parent: string): void {
  const name = `${parent}${command.name()}`;
  command.showHelpAfterError(
    `\nUsage: ${name} ${command.usage()}\nSee the examples: ${name} --help`,
  );
  for (const each of command.commands) adviseOn(each, `${name} `);
}

const serve: Serve = async (prepare) => (await import("./serve.ts")).serveUntilSignal(prepare);

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
  const program = new Command(RAPPORT)
    .description("An open customer-engagement data server.")
    .version(FULL_VERSION)
    .addHelpText(
      "after",
      `\n${RAPPORT} serve --help shows the usual settings, ${RAPPORT} settings all of them.`,
    );
  const wanted = args[0] === "help" ? args[1] : args[0];
  const commands = (await allCommands()).map(({ name, about, loads }) => ({
    command: program.command(name).description(about),
    loads,
  }));
  const define = async (isWanted: (name: string) => boolean): Promise<void> => {
    for (const { command, loads } of commands) {
      if (!isWanted(command.name())) continue;
      for (const load of loads) {
        (await load()).define(command, () => define((name) => name !== wanted), serve);
      }
    }
  };
  await define((name) => name === wanted);
  adviseOn(program, "");
  await program.parseAsync(args, { from: "user" });
}
