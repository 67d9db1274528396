import type { Feature } from "../../core/feature.ts";
import { importEndpoints } from "./endpoints.ts";
import { sweepImports } from "./import-batch.ts";
import { deleteAllImports, eraseNotes } from "./imports-store.ts";

export const feature = {
  name: "import",
  endpoints: importEndpoints,
  reference: [{ tag: "User administration", paths: ["/admin/v1/workspaces/:name/import"] }],
  reset: { later: [deleteAllImports] },
  erasure: [eraseNotes],
  sweeps: [sweepImports],
} satisfies Feature;
