import type { Workspace } from "../access/workspace.ts";
import type { Call } from "../http/endpoint.ts";
import { type Checked, type Fault, Problem, refused } from "../problem.ts";
import type { Effect } from "../profiles/combine/effects.ts";
import { findUnstorable } from "../profiles/plain-json.ts";
import type { Name } from "./cast.ts";
import {
  changeIdentities,
  type Done,
  type IdentityServices,
  type Place,
  type Result,
  type Step,
} from "./change-identities.ts";
import { isRawObject } from "./selectors.ts";

/* What the requests about identities have in common: lists of items, each with a verdict of its own. */

/** spec: Limits. */
export const MOST_ITEMS = 50;

/** What an item does, before its place in the request is known. */
export type Work = Omit<Step, "place">;

export interface CheckedItems {
  readonly steps: readonly Step[];
  readonly faults: readonly PlacedFault[];
}

interface PlacedFault {
  readonly place: Place;
  readonly fault: Fault;
}

type RawObject = Readonly<Record<string, unknown>>;

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

/** The check of an element that has to be an object. */
export const ofObject =
  (check: (raw: RawObject) => Checked<Work>) =>
  (element: unknown): Checked<Work> =>
    isRawObject(element) ? check(element) : refused("NOT_AN_OBJECT", "must be an object");

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

/** How the items of a request are to be carried out. */
export interface Manner {
  readonly call: Call;
  readonly isDryRun: boolean;
}

/** What an answer tells about single items; each member is absent where there is nothing to tell. */
export interface Notes {
  readonly errors?: (Note & { readonly type: string })[];
  readonly skipped?: Note[];
  readonly dry_run?: true;
  readonly results?: ItemResult[];
}

interface Note {
  readonly message: string;
  readonly code: string;
  readonly input_array: string;
  readonly index: number;
}

interface ItemResult {
  readonly input_array: string;
  readonly index: number;
  readonly outcome: Done | "skipped";
  readonly [detail: string]: unknown;
}

/**
 * Carries out the items that can be taken.
 *
 * @returns how many were taken, with or without effect, and what is to be told about them.
 * @throws Problem INVALID_REQUEST when there are items and none can be taken.
 */
export async function carryOut(
  services: IdentityServices,
  workspace: Workspace,
  { steps, faults }: CheckedItems,
  manner: Manner,
): Promise<{ readonly count: number; readonly notes: Notes }> {
  const errors = faults.map(errorOf);
  const [first] = faults;
  if (first && steps.length === 0) {
    const { place, fault } = first;
    const message = `${place.array}[${place.index}]: ${fault.message}`;
    throw new Problem("INVALID_REQUEST", message, { body: { errors } });
  }
  const results = await changeIdentities(services, workspace, { steps, ...manner });
  const skipped = results.flatMap(({ place, applied }) =>
    "fault" in applied ? [noteOf(place, applied.fault)] : [],
  );
  const notes: Notes = {
    ...(errors.length > 0 && { errors }),
    ...(skipped.length > 0 && { skipped }),
    ...(manner.isDryRun && { dry_run: true, results: results.map(resultOf) }),
  };
  return { count: steps.length, notes };
}

/** design: Valid but without effect. */
const noteOf = ({ array, index }: Place, { message, code }: Fault): Note => ({
  message,
  code,
  input_array: array,
  index,
});

/** As in track: `type` and `message` hold the same sentence. */
export const errorOf = ({ place, fault }: PlacedFault) => ({
  type: fault.message,
  ...noteOf(place, fault),
});

/** What would become of an item. */
function resultOf({ place, applied, told }: Result): ItemResult {
  const where = { input_array: place.array, index: place.index };
  if ("fault" in applied) return { ...where, outcome: "skipped", ...applied.fault };
  const outcome = { ...where, outcome: applied.done };
  if (!told) return outcome;
  const { change, effects } = told;
  if (change.kind === "merge") {
    const names = { kept: wireName(change.kept), merged: wireName(change.merged) };
    return { ...outcome, ...names, effects };
  }
  return { ...outcome, user: wireName(change.user), effects: effects.map(removedOf) };
}

const wireName = ({ platformId, externalId }: Name) => ({
  platform_id: platformId,
  external_id: externalId,
});

const removedOf = ({ field, name, effect, merged }: Effect) => ({
  field,
  ...(name !== undefined && { name }),
  effect,
  value: merged,
});
