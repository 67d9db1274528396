/*
 * Syncs for tests: an integration in a separate workspace, run through the API, with its results.
 */
import { randomUUID } from "node:crypto";
import type { TestServer, TestWorkspace } from "./harness.ts";
import { until } from "./until.ts";

export interface RunView {
  readonly run_id: string;
  readonly job_status: string;
  readonly message: string | null;
  readonly last_timestamp_synced: string | null;
  readonly rows_read: number;
  readonly rows_synced: number;
  readonly rows_skipped: number;
  readonly rows_failed_with_errors: number;
}

export interface RowView {
  readonly outcome: string;
  readonly identity: Readonly<Record<string, string>>;
  readonly updated_at: string | null;
  readonly field: string | null;
  readonly code: string;
  readonly message: string;
}

export interface TestIntegration {
  readonly id: string;
  readonly name: string;
  readonly workspace: TestWorkspace;
  /** Its path in the admin API. */
  readonly path: string;
  /** Starts a sync and waits for its end. */
  sync(): Promise<RunView>;
  /** Waits for the end of a run. */
  ended(runId: string): Promise<RunView>;
  /** The log's entries about the rows of a run. */
  rowsOf(run: RunView): Promise<RowView[]>;
  /** Starts a sync, and returns the log beside the run. */
  syncWithLog(): Promise<{ run: RunView; rows: RowView[] }>;
  /** Applies its declaration again with changes. */
  change(declared: Record<string, unknown>): Promise<void>;
}

/** Declares an integration in a new workspace. By default a failing source is tried once. */
export async function startIntegration(
  server: TestServer,
  declared: Record<string, unknown>,
): Promise<TestIntegration> {
  const id = randomUUID();
  const entry = { id, name: "CRM", type: "attributes", retry: { attempts: 1 }, ...declared };
  const workspace = await server.workspace({ integrations: [entry] });
  const path = `/admin/v1/workspaces/${workspace.name}/integrations/${id}`;

  async function ended(runId: string): Promise<RunView> {
    return until(async () => {
      const { run } = (await server.admin("GET", `${path}/runs/${runId}`)).body;
      return run.job_status !== "running" && run;
    });
  }

  async function sync(): Promise<RunView> {
    const { status, body } = await server.admin("POST", `${path}/sync`);
    if (status !== 202) throw new Error(`${status}: ${body.message}`);
    return ended(body.run_id);
  }

  async function rowsOf(run: RunView): Promise<RowView[]> {
    const { body } = await server.admin("GET", `${path}/runs/${run.run_id}/rows`);
    return body.results;
  }

  return {
    id,
    name: entry.name,
    workspace,
    path,
    sync,
    ended,
    rowsOf,
    async syncWithLog() {
      const run = await sync();
      return { run, rows: await rowsOf(run) };
    },
    async change(changes) {
      const answer = await server.admin("POST", "/admin/v1/apply", {
        company: { name: "Test" },
        workspaces: [
          { name: workspace.name, allow_reset: true, integrations: [{ ...entry, ...changes }] },
        ],
      });
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    },
  };
}
