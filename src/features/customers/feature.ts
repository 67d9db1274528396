import type { StoringServices } from "../../core/database/storing-services.ts";
import type { Feature } from "../../core/feature.ts";
import { customerEndpoints } from "./endpoints.ts";
import { recountJob, scheduleRecounts, sweepCustomers } from "./recount.ts";
import { deleteCounts } from "./store.ts";
import { type CustomerCounts, createCustomerCounts } from "./write-counts.ts";

interface Own extends StoringServices {
  readonly customerCounts: CustomerCounts;
}

/** How old the counts are at most, apart from the time that writing them takes. */
const EVERY_MS = 5 * 1_000;

export const feature = {
  name: "customers",
  endpoints: customerEndpoints,
  services: ({ database, clock }: Pick<Own, "database" | "clock">) => ({
    customerCounts: createCustomerCounts(database, clock),
  }),
  jobs: [recountJob],
  onWritten: ({ customerCounts }: Own) => customerCounts.note,
  repeated: [
    {
      ms: EVERY_MS,
      what: "counting customers",
      run: async (services: Own) => {
        await scheduleRecounts(services);
        await services.customerCounts.writeAll();
      },
    },
  ],
  finish: ({ customerCounts }: Own) => customerCounts.writeAll(),
  reset: { later: [deleteCounts] },
  forgetWorkspace: ({ customerCounts }: Own, workspaceId) => customerCounts.forget(workspaceId),
  sweeps: [sweepCustomers],
} satisfies Feature;
