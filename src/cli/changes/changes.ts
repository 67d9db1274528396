import { readFile, rename, writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { RAPPORT } from "../../core/base/command.ts";
import { type TargetOptions, targetOf, withTarget } from "../target.ts";
import { findWorkspaceName, workspacePath } from "../workspace-option.ts";
import { describeChange, readChanges, type ShownChange } from "./follow.ts";

const HELP = `
Without --from or a cursor file it begins at the oldest change; with --follow, at the next one. The cursor file is
written once its changes are printed: a command that was killed prints the last ones again, and misses none.

Examples:
  ${RAPPORT} changes
  ${RAPPORT} changes --follow --json --cursor-file crm.cursor | ./to-crm
  ${RAPPORT} changes --follow --types user.created,subscription.changed`;

interface Options extends TargetOptions {
  readonly workspace?: string;
  readonly follow?: true;
  readonly from?: string;
  readonly types?: string;
  readonly cursorFile?: string;
}

/** `rapport changes`. */
export function define(command: Command): void {
  withTarget(command)
    .option("--workspace <name>", "needed if the server has several")
    .option("--follow", "waits for further changes")
    .option("--from <cursor>", "beginning, or a cursor")
    .option("--types <types>", "only these, separated by commas")
    .option("--cursor-file <file>", "where to begin, and how far the command has come")
    .addHelpText("after", HELP)
    .action(changes);
}

async function changes(options: Options): Promise<void> {
  const target = targetOf(options);
  const workspace = await findWorkspaceName(target, options.workspace);
  const { cursorFile: file, types, follow = false } = options;
  const kept = file === undefined ? undefined : await readCursor(file);
  const cursor = kept ?? options.from ?? (follow && file === undefined ? undefined : "beginning");
  const following = { path: workspacePath(workspace), cursor, types, follows: follow };
  for await (const page of readChanges(target, following)) {
    await printChanges(page.changes, options.json === true);
    if (file !== undefined) await keepCursor(file, page.cursor);
  }
}

/** Resolves once the text has left the process. */
export async function printChanges(
  changes: readonly ShownChange[],
  asJson: boolean,
): Promise<void> {
  if (changes.length === 0) return;
  const lines = changes.map((each) => `${asJson ? JSON.stringify(each) : describeChange(each)}\n`);
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(lines.join(""), (error) => (error ? reject(error) : resolve()));
  });
}

async function readCursor(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** The file has the old cursor or the new one, whenever the process ends. */
async function keepCursor(file: string, cursor: string): Promise<void> {
  await writeFile(`${file}.new`, `${cursor}\n`);
  await rename(`${file}.new`, file);
}
