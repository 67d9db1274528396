import { setTimeout as sleep } from "node:timers/promises";
import { recordRead } from "../../core/admin/audit/audit.ts";
import type { Clock } from "../../core/base/clock.ts";
import type { Context, WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import type { TextStream } from "../../core/http/endpoint.ts";
import type { LiveServices } from "./read-requests.ts";
import {
  matches,
  mayMatch,
  type Question,
  questionOf,
  type RequestFilter,
} from "./request-filter.ts";
import type { RequestLog } from "./request-log.ts";
import { type LiveRequest, viewOf } from "./request-view.ts";
import { selectNewRequests } from "./store.ts";
import type { StreamSlots } from "./stream-slots.ts";

/*
 * A stream looks for new requests twice a second, and only after its reader has taken the earlier
 * ones: a slow reader holds one look's requests, and is disconnected if nothing moves for a minute
 * (core/http/connections.ts). Without a stream nothing is read.
 */

export interface StreamServices extends LiveServices {
  readonly readiness: { readonly isReady: boolean };
  readonly streamSlots: StreamSlots;
  readonly clock: Clock;
}

export interface StreamInput {
  readonly filter: RequestFilter;
  /** The id of a request: only newer ones are wanted. Without it only requests from now on. */
  readonly since: string | undefined;
  readonly forSeconds: number;
  readonly confirmCaller: () => Promise<Pick<Context, "person">>;
}

const LOOK_EVERY_MS = 500;

/** After this many looks a comment keeps proxies and the reader connected. */
const COMMENT_EVERY = 4;

/** How many requests one look reads and passes on; further ones of this process may match, and are only counted. */
const MOST_AT_A_LOOK = 100;
const MOST_BYTES_AT_A_LOOK = 524_288;

interface Look {
  /** Oldest first. */
  readonly requests: readonly LiveRequest[];
  readonly skipped: number;
}

/** The new requests of this process. */
function lookHere(log: RequestLog, question: Question, after: string): Look {
  const requests: LiveRequest[] = [];
  let bytes = 0;
  let skipped = 0;
  for (const kept of log.newest(question.workspaceId)) {
    if (kept.id <= after) break;
    if (!mayMatch(kept, question)) continue;
    if (requests.length === MOST_AT_A_LOOK || bytes > MOST_BYTES_AT_A_LOOK) {
      // Not worth parsing its body to check whether it matches.
      skipped++;
      continue;
    }
    const view = viewOf(kept, true);
    bytes += (kept.body?.length ?? 0) + (kept.response?.length ?? 0);
    if (matches(view, question)) requests.push(question.showsPeople ? view : viewOf(kept, false));
  }
  return { requests: requests.reverse(), skipped };
}

/** Requests that other processes have recorded since the last look. The next look reads what does not fit. */
async function lookElsewhere(
  { database, requestLog }: StreamServices,
  question: Question,
  seen: Record<string, string>,
  since: string,
): Promise<Look> {
  // The embedded engine has one process.
  if (database.engine === "embedded") return { requests: [], skipped: 0 };
  const place = { seen, since, without: requestLog.id };
  const read = await selectNewRequests(database, question.workspaceId, place, MOST_AT_A_LOOK);
  for (const { logId, id } of read) seen[logId] = id;
  const requests = read
    .filter((kept) => mayMatch(kept, question) && matches(viewOf(kept, true), question))
    .map((kept) => viewOf(kept, question.showsPeople));
  return { requests, skipped: 0 };
}

/**
 * New requests as server-sent events, until the reader leaves, loses the right to see them, the time is over, or the
 * server stops. Opening a stream is audited: bodies name people.
 *
 * @throws Problem FORBIDDEN; NOT_FOUND if none are kept; RATE_LIMITED for too many streams.
 */
export async function* streamRequests(
  services: StreamServices,
  context: WorkspaceContext,
  { filter, since = services.clock.newId(), forSeconds, confirmCaller }: StreamInput,
): TextStream {
  const { workspace, person, actor } = context;
  const question = questionOf(context, filter);
  if (services.requestLog.size === 0) throw areOff();
  const leave = services.streamSlots.take(workspace.id, person?.userId ?? actor);
  try {
    await recordRead(services, context, "live_requests", "all");
    yield ": connected\n\n";
    const confirm = async () =>
      questionOf({ workspace, person: (await confirmCaller()).person }, filter);
    const endsAt = performance.now() + forSeconds * 1_000;
    yield* follow(services, { first: question, since, confirm, endsAt });
  } finally {
    leave();
  }
}

interface Following {
  readonly first: Question;
  readonly since: string;
  /** What the caller may see now. @throws when that is nothing any more. */
  readonly confirm: () => Promise<Question>;
  readonly endsAt: number;
}

async function* follow(
  services: StreamServices,
  { first, since, confirm, endsAt }: Following,
): TextStream {
  /** The latest request that was seen of each log. */
  const seen: Record<string, string> = {};
  const { requestLog } = services;
  let question: Question | undefined = first;
  for (let look = 1; services.readiness.isReady && performance.now() < endsAt; look++) {
    await sleep(Math.max(1, Math.min(LOOK_EVERY_MS, endsAt - performance.now())));
    // The view follows the present permissions.
    question = await confirm().catch(endOfRight);
    if (question === undefined) return;
    if (look % COMMENT_EVERY === 0) yield ": still here\n\n";
    const latest = requestLog.latest();
    const events = eventsOf([
      lookHere(requestLog, question, seen[requestLog.id] ?? since),
      await lookElsewhere(services, question, seen, since),
    ]);
    if (latest !== undefined) seen[requestLog.id] = latest;
    if (events) yield events;
  }
}

/**
 * Any error has the same result: a stream whose caller cannot be confirmed ends, and clients
 * connect again.
 */
const endOfRight = (): undefined => undefined;

function eventsOf(looks: readonly Look[]): string {
  const requests = looks.flatMap((look) => look.requests);
  requests.sort((one, other) => (one.id < other.id ? -1 : 1));
  const skipped = looks.reduce((sum, look) => sum + look.skipped, 0);
  const gap = skipped > 0 ? `event: skipped\ndata: ${JSON.stringify({ skipped })}\n\n` : "";
  const events = requests.map(
    (each) => `event: request\nid: ${each.id}\ndata: ${JSON.stringify(each)}\n\n`,
  );
  return gap + events.join("");
}

const areOff = () =>
  new Problem(
    "NOT_FOUND",
    "This server keeps no live requests: set LIVE_REQUESTS to how many it should keep.",
  );
