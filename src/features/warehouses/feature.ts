import type { Feature } from "../../core/feature.ts";
import { warehouseAdminEndpoints } from "./admin-endpoints.ts";
import { withdrawConnections } from "./connection-store.ts";
import { connectionCredentials, connections } from "./connections.ts";
import { warehouseEndpoints } from "./endpoints.ts";
import { eraseSyncs, RETAINED_ROW_LOG, sweepSyncs } from "./forget.ts";
import { mailJobs } from "./mail.ts";
import { warehouseManageEndpoints } from "./manage-endpoints.ts";
import { type BucketServices, createBucketOpener } from "./open-bucket.ts";
import { syncAttention } from "./recent-runs.ts";
import { warehouseCredentials } from "./reseal.ts";
import { integrations } from "./resource.ts";
import { sourceEndpoints } from "./sources-endpoint.ts";
import { syncJob } from "./sync.ts";
import { testEndpoints } from "./test-endpoint.ts";
import { eraseLogEntries, eraseRunMessages } from "./traces-store.ts";

export const feature = {
  name: "warehouses",
  endpoints: [
    ...warehouseEndpoints,
    ...warehouseAdminEndpoints,
    ...warehouseManageEndpoints,
    ...sourceEndpoints,
    ...testEndpoints,
  ],
  reference: [
    { tag: "Warehouse syncs", paths: ["/cdi"] },
    {
      tag: "Sync administration",
      paths: ["/admin/v1/workspaces/:name/integrations", "/admin/v1/integrations"],
    },
  ],
  resources: [integrations],
  companyResources: [connections],
  attention: syncAttention,
  services: (given: BucketServices) => ({ openBucket: createBucketOpener(given) }),
  jobs: [syncJob, ...mailJobs],
  // First: no running sync can recreate a user afterwards.
  reset: { first: [eraseSyncs] },
  erasure: [eraseLogEntries, eraseRunMessages],
  deletion: { later: [withdrawConnections] },
  sealed: [warehouseCredentials, connectionCredentials],
  retained: [RETAINED_ROW_LOG],
  sweeps: [sweepSyncs],
} satisfies Feature;
