import type { Static } from "typebox";
import { type Fault, Problem } from "../base/problem.ts";
import { nearestTo } from "../base/values/nearest.ts";
import { noteOf } from "../base/verdicts.ts";
import { type CheckedRequest, verdictOn } from "./check-request.ts";
import { INPUT_ARRAYS, type Item, type Placed, type Verdict } from "./item.ts";
import type { NothingRecorded, Outcome } from "./reply.ts";

const NOTHING_VALID =
  "Valid data must be provided in the 'attributes', 'events', or 'purchases' fields.";

/** Refuses a request if none of its objects passed the checks, with the reason for each, or with the list that was misspelt. */
export function nothingValid({ faults }: CheckedRequest, body: object): Problem {
  const reasons = faults.length > 0 ? faults : misspeltLists(body);
  return new Problem(
    "INVALID_REQUEST",
    NOTHING_VALID,
    reasons.length > 0 ? { body: { errors: reasons.map(verdictOn) } } : {},
  );
}

function misspeltLists(body: object): Placed<Fault>[] {
  return Object.keys(body)
    .slice(0, MOST_NAMES)
    .flatMap((name) => {
      const array = INPUT_ARRAYS.find((each) => nearestTo(name, [each]));
      if (array === undefined || array === name) return [];
      const message = `'${name}' is not a list of this request: did you mean '${array}'?`;
      return [{ array, index: 0, value: { code: "INVALID_REQUEST", message } }];
    });
}

/** The most members of a body that are searched for a misspelled name. */
const MOST_NAMES = 20;

type Answer<Success> =
  | { readonly status: 201; readonly body: Success & Outcome }
  | { readonly status: 400; readonly body: Static<typeof NothingRecorded> };

/**
 * The verdicts as a response: `errors` and `skipped` in the order of the request. Attributes that were left out of
 * written objects are among `skipped`.
 *
 * @param success further members of a 201.
 */
export function answerTo<Success extends object>(
  checked: CheckedRequest,
  verdicts: readonly Verdict[],
  success: Success,
): Answer<Success> {
  const errors = [...checked.faults];
  const skipped: Placed<Fault>[] = [];
  for (const [place, verdict] of verdicts.entries()) {
    const item = checked.items[place] as Item;
    if (verdict.outcome === "refused") errors.push(placed(item, verdict.fault));
    else if (verdict.outcome === "skipped") skipped.push(placed(item, verdict.reason));
    else if (verdict.note) skipped.push(placed(item, verdict.note));
  }
  const isNothingDone = errors.length === checked.faults.length + verdicts.length;
  // The object is written: clients count an object in `errors` as failed.
  skipped.push(...checked.dropped);
  errors.sort(inRequestOrder);
  skipped.sort(inRequestOrder);
  if (isNothingDone) {
    return { status: 400, body: { message: NOTHING_VALID, errors: errors.map(verdictOn) } };
  }
  return {
    status: 201,
    body: {
      ...success,
      message: "success",
      ...(errors.length > 0 && { errors: errors.map(verdictOn) }),
      ...(skipped.length > 0 && { skipped: skipped.map((each) => noteOf(each, each.value)) }),
    },
  };
}

const placed = ({ array, index }: Item, value: Fault): Placed<Fault> => ({ array, index, value });

const inRequestOrder = (one: Placed<unknown>, other: Placed<unknown>): number =>
  INPUT_ARRAYS.indexOf(one.array) - INPUT_ARRAYS.indexOf(other.array) || one.index - other.index;
