import type { Logger } from "pino";
import type { Job } from "../../core/admin/jobs/job.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import type { Workspace } from "../../core/base/context/workspace.ts";
import type { Outbound } from "../../core/outbound/outbound.ts";
import type { WriteServices } from "../../core/track/write-batch.ts";
import type { IntegrationRow, RunKey, RunRow } from "./store.ts";

export interface SyncServices extends WriteServices {
  readonly log: Logger;
  readonly sealing: Sealing;
  readonly outbound: Outbound;
}

/** A run of an integration, as a job of this process. */
export interface Run {
  readonly job: Job;
  readonly key: RunKey;
  readonly workspace: Workspace;
  readonly integration: IntegrationRow;
  readonly run: RunRow;
}
