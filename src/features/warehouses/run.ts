import type { Logger } from "pino";
import type { Job } from "../../admin/jobs/job.ts";
import type { Sealing } from "../../admin/secrets/sealing.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import type { WriteServices } from "../track/write-batch.ts";
import type { IntegrationRow, RunRow } from "./store.ts";

export interface SyncServices extends WriteServices {
  readonly log: Logger;
  readonly sealing: Sealing;
  readonly outbound: Outbound;
}

/** A run of an integration, as a job of this process. */
export interface Run {
  readonly job: Job;
  readonly workspace: Workspace;
  readonly integration: IntegrationRow;
  readonly run: RunRow;
}
