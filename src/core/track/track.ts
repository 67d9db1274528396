import type { Clock } from "../base/clock.ts";
import type { WorkspaceContext } from "../base/context/context.ts";
import type { Metrics } from "../base/observe/metrics.ts";
import type { IdempotencyClaim } from "../http/endpoint.ts";
import { identifierKey } from "../people/profiles/identifiers.ts";
import { answerTo, nothingValid } from "./answer.ts";
import {
  type Capacity,
  type CheckedRequest,
  checkRequest,
  type TrackBody,
} from "./check-request.ts";
import { INPUT_ARRAYS, type InputArray, type Item, type Verdict } from "./item.ts";
import type { TrackReply } from "./reply.ts";
import type { WriteQueue } from "./write-queue.ts";

export interface TrackServices {
  readonly clock: Clock;
  readonly writeQueue: WriteQueue;
  readonly metrics: Metrics;
}

/**
 * Records attributes, events and purchases; when it responds they are committed and readable.
 *
 * spec: POST /users/track. Every object gets its own verdict and affects no other: an invalid one
 * is listed in `errors`, a valid one that changes nothing in `skipped`.
 *
 * @throws Problem INVALID_REQUEST when no object is valid, or when there are too many;
 *   RATE_LIMITED when the write queue is full.
 */
export async function track(
  services: TrackServices,
  context: WorkspaceContext,
  body: TrackBody,
  claim: IdempotencyClaim | undefined,
  capacity: Capacity = { objects: context.workspace.settings.track_max_updates },
): Promise<TrackReply> {
  const checked = await checkRequest(context.workspace, body, services.clock.now(), capacity);
  const { items } = checked;
  countRefused(services.metrics, checked.faults);
  if (items.length === 0) throw nothingValid(checked, body);
  const answer = (verdicts: readonly Verdict[]) =>
    answerTo(checked, verdicts, countersOf(body, items, verdicts));
  const verdicts = await services.writeQueue.write({
    context,
    items,
    ...(claim && { recorded: { claim, answer } }),
  });
  countVerdicts(services.metrics, verdicts);
  return answer(verdicts);
}

/** Counts objects that were refused before they were applied, in total and by code. */
export function countRefused(metrics: Metrics, faults: CheckedRequest["faults"]): void {
  if (faults.length === 0) return;
  metrics.items("refused", faults.length);
  for (const { value } of faults) metrics.rejection(value.code);
}

/** Counts the verdicts on applied objects, in total and by code. */
export function countVerdicts(metrics: Metrics, verdicts: readonly Verdict[]): void {
  const counts = { applied: 0, skipped: 0, refused: 0 };
  for (const verdict of verdicts) {
    counts[verdict.outcome]++;
    if (verdict.outcome === "skipped") metrics.rejection(verdict.reason.code);
    else if (verdict.outcome === "refused") metrics.rejection(verdict.fault.code);
  }
  for (const outcome of ["applied", "skipped", "refused"] as const) {
    if (counts[outcome] > 0) metrics.items(outcome, counts[outcome]);
  }
}

type Counters = Partial<Record<`${InputArray}_processed`, number>>;

/** Counts of accepted objects in each array that was sent; for attributes, the different users. */
function countersOf(
  body: TrackBody,
  items: readonly Item[],
  verdicts: readonly Verdict[],
): Counters {
  const counts = { attributes: 0, events: 0, purchases: 0 };
  const users = new Set<string>();
  for (const [place, verdict] of verdicts.entries()) {
    const { array, identifier } = items[place] as Item;
    if (verdict.outcome === "refused") continue;
    if (array !== "attributes") counts[array]++;
    else users.add(verdict.outcome === "applied" ? verdict.profileId : identifierKey(identifier));
  }
  counts.attributes = users.size;
  const sent = INPUT_ARRAYS.filter((array) => body[array] !== undefined);
  return Object.fromEntries(sent.map((array) => [`${array}_processed`, counts[array]]));
}
