import type { WorkspaceContext } from "../../base/context/context.ts";
import type { FairLine } from "../../base/fair-line.ts";
import { type Checked, type Fault, Problem, refused } from "../../base/problem.ts";
import { findUnstorable, isJsonObject, type JsonObject } from "../../base/values/plain-json.ts";
import { errorOf, type ItemNote, type ItemPlace, noteOf } from "../../base/verdicts.ts";
import type { PeopleServices } from "../profiles/write-people.ts";
import { findRefused } from "../subscriptions/refuse-unseen.ts";
import {
  changeIdentities,
  type IdentityServices,
  type Result,
  type Step,
} from "./change-identities.ts";
import { type ItemResult, type Preview, pageOfResults } from "./preview.ts";

/* Shared parts of requests about identities: lists of items with a verdict on each. */

/** spec: Limits. */
export const MOST_ITEMS = 50;

/** The effect of an item, before its place in the request is known. */
export type Work = Omit<Step, "place">;

export interface CheckedItems {
  readonly steps: readonly Step[];
  readonly faults: readonly PlacedFault[];
}

interface PlacedFault {
  readonly place: ItemPlace;
  readonly fault: Fault;
}

/** Checks every element of a list on its own. */
export function checkEach(
  array: string,
  elements: readonly unknown[],
  check: (element: unknown) => Checked<Work>,
): CheckedItems {
  const steps: Step[] = [];
  const faults: PlacedFault[] = [];
  for (const [index, element] of elements.entries()) {
    const place = { array, index };
    const unstorable = findUnstorable(element, "");
    const checked = unstorable ? { fault: unstorable } : check(element);
    if ("fault" in checked) faults.push({ place, fault: checked.fault });
    else steps.push({ ...checked.value, place });
  }
  return { steps, faults };
}

/** The check of an element that must be an object. */
export const ofObject =
  (check: (raw: JsonObject) => Checked<Work>) =>
  (element: unknown): Checked<Work> =>
    isJsonObject(element) ? check(element) : refused("NOT_AN_OBJECT", "must be an object");

/** Joins the checked items of several lists, in order. */
export const together = (lists: readonly CheckedItems[]): CheckedItems => ({
  steps: lists.flatMap((list) => list.steps),
  faults: lists.flatMap((list) => list.faults),
});

/** @throws Problem INVALID_REQUEST for a list of more than 50. */
export function refuseTooMany(list: readonly unknown[] | undefined): void {
  if ((list?.length ?? 0) <= MOST_ITEMS) return;
  throw new Problem(
    "INVALID_REQUEST",
    "The max number of external_ids and aliases per request was exceeded",
  );
}

/** The notes of a response about single items; empty members are absent. */
export interface Notes {
  readonly skipped?: ItemNote[];
  readonly dry_run?: true;
  /** A page of the outcomes. */
  readonly results?: ItemResult[];
  readonly next_cursor?: string;
}

/**
 * Applies all items of a request, or none: one faulty item refuses the whole request.
 *
 * @param preview reports the effects, without changing anything.
 * @param change applies the changes, by default in a separate transaction.
 * @returns how many items were accepted, with or without effect, and what to report about them.
 * @throws Problem INVALID_REQUEST listing every faulty item with its array and index.
 */
export async function carryOut(
  services: IdentityServices,
  context: WorkspaceContext,
  { steps, faults }: CheckedItems,
  preview: Preview | undefined,
  change = changeAlone,
): Promise<{ readonly count: number; readonly notes: Notes }> {
  const refused = await findRefused(
    services.database,
    context.workspace,
    steps.flatMap(({ names }) => names),
  );
  const unseen = steps.flatMap(({ place, names }) => {
    const fault = names.map((name) => refused.get(name)).find((each) => each !== undefined);
    return fault ? [{ place, fault }] : [];
  });
  refuseFaults(
    [...faults, ...unseen],
    ({ place, fault }) => `${place.array}[${place.index}]: ${fault.message}`,
  );
  const results = await change(services, context, steps, preview && services.largePreviews);
  const skipped = results.flatMap(({ place, applied }) =>
    "fault" in applied ? [noteOf(place, applied.fault)] : [],
  );
  const notes: Notes = {
    ...(skipped.length > 0 && { skipped }),
    ...(preview && { dry_run: true, ...(await pageOfResults(results, preview)) }),
  };
  return { count: steps.length, notes };
}

/** Changes identities in a separate transaction, or previews the changes. */
export const changeAlone = (
  services: PeopleServices,
  context: WorkspaceContext,
  steps: readonly Step[],
  previewLine: FairLine | undefined,
): Promise<Result[]> => changeIdentities(services, context, { steps, previewLine });

/**
 * @param messageOf the message of the refusal, from the first faulty item.
 * @throws Problem INVALID_REQUEST listing every faulty item, if there is one.
 */
export function refuseFaults(
  faults: readonly PlacedFault[],
  messageOf: (first: PlacedFault) => string,
): void {
  const [first] = faults;
  if (!first) return;
  const errors = faults.map(({ place, fault }) => errorOf(place, fault));
  throw new Problem("INVALID_REQUEST", messageOf(first), { body: { errors } });
}
