import type { Clock } from "../../core/base/clock.ts";
import type { Processes } from "../../core/base/processes.ts";
import type { Database } from "../../core/database/database.ts";
import type { Feature } from "../../core/feature.ts";
import { liveRequestEndpoints } from "./endpoints.ts";
import { answerLiveRequests } from "./read-requests.ts";
import { createRequestLog, type RequestLog } from "./request-log.ts";
import {
  answerForgetting,
  createRequestSharing,
  eraseRequestsNaming,
  forgetRequests,
  type RequestSharing,
  sweepRequests,
} from "./share-requests.ts";
import { deleteAllRequests } from "./store.ts";
import { answerLooks } from "./stream-requests.ts";
import { createStreamSlots } from "./stream-slots.ts";

interface Given {
  readonly database: Database;
  readonly clock: Clock;
  readonly processes: Processes;
}

interface Own {
  readonly requestLog: RequestLog;
  readonly requestSharing: RequestSharing;
}

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
  services({ database, clock }: Given, { liveRequests }: RequestSettings) {
    const requestLog = createRequestLog(clock, liveRequests);
    return {
      requestLog,
      requestSharing: createRequestSharing({ database, requestLog }),
      streamSlots: createStreamSlots(),
    };
  },
  answers(services: Given & Own) {
    answerLiveRequests(services);
    answerLooks(services);
    answerForgetting(services);
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
  forgetPerson: (services: Given, person) => forgetRequests(services, person),
  sweeps: [sweepRequests],
} satisfies Feature;
