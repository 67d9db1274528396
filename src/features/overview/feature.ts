import type { Metrics } from "../../core/base/observe/metrics.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import type { Feature } from "../../core/feature.ts";
import { overviewEndpoints } from "./endpoints.ts";
import { createTrafficSharing, sweepTraffic, type TrafficSharing } from "./share-traffic.ts";

type Given = StoringServices & { readonly metrics: Metrics };

type Own = { readonly trafficSharing: TrafficSharing };

/** The greatest age of the counts that the overview of another process shows. */
const SHARED_EVERY_MS = 10 * 1_000;

export const feature = {
  name: "overview",
  endpoints: overviewEndpoints,
  services: (given: Given) => ({ trafficSharing: createTrafficSharing(given) }),
  repeated: [
    {
      ms: SHARED_EVERY_MS,
      what: "writing down the traffic",
      run: ({ trafficSharing }: Own) => trafficSharing.write(),
    },
  ],
  finish: ({ trafficSharing }: Own) => trafficSharing.write(),
  sweeps: [sweepTraffic],
} satisfies Feature;
