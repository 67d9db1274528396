import type { Row } from "../../intake/warehouses/admin-endpoints.ts";
import { callAdmin, openPages } from "../admin-client.ts";
import type { AdminTarget } from "../target.ts";
import { printJson, printLines } from "../terminal.ts";
import { findIntegration } from "./find-integration.ts";

export interface WantedRows {
  /** The workspace of the integration. */
  readonly name: string;
  readonly workspace?: string | undefined;
  /** The id of a run; by default the last one. */
  readonly run?: string | undefined;
  readonly limit: number;
}

/**
 * Prints the rows of a run that failed, were skipped or wait, one a line.
 *
 * @throws if there is no such integration or run, or it has not run yet.
 */
export async function printRows(
  target: AdminTarget,
  { name, workspace, run, limit }: WantedRows,
  asJson?: true,
): Promise<void> {
  const path = await findIntegration(target, name, workspace);
  const runId = run ?? (await lastRun(target, path, name));
  const rowsPath = `${path}/runs/${encodeURIComponent(runId)}/rows`;
  const rows: Row[] = [];
  for await (const page of openPages<Row>(target, rowsPath)) {
    rows.push(...page.slice(0, limit - rows.length));
    if (rows.length === limit) break;
  }
  if (asJson) printJson({ run_id: runId, rows });
  else if (rows.length === 0) printLines(["Every row of this run was synced."]);
  else printLines(rows.map(describe));
}

async function lastRun(target: AdminTarget, path: string, name: string): Promise<string> {
  const { results } = await callAdmin<{ results: { run_id: string }[] }>(
    target,
    "GET",
    `${path}/runs`,
  );
  const [last] = results;
  if (!last) throw new Error(`'${name}' has not run yet: start it with rapport cdi run.`);
  return last.run_id;
}

function describe({ outcome, identity, field, code, message }: Row): string {
  const who = Object.entries(identity).map(([kind, value]) => `${kind} ${value}`);
  const place = field === null ? code : `${code} (${field})`;
  return [outcome, who.join(", ") || "no user", place, message].join("  ");
}
