import type { Command } from "commander";
import { callAdmin } from "../admin-client.ts";
import { readCount } from "../read-count.ts";
import { type TargetOptions, targetOf, withTarget } from "../target.ts";
import { printJson, printLines } from "../terminal.ts";
import { findWorkspaceName } from "../workspace-option.ts";
import { printRows } from "./print-rows.ts";
import { runSyncThroughApi } from "./run-sync.ts";
import { testSourceThroughApi } from "./test-source.ts";

const EXAMPLES = `
Examples:
  rapport cdi list
  rapport cdi test "CRM attributes"
  rapport cdi run "CRM attributes" --workspace demo
  rapport cdi rows "CRM attributes" --limit 20`;

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
    .addHelpText("after", "\nExample:\n  rapport cdi list --workspace demo")
    .action(listIntegrations);

  withTarget(cdi.command("run <integration>"))
    .description("Starts a sync on a running server and shows it until it ends.")
    .option("--workspace <name>", SEVERAL)
    .addHelpText(
      "after",
      `\nExample:\n  rapport cdi run "CRM attributes" --workspace demo\n${EXIT_CODES}`,
    )
    .action(async (name: string, options: Options) => {
      const sync = { name, workspace: options.workspace };
      // Only JSON goes to standard output.
      const output = options.json ? process.stderr : process.stdout;
      process.exitCode = await runSyncThroughApi(sync, targetOf(options), output, options.json);
    });

  withTarget(cdi.command("test <integration>"))
    .description(
      "Opens the source, reads three rows, and says what a sync would do; syncs nothing.",
    )
    .option("--workspace <name>", SEVERAL)
    .addHelpText(
      "after",
      `\nExample:\n  rapport cdi test "CRM attributes" --workspace demo\n${EXIT_CODES}`,
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
    .addHelpText("after", '\nExample:\n  rapport cdi rows "CRM attributes" --limit 20')
    .action((name: string, { workspace, run, limit, json, ...options }) =>
      printRows(targetOf(options), { name, workspace, run, limit }, json),
    );
}

interface Listed {
  readonly workspace: string;
  readonly integration_name: string;
  readonly integration_type: string;
  readonly integration_status: string;
  readonly last_job_status: string | null;
}

async function listIntegrations({ workspace, json, ...options }: Options): Promise<void> {
  const target = targetOf(options);
  if (workspace !== undefined) await findWorkspaceName(target, workspace);
  const { results } = await callAdmin<{ results: Listed[] }>(target, "GET", "/integrations");
  const shown = results.filter((each) => workspace === undefined || each.workspace === workspace);
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
