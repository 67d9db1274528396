import type { Command } from "commander";
import { callAdmin, openPages, type Reply } from "../../../cli/admin-client.ts";
import { readCount } from "../../../cli/read-count.ts";
import { type AdminTarget, type TargetOptions, targetOf, withTarget } from "../../../cli/target.ts";
import { printJson, printLines } from "../../../cli/terminal.ts";
import { findWorkspaceName } from "../../../cli/workspace-option.ts";
import { RAPPORT } from "../../../core/base/command.ts";
import type { Row } from "../admin-endpoints.ts";
import { findIntegration } from "./find-integration.ts";
import { runSyncThroughApi } from "./run-sync.ts";
import { testSourceThroughApi } from "./test-source.ts";

const EXAMPLES = `
Examples:
  ${RAPPORT} cdi list
  ${RAPPORT} cdi test "CRM attributes"
  ${RAPPORT} cdi run "CRM attributes" --workspace demo
  ${RAPPORT} cdi rows "CRM attributes" --limit 20`;

const EXIT_CODES =
  "\nExit codes of run and test: 0 on success, 2 when some rows failed, 1 otherwise.";

const SEVERAL = "needed if several workspaces have an integration of that name";

interface Options extends TargetOptions {
  readonly workspace?: string;
}

/** `rapport cdi list|test|run|rows`: warehouse syncs of a running server. */
export function define(cdi: Command): void {
  cdi.addHelpText("after", `${EXAMPLES}\n${EXIT_CODES}`);

  withTarget(cdi.command("list"))
    .description("Lists the integrations, and how the last sync of each ended.")
    .option("--workspace <name>", "those of one workspace")
    .addHelpText("after", `\nExample:\n  ${RAPPORT} cdi list --workspace demo`)
    .action(listIntegrations);

  withTarget(cdi.command("run <integration>"))
    .description("Starts a sync on a running server and shows it until it ends.")
    .option("--workspace <name>", SEVERAL)
    .addHelpText(
      "after",
      `\nExample:\n  ${RAPPORT} cdi run "CRM attributes" --workspace demo\n${EXIT_CODES}`,
    )
    .action(async (name: string, options: Options) => {
      const sync = { name, workspace: options.workspace };
      // Only JSON goes to standard output.
      const output = options.json ? process.stderr : process.stdout;
      process.exitCode = await runSyncThroughApi(sync, targetOf(options), output, options.json);
    });

  withTarget(cdi.command("test <integration>"))
    .description("Opens the source, reads five rows, and says what a sync would do; syncs nothing.")
    .option("--workspace <name>", SEVERAL)
    .addHelpText(
      "after",
      `\nExample:\n  ${RAPPORT} cdi test "CRM attributes" --workspace demo\n${EXIT_CODES}`,
    )
    .action(async (name: string, { workspace, json, ...options }: Options) => {
      const wanted = { name, workspace };
      process.exitCode = await testSourceThroughApi(wanted, targetOf(options), json);
    });

  withTarget(cdi.command("rows <integration>"))
    .description("Prints the rows of a sync that failed, were skipped or wait, with the reasons.")
    .option("--workspace <name>", SEVERAL)
    .option("--run <id>", "a run other than the last one")
    .option("--limit <rows>", "how many at most", readCount, 100)
    .addHelpText("after", `\nExample:\n  ${RAPPORT} cdi rows "CRM attributes" --limit 20`)
    .action((name: string, { workspace, run, limit, json, ...options }) =>
      printRows(targetOf(options), { name, workspace, run, limit }, json),
    );
}

type Listed = Reply<"findIntegrations">["results"][number];

async function listIntegrations({ workspace, json, ...options }: Options): Promise<void> {
  const target = targetOf(options);
  const query = new URLSearchParams();
  if (workspace !== undefined) query.set("workspace", await findWorkspaceName(target, workspace));
  const shown: Listed[] = [];
  let cursor: string | undefined;
  do {
    const path = `/integrations?${query}`;
    const page: Reply<"findIntegrations"> = await callAdmin<"findIntegrations">(
      target,
      "GET",
      path,
    );
    shown.push(...page.results);
    cursor = page.next_cursor;
    if (cursor !== undefined) query.set("cursor", cursor);
  } while (cursor !== undefined);
  if (json) printJson({ integrations: shown });
  else if (shown.length === 0) printLines(["There is no integration."]);
  else printLines(shown.map(describe));
}

const describe = (each: Listed): string =>
  [
    each.integration_name,
    `workspace ${each.workspace}`,
    each.integration_type,
    each.integration_status,
    each.last_job_status === null ? "never synced" : `last sync ${each.last_job_status}`,
  ].join("  ");

interface WantedRows {
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
async function printRows(
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
  else printLines(rows.map(describeRow));
}

async function lastRun(target: AdminTarget, path: string, name: string): Promise<string> {
  const { results } = await callAdmin<"listIntegrationRuns">(target, "GET", `${path}/runs`);
  const [last] = results;
  if (!last) throw new Error(`'${name}' has not run yet: start it with ${RAPPORT} cdi run.`);
  return last.run_id;
}

function describeRow({ outcome, identity, field, code, message }: Row): string {
  const who = Object.entries(identity).map(([kind, value]) => `${kind} ${value}`);
  const place = field === null ? code : `${code} (${field})`;
  return [outcome, who.join(", ") || "no user", place, message].join("  ");
}
