import { callAdmin, type Reply } from "../../../cli/admin-client.ts";
import { count, counted } from "../../../cli/progress.ts";
import type { AdminTarget } from "../../../cli/target.ts";
import { printJson, printLines } from "../../../cli/terminal.ts";
import { findIntegration } from "./find-integration.ts";

type Tested = Reply<"testIntegration">;

/**
 * Prints what a sync would read, and the faults.
 *
 * @returns the exit code: 0 if nothing is wrong, 2 if some rows are, 1 if a sync would fail.
 * @throws if there is no such integration, or more than one.
 */
export async function testSourceThroughApi(
  { name, workspace }: { readonly name: string; readonly workspace: string | undefined },
  target: AdminTarget,
  asJson?: true,
): Promise<number> {
  const path = await findIntegration(target, name, workspace);
  const found = await callAdmin<"testIntegration">(target, "POST", `${path}/test`);
  if (asJson) printJson(found);
  else printLines(linesOf(found));
  if (found.problem !== null) return 1;
  return found.rows.some(({ code }) => code !== null) || found.rows_without_time ? 2 : 0;
}

function linesOf({ problem, columns, from, rows, ...found }: Tested): string[] {
  const read = columns.filter((each) => each.read_as !== null);
  const ignored = columns.filter((each) => each.read_as === null).map((each) => each.name);
  return [
    ...(read.length > 0
      ? [`Columns: ${read.map((each) => `${each.name} as ${each.read_as}`).join(", ")}`]
      : []),
    ...(ignored.length > 0 ? [`Ignored: ${ignored.join(", ")}`] : []),
    ...(found.rows_to_read === null
      ? []
      : [
          `The next sync reads ${counted(found.rows_to_read, "row")}, ${from === null ? "from the beginning" : `from ${from}`}`,
        ]),
    ...rows.map((row) => `  ${describe(row)}`),
    ...(found.rows_without_time
      ? [`Without a readable UPDATED_AT, never synced: ${count(found.rows_without_time)}`]
      : []),
    ...(found.rows_in_future
      ? [`With an UPDATED_AT in the future, waiting: ${count(found.rows_in_future)}`]
      : []),
    problem === null ? "Nothing is wrong with the source." : `A sync would fail: ${problem}`,
  ];
}

function describe({ identity, updated_at, payload_bytes, code, message }: Tested["rows"][number]) {
  const who = Object.entries(identity).map(([kind, value]) => `${kind} ${value}`);
  const verdict = code === null ? "would be synced" : `would be rejected: ${code}, ${message}`;
  return [updated_at, who.join(", ") || "no user", `${payload_bytes} bytes`, verdict].join("  ");
}
