import { open } from "node:fs/promises";
import type { WriteStream } from "node:tty";
import type { Command } from "commander";
import { Problem } from "../problem.ts";
import { type AdminTarget, callAdmin } from "./admin-client.ts";
import { count, counted, displayProgress } from "./progress.ts";
import { type TargetOptions, targetOf, withTarget } from "./target.ts";

const HELP = `
The file holds one JSON user per line, with the export's field names. Rejected lines are reported with
the reason; the rest are imported. Importing a file again changes nothing.

Exit codes: 0 when every line was imported, 2 when some were rejected, 1 on any other failure.

Example:
  rapport import demo users.ndjson`;

export function define(command: Command): void {
  withTarget(command.argument("<workspace>").argument("<file>"))
    .addHelpText("after", HELP)
    .action(async (workspace: string, path: string, options: TargetOptions) => {
      const outputs = { output: process.stdout, errors: process.stderr };
      process.exitCode = await importThroughApi({ path, workspace }, targetOf(options), outputs);
    });
}

/** As many as one request may hold. decision: docs/decisions/imported-activity.md. */
const USERS_PER_REQUEST = 500;

/** Well below the largest body, so that a request is refused for one user's size alone. */
const BYTES_PER_REQUEST = 2_000_000;

interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly user: unknown;
}

interface Note {
  readonly index: number;
  readonly message: string;
}

interface Answer {
  readonly errors?: readonly Note[];
  readonly skipped?: readonly Note[];
}

interface ImportFile {
  /** A file of one JSON object a line, as `POST /admin/v1/workspaces/{name}/import` takes them. */
  readonly path: string;
  readonly workspace: string;
}

/** Where a command shows what it does, and what it could not do. */
interface Outputs {
  readonly output: WriteStream;
  readonly errors: { write(text: string): unknown };
}

/**
 * Imports the users of a file through the admin API of a running server. A line that cannot be taken
 * is named with the reason, and spoils no other; importing a file again changes nothing.
 *
 * @returns the exit code: 0 where every line was imported, else 2.
 * @throws where the file cannot be read, or the server cannot be reached or refuses a request; with
 *   the lines that had not been imported by then.
 */
async function importThroughApi(
  { path, workspace }: ImportFile,
  target: AdminTarget,
  { output, errors }: Outputs,
): Promise<number> {
  const display = displayProgress(output, "user", "sent");
  let imported = 0;
  let done = 0;
  let failed = 0;
  const refuse = (number: number, message: string) => {
    failed += 1;
    errors.write(`${path}:${number}: ${message}\n`);
  };
  try {
    for await (const lines of requestsOf(path, refuse)) {
      const answer = await send(target, workspace, lines).catch((error: Error) => {
        throw new Error(`${path}:${lines[0]?.number} and what follows: ${error.message}`);
      });
      const notes = [...(answer.errors ?? []), ...(answer.skipped ?? [])];
      for (const { index, message } of notes) refuse(lines[index]?.number ?? 0, message);
      imported += lines.length - notes.length;
      done += lines.length;
      display.show({ done, total: null, failed });
    }
  } finally {
    display.end();
  }
  output.write(`${counted(imported, "user")} imported, ${count(failed)} not\n`);
  return failed === 0 ? 0 : 2;
}

async function send(
  target: AdminTarget,
  workspace: string,
  lines: readonly Line[],
): Promise<Answer> {
  const path = `/workspaces/${encodeURIComponent(workspace)}/import`;
  const users = lines.map((line) => line.user);
  try {
    return await callAdmin<Answer>(target, "POST", path, { users });
  } catch (error) {
    // A request without one good object is refused, with the same list of reasons.
    if (error instanceof Problem && error.details.body?.errors) return error.details.body;
    throw error;
  }
}

/** The lines of a file, as many at a time as a request takes. Empty lines are passed over. */
async function* requestsOf(
  path: string,
  refuse: (number: number, message: string) => void,
): AsyncGenerator<Line[]> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${path}: it cannot be read (${error.code}).`);
  });
  let lines: Line[] = [];
  let bytes = 0;
  let number = 0;
  for await (const text of file.readLines()) {
    number += 1;
    if (text.trim() === "") continue;
    const user = parse(text);
    if (user === undefined) {
      refuse(number, "it is not one JSON value");
      continue;
    }
    const size = Buffer.byteLength(text);
    if (lines.length === USERS_PER_REQUEST || (bytes > 0 && bytes + size > BYTES_PER_REQUEST)) {
      yield lines;
      lines = [];
      bytes = 0;
    }
    lines.push({ number, user });
    bytes += size;
  }
  if (lines.length > 0) yield lines;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
