import type { Workspace } from "../access/workspace.ts";
import type { Clock } from "../clock.ts";
import type { Contract, Input, Reply } from "../http/endpoint.ts";
import { type Fault, Problem } from "../problem.ts";
import { identifierKey } from "../profiles/identifiers.ts";
import { type CheckedRequest, checkRequest, type TrackBody } from "./check-request.ts";
import { INPUT_ARRAYS, type Item, type Placed, type Verdict } from "./item.ts";
import type { WriteQueue } from "./write-queue.ts";

export interface TrackServices {
  readonly clock: Clock;
  readonly writeQueue: WriteQueue;
}

const NOTHING_VALID =
  "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields.";

/**
 * Records attributes, events and purchases; when it answers they are committed and readable.
 *
 * spec: POST /users/track. Every object gets its own verdict: one that cannot be taken stands in
 * `errors`, one that is valid and changes nothing in `skipped`, and neither spoils its neighbours.
 *
 * @throws Problem INVALID_REQUEST when no object can be taken, or when there are too many;
 *   RATE_LIMITED when the server has too much to write.
 */
export async function track(
  services: TrackServices,
  workspace: Workspace,
  body: TrackBody,
  { idempotency: claim, call }: Pick<Input<Contract>, "idempotency" | "call">,
): Promise<Reply> {
  const checked = checkRequest(workspace, body, services.clock.now());
  if (checked.items.length === 0)
    throw new Problem("INVALID_REQUEST", NOTHING_VALID, nothing(checked));
  const answer = (verdicts: readonly Verdict[]) => answerTo(body, checked, verdicts);
  const { items } = checked;
  const verdicts = await services.writeQueue.write({
    workspace,
    call,
    items,
    ...(claim && { recorded: { claim, answer } }),
  });
  return answer(verdicts);
}

const nothing = ({ faults }: CheckedRequest) =>
  faults.length > 0 ? { body: { errors: faults.map(errorOf) } } : {};

/** design: Track, per-item errors. `type` and `message` hold the same sentence: clients parse `type`. */
const errorOf = ({ array, index, value }: Placed<Fault>) => ({
  type: value.message,
  ...value,
  input_array: array,
  index,
});

function answerTo(body: TrackBody, checked: CheckedRequest, verdicts: readonly Verdict[]): Reply {
  const errors = [...checked.faults];
  const skipped: Placed<Fault>[] = [];
  for (const [place, verdict] of verdicts.entries()) {
    const item = checked.items[place] as Item;
    if (verdict.outcome === "refused") errors.push(placed(item, verdict.fault));
    else if (verdict.outcome === "skipped") skipped.push(placed(item, verdict.reason));
  }
  errors.sort(inRequestOrder);
  if (errors.length === checked.faults.length + verdicts.length) {
    return { status: 400, body: { message: NOTHING_VALID, errors: errors.map(errorOf) } };
  }
  return {
    status: 201,
    body: {
      ...countersOf(body, checked.items, verdicts),
      message: "success",
      ...(errors.length > 0 && { errors: errors.map(errorOf) }),
      ...(skipped.length > 0 && {
        skipped: skipped.map(({ array, index, value }) => ({
          ...value,
          input_array: array,
          index,
        })),
      }),
    },
  };
}

const placed = ({ array, index }: Item, value: Fault): Placed<Fault> => ({ array, index, value });

const inRequestOrder = (one: Placed<unknown>, other: Placed<unknown>): number =>
  INPUT_ARRAYS.indexOf(one.array) - INPUT_ARRAYS.indexOf(other.array) || one.index - other.index;

/** What was accepted of each array that was sent; of attributes, the different users. */
function countersOf(
  body: TrackBody,
  items: readonly Item[],
  verdicts: readonly Verdict[],
): Record<string, number> {
  const counts = { attributes: 0, events: 0, purchases: 0 };
  const users = new Set<string>();
  for (const [place, verdict] of verdicts.entries()) {
    const { array, who } = items[place] as Item;
    if (verdict.outcome === "refused") continue;
    if (array !== "attributes") counts[array]++;
    else users.add(verdict.outcome === "applied" ? verdict.profileId : identifierKey(who));
  }
  counts.attributes = users.size;
  const sent = INPUT_ARRAYS.filter((array) => body[array] !== undefined);
  return Object.fromEntries(sent.map((array) => [`${array}_processed`, counts[array]]));
}
