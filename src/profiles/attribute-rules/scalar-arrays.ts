import { accepted, type Checked } from "../../problem.ts";
import type { Json, JsonObject } from "../plain-json.ts";
import { describeValue } from "./describe-value.ts";
import { type Finding, faultAt, finding, foundAt, refusedAt } from "./findings.ts";
import { findInScalar } from "./nested-values.ts";

/** What an array attribute of scalars holds: each value once, in order. */
export type Scalar = string | number | boolean;

/** The change `{"add": […], "remove": […]}`, either or both. */
export interface ScalarChange {
  readonly add: readonly Scalar[];
  readonly remove: readonly Scalar[];
}

/** decision: 500, for every workspace; one more is a fault, and no element is ever dropped. */
const maxElements = 500;

export const isScalar = (value: Json): value is Scalar =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

/**
 * Checks a whole array of scalars that is to be set; returns it with each value at its first
 * place. `name` names the attribute in sentences. Faults: those of a scalar, `ARRAY_TOO_LONG`.
 * decision: custom attributes.
 */
export function checkScalars(name: string, array: readonly Json[]): Checked<readonly Scalar[]> {
  const read = readScalars(name, array);
  return "fault" in read ? read : checkLength(name, [...new Set(read.value)]);
}

/** Whether an object is meant as a change of an array: it has no other keys than these two. */
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
 * Applies a change to what the attribute holds; undefined is an absent attribute and counts as an
 * empty array. First the values of `remove` go, then those of `add` come to the end, in their
 * order, also where the array held them already; so what is asked for is there afterwards.
 * An absent attribute to which nothing is added stays absent.
 * Faults: `NOT_AN_ARRAY`, `ARRAY_TOO_LONG`. decision: custom attributes, the order.
 */
export function changeScalars(
  name: string,
  current: Json | undefined,
  change: ScalarChange,
): Checked<readonly Scalar[] | undefined> {
  if (current === undefined && change.add.length === 0) return accepted(undefined);
  const before = current ?? [];
  if (!Array.isArray(before) || !before.every(isScalar)) {
    const holds = Array.isArray(before) ? "an array of objects" : describeValue(before);
    const reason = `'add' and 'remove' change an array of scalars, not ${holds}`;
    return refusedAt(name, "NOT_AN_ARRAY", reason);
  }
  const values = new Set<Scalar>(before);
  for (const value of change.remove) values.delete(value);
  for (const value of change.add) {
    values.delete(value);
    values.add(value);
  }
  return checkLength(name, [...values]);
}

function readPart(name: string, object: JsonObject, key: string): Checked<readonly Scalar[]> {
  const part = Object.hasOwn(object, key) ? object[key] : [];
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
  finding("INVALID_ATTRIBUTE", `${describeValue(element)} cannot stand in an array of scalars`);

function checkLength(name: string, values: readonly Scalar[]): Checked<readonly Scalar[]> {
  if (values.length <= maxElements) return accepted(values);
  const reason = `the array would have ${values.length} elements, of at most ${maxElements}`;
  return refusedAt(name, "ARRAY_TOO_LONG", reason);
}
