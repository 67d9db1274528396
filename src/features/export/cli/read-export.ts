import { openAdmin } from "../../../cli/admin-client.ts";
import type { AdminTarget } from "../../../cli/target.ts";
import { workspacePath } from "../../../cli/workspace-option.ts";
import { LONGEST_LINE_BYTES, TOO_LONG } from "../../../core/base/lines.ts";

/** Which rows to export. */
export interface ExportSelection {
  readonly since?: string;
  readonly until?: string;
  readonly attribute?: readonly string[];
}

const NEWLINE = 10;

/** A line with its line break. */
const MOST_HELD_BYTES = 2 * LONGEST_LINE_BYTES;

/**
 * The lines of an export, in pieces that end with a whole line. The last line of the stream, which says that
 * it is complete, is checked and left out.
 *
 * @param onRows gets the number of rows in each piece.
 * @throws if the stream breaks off or rows are missing.
 */
export async function* readExport(
  target: AdminTarget,
  workspace: string,
  kind: string,
  { since, until, attribute = [] }: ExportSelection,
  onRows: (rows: number) => void,
): AsyncGenerator<Uint8Array> {
  const query = new URLSearchParams({ ...(since && { since }), ...(until && { until }) });
  for (const each of attribute) query.append("attribute", each);
  const path = `${workspacePath(workspace)}/export/${kind}?${query}`;
  const { body } = await openAdmin(target, path);
  let rows = 0;
  // From the last complete line on: it may be the end.
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  try {
    for await (const chunk of body ?? []) {
      held.push(chunk);
      heldBytes += chunk.length;
      if (heldBytes > MOST_HELD_BYTES) throw new Error(`A row is ${TOO_LONG}.`);
      if (!chunk.includes(NEWLINE)) continue;
      const bytes = Buffer.concat(held);
      const end = startOfLastLine(bytes);
      held = [bytes.subarray(end)];
      heldBytes = bytes.length - end;
      if (end === 0) continue;
      const count = countLines(bytes.subarray(0, end));
      rows += count;
      onRows(count);
      yield bytes.subarray(0, end);
    }
  } catch (error) {
    throw brokenOff(rows, error);
  }
  const complete = readEnd(Buffer.concat(held).toString());
  if (complete !== rows) throw brokenOff(rows, undefined);
}

/** The beginning of the last line; 0 if there is only one. */
function startOfLastLine(bytes: Buffer): number {
  const lastNewline = bytes.lastIndexOf(NEWLINE);
  return lastNewline <= 0 ? 0 : bytes.lastIndexOf(NEWLINE, lastNewline - 1) + 1;
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** How many rows a complete export has; undefined if this is not the last line of one. */
function readEnd(line: string): number | undefined {
  try {
    const { complete, rows } = JSON.parse(line).export;
    return complete === true ? rows : undefined;
  } catch {
    return undefined;
  }
}

const brokenOff = (rows: number, cause: unknown): Error =>
  new Error(
    `The export broke off after ${rows} rows, and the output is incomplete: the server or its database ` +
      "failed, or the connection was lost. Run the command again.",
    { cause },
  );
