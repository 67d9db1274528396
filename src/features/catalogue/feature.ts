import type { StoringServices } from "../../core/database/storing-services.ts";
import type { Feature } from "../../core/feature.ts";
import { type Catalogue, createCatalogue, sweepCatalogue } from "./catalogue.ts";
import { catalogueEndpoints } from "./endpoints.ts";
import { deleteCatalogue, eraseFromLatest } from "./store.ts";

type Own = { readonly catalogue: Catalogue };

/** How old its counts are at most. */
const EVERY_MS = 10 * 1_000;

export const feature = {
  name: "catalogue",
  endpoints: catalogueEndpoints,
  services: ({ database, clock }: StoringServices) => ({
    catalogue: createCatalogue(database, clock),
  }),
  onWritten: ({ catalogue }: Own) => catalogue.note,
  repeated: [
    {
      ms: EVERY_MS,
      what: "counting what was sent",
      run: ({ catalogue }: Own) => catalogue.write(),
    },
  ],
  finish: ({ catalogue }: Own) => catalogue.write(),
  reset: { later: [deleteCatalogue] },
  forgetWorkspace: ({ catalogue }: Own, workspaceId) => catalogue.forget(workspaceId),
  erasure: [eraseFromLatest],
  forgetPerson: async ({ catalogue }: Own, { workspaceId, names }) =>
    catalogue.forgetUsers(workspaceId, new Set(names)),
  sweeps: [sweepCatalogue],
} satisfies Feature;
