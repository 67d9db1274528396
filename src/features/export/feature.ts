import type { Tracing } from "../../core/base/observe/tracing.ts";
import type { Database } from "../../core/database/database.ts";
import type { Feature } from "../../core/feature.ts";
import { exportEndpoints } from "./endpoints.ts";
import { createLargeExports } from "./export-by-ids.ts";
import { createExportSlots } from "./export-stream.ts";
import { createSmallExports } from "./small-exports.ts";

export { DEFAULT_FIELDS, EXPORT_FIELDS, type ExportField } from "./profile-view.ts";
export { measurePortions, type PortionOfUsers, viewInPortions } from "./view-in-portions.ts";
export { viewUsers } from "./view-users.ts";

export const feature = {
  name: "export",
  endpoints: exportEndpoints,
  reference: [{ tag: "Export", paths: ["/users/export"] }],
  services: (given: { readonly database: Database; readonly tracing: Tracing }) => ({
    exportSlots: createExportSlots(),
    smallExports: createSmallExports(given),
    largeExports: createLargeExports(),
  }),
} satisfies Feature;
