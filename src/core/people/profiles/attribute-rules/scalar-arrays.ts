import { MOST_ELEMENTS } from "../../../base/context/custom-attribute-bounds.ts";
import { accepted, type Checked } from "../../../base/problem.ts";
import { describeValue } from "../../../base/values/describe-value.ts";
import {
  type Finding,
  faultAt,
  finding,
  foundAt,
  refusedAt,
} from "../../../base/values/findings.ts";
import type { Json, JsonObject } from "../../../base/values/plain-json.ts";
import { findInScalar } from "./nested-values.ts";

export type Scalar = string | number | boolean;

/** The change `{"add": […], "remove": […]}`, either or both. */
export interface ScalarChange {
  readonly add: readonly Scalar[];
  readonly remove: readonly Scalar[];
}

export const isScalar = (value: Json): value is Scalar =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

const isScalarOrNull = (value: Json): value is Scalar | null => value === null || isScalar(value);

/** Whether an array has only scalars, and null where a value is missing. */
export const holdsScalars = (array: readonly Json[]): array is readonly (Scalar | null)[] =>
  array.every(isScalarOrNull);

/**
 * Checks a whole array of scalars that is to be set. It is stored as sent, including repeated
 * values and nulls. `name` names the attribute in sentences. Faults: the faults of a scalar, and
 * `ARRAY_TOO_LONG`.
 */
export function checkScalars(
  name: string,
  array: readonly (Scalar | null)[],
): Checked<readonly Json[]> {
  for (const [index, element] of array.entries()) {
    const found = findInScalar(element);
    if (found) return { fault: faultAt(name, foundAt(index, found)) };
  }
  return checkLength(name, array);
}

/** Whether an object has the form of a change of an array: it has only these two keys. */
export const looksLikeScalarChange = (object: JsonObject): boolean => {
  const keys = Object.keys(object);
  return keys.length > 0 && keys.every((key) => key === "add" || key === "remove");
};

/** Reads `{"add": […], "remove": […]}`; the fault names the part that is wrong. */
export function readScalarChange(name: string, object: JsonObject): Checked<ScalarChange> {
  const add = readPart(name, object, "add");
  if ("fault" in add) return add;
  const remove = readPart(name, object, "remove");
  return "fault" in remove ? remove : accepted({ add: add.value, remove: remove.value });
}

/**
 * Applies a change to the attribute's value; undefined is an absent attribute and counts as an
 * empty array. First every occurrence of the values of `remove` is removed; then the values of
 * `add` that are missing are appended in their order. An absent attribute stays absent if nothing
 * is added. Faults: `NOT_AN_ARRAY`, `ARRAY_TOO_LONG`. docs/decisions/values.md
 */
export function changeScalars(
  name: string,
  current: Json | undefined,
  change: ScalarChange,
): Checked<readonly Json[] | undefined> {
  if (current === undefined && change.add.length === 0) return accepted(undefined);
  const before = current ?? [];
  if (!Array.isArray(before) || !holdsScalars(before)) {
    const holds = Array.isArray(before) ? "an array of objects" : describeValue(before);
    const reason = `'add' and 'remove' change an array of scalars, not ${holds}`;
    return refusedAt(name, "NOT_AN_ARRAY", reason);
  }
  const removed = new Set<Json>(change.remove);
  const kept = before.filter((value) => !removed.has(value));
  const present = new Set<Json>(kept);
  const added = [...new Set(change.add)].filter((value) => !present.has(value));
  return checkLength(name, [...kept, ...added]);
}

function readPart(name: string, object: JsonObject, key: string): Checked<readonly Scalar[]> {
  // A list that is null is absent: docs/decisions/null-is-absent.md
  const part = (Object.hasOwn(object, key) ? object[key] : undefined) ?? [];
  if (Array.isArray(part)) return readScalars(`${name}.${key}`, part);
  const reason = `'${key}' takes an array, not ${describeValue(part)}`;
  return refusedAt(name, "INVALID_ATTRIBUTE", reason);
}

function readScalars(path: string, array: readonly Json[]): Checked<readonly Scalar[]> {
  for (const [index, element] of array.entries()) {
    const found = isScalar(element) ? findInScalar(element) : notAScalar(element);
    if (found) return { fault: faultAt(path, foundAt(index, found)) };
  }
  return accepted(array as readonly Scalar[]);
}

const notAScalar = (element: Json): Finding =>
  finding("INVALID_ATTRIBUTE", `${describeValue(element)} is not allowed in an array of scalars`);

function checkLength(name: string, values: readonly Json[]): Checked<readonly Json[]> {
  if (values.length <= MOST_ELEMENTS) return accepted(values);
  const reason = `the array would have ${values.length} elements, of at most ${MOST_ELEMENTS}`;
  return refusedAt(name, "ARRAY_TOO_LONG", reason);
}
