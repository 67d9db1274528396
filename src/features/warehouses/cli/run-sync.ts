import { setTimeout as sleep } from "node:timers/promises";
import type { WriteStream } from "node:tty";
import { callAdmin } from "../../../cli/admin-client.ts";
import { count, counted, displayProgress } from "../../../cli/progress.ts";
import type { AdminTarget } from "../../../cli/target.ts";
import { printJson } from "../../../cli/terminal.ts";
import type { Run } from "../admin-endpoints.ts";
import { findIntegration } from "./find-integration.ts";

const ASK_EVERY_MS = 250;

const EXIT_CODES: Readonly<Record<string, number>> = { success: 0, partial: 2 };

/**
 * Starts a sync through the admin API and shows it until it ends: as a bar in a terminal, as plain
 * lines elsewhere.
 *
 * @returns the exit code: 0 for success, 2 for partial, 1 otherwise.
 * @throws if there is no such integration, or more than one, or one runs already.
 */
export async function runSyncThroughApi(
  sync: { readonly name: string; readonly workspace: string | undefined },
  target: AdminTarget,
  output: WriteStream,
  asJson = false,
): Promise<number> {
  const path = await findIntegration(target, sync.name, sync.workspace);
  const { run_id } = await callAdmin<"startIntegrationRun">(target, "POST", `${path}/sync`);
  const display = displayProgress(output, "row", "read");
  let said: string | null = null;
  for (;;) {
    const { run } = await callAdmin<"getIntegrationRun">(target, "GET", `${path}/runs/${run_id}`);
    const isRunning = run.job_status === "running";
    display.show({
      done: run.rows_read,
      total: run.rows_expected,
      failed: run.rows_failed_with_errors,
    });
    if (isRunning) {
      // Why the source is being retried.
      if (run.message !== null && run.message !== said) display.say(run.message);
      said = run.message;
      await sleep(ASK_EVERY_MS);
      continue;
    }
    display.end();
    if (asJson) printJson(run);
    else output.write(endOf(run, `/admin/v1${path}/runs/${run_id}/rows`));
    return EXIT_CODES[run.job_status] ?? 1;
  }
}

function endOf(run: Run, rowsPath: string): string {
  const sentences = [
    `${run.job_status}: ${counted(run.rows_read, "row")} read, ` +
      `${count(run.rows_synced)} synced, ${count(run.rows_failed_with_errors)} failed`,
    ...(run.message ? [run.message] : []),
    ...(run.rows_failed_with_errors > 0 ? [`Why rows failed: GET ${rowsPath}`] : []),
  ];
  return `${sentences.join("\n")}\n`;
}
