import { enqueue } from "../../core/admin/jobs/queue.ts";
import type { Worker } from "../../core/admin/jobs/worker.ts";
import { Problem } from "../../core/base/problem.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { SYNC_JOB } from "./integration.ts";
import { getIntegration, type WorkspaceId } from "./list.ts";
import { insertRun } from "./store.ts";

export type TriggerServices = StoringServices & { readonly worker: Pick<Worker, "wake"> };

/** When it makes sense to ask again. */
const RETRY_AFTER_SECONDS = 30;

/**
 * Starts a sync now.
 *
 * @returns the id of the run, which is readable at once.
 * @throws Problem INVALID_REQUEST, NOT_FOUND, or RATE_LIMITED while one runs or waits.
 */
export async function triggerSync(
  services: TriggerServices,
  workspace: WorkspaceId,
  integrationId: string,
): Promise<string> {
  const { database, clock, worker } = services;
  const { id } = await getIntegration(services, workspace, integrationId);
  const runId = await database.transaction(async (tx) => {
    const workspaceId = workspace.id;
    const jobId = await enqueue(tx, clock, { workspaceId, kind: SYNC_JOB, subject: id });
    if (jobId) {
      await insertRun(tx, { workspaceId, integrationId: id, runId: jobId }, clock.now());
    }
    return jobId;
  });
  worker.wake();
  if (runId) return runId;
  throw new Problem("RATE_LIMITED", "Another job is in progress", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
