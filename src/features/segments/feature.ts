import type { StoringServices } from "../../core/database/storing-services.ts";
import type { Feature } from "../../core/feature.ts";
import { countJob, createCountSlots } from "./count-exactly.ts";
import { createUserTotals } from "./count-users.ts";
import { sizesJob, sweepSegments } from "./daily-sizes.ts";
import { segmentDashboardEndpoints } from "./dashboard-endpoints.ts";
import { segmentEndpoints } from "./endpoints.ts";
import { segmentExportEndpoints } from "./exports/endpoints.ts";
import { callbackJob, sweepSegmentExports } from "./exports/exports.ts";
import { deleteAllExports, deleteExportsNaming } from "./exports/store.ts";
import { uploadJob } from "./exports/upload.ts";
import { publicSegmentEndpoints } from "./public-endpoints.ts";
import { segments } from "./resource.ts";
import { deleteAllSizes, deleteCountsNaming } from "./store.ts";

export { readUserFilter } from "./list-members.ts";

export const feature = {
  name: "segments",
  endpoints: [
    ...segmentEndpoints,
    ...segmentDashboardEndpoints,
    ...publicSegmentEndpoints,
    ...segmentExportEndpoints,
  ],
  resources: [segments],
  services: ({ database, clock }: StoringServices) => ({
    countSlots: createCountSlots(),
    userTotals: createUserTotals(database, clock),
  }),
  jobs: [countJob, sizesJob, callbackJob, uploadJob],
  reset: { later: [deleteAllSizes, deleteAllExports] },
  erasure: [deleteCountsNaming, deleteExportsNaming],
  sweeps: [sweepSegments, sweepSegmentExports],
} satisfies Feature;
