import type { Logger } from "pino";
import type { Workspace } from "../context/workspace.ts";
import type { Job } from "../jobs/job.ts";
import type { Sealing } from "../sealing/sealing.ts";
import type { WriteServices } from "../track/write-batch.ts";
import type { IntegrationRow, RunRow } from "./store.ts";

export interface SyncServices extends WriteServices {
  readonly log: Logger;
  readonly sealing: Sealing;
}

/** A run of an integration, as a job of this process. */
export interface Run {
  readonly job: Job;
  readonly workspace: Workspace;
  readonly integration: IntegrationRow;
  readonly run: RunRow;
}
