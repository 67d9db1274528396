import type { StoringServices } from "../../core/database/storing-services.ts";
import type { Feature } from "../../core/feature.ts";
import { liveRequestEndpoints } from "./endpoints.ts";
import { createRequestLog, type RequestLog } from "./request-log.ts";
import {
  createRequestSharing,
  eraseRequestsNaming,
  forgetRequests,
  type RequestSharing,
  sweepRequests,
} from "./share-requests.ts";
import { deleteAllRequests } from "./store.ts";
import { createStreamSlots } from "./stream-slots.ts";

type Own = { readonly requestLog: RequestLog; readonly requestSharing: RequestSharing };

interface RequestSettings {
  /** How many requests are kept; 0 keeps none. */
  readonly liveRequests: number;
}

/** After how long another server shows a request. */
const SHARED_EVERY_MS = 1_000;

export const feature = {
  name: "live-requests",
  endpoints: liveRequestEndpoints,
  reference: [{ tag: "Dashboard", paths: ["/admin/v1/workspaces/:name/requests"] }],
  services({ database, clock }: StoringServices, { liveRequests }: RequestSettings) {
    const requestLog = createRequestLog(clock, liveRequests);
    return {
      requestLog,
      requestSharing: createRequestSharing({ database, requestLog }),
      streamSlots: createStreamSlots(),
    };
  },
  onAnswered: ({ requestLog }: Own, { liveRequests }: RequestSettings) =>
    liveRequests > 0 ? requestLog.note : undefined,
  repeated: [
    {
      ms: SHARED_EVERY_MS,
      what: "writing down live requests",
      run: ({ requestSharing }: Own) => requestSharing.write(),
    },
  ],
  finish: ({ requestSharing }: Own) => requestSharing.writeAll(),
  reset: { later: [deleteAllRequests] },
  erasure: [eraseRequestsNaming],
  forgetWorkspace: ({ requestLog }: Own, workspaceId) => requestLog.forget(workspaceId, () => true),
  forgetPerson: (services: StoringServices & Own, person) => forgetRequests(services, person),
  sweeps: [sweepRequests],
} satisfies Feature;
