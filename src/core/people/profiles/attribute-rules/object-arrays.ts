import { accepted, type Checked, type Fault } from "../../../base/problem.ts";
import { describeValue, listed, printable } from "../../../base/values/describe-value.ts";
import { refusedAt } from "../../../base/values/findings.ts";
import {
  isJsonObject,
  type Json,
  type JsonObject,
  jsonByteLength,
} from "../../../base/values/plain-json.ts";
import { findNestedFault, findNullFault, findSizeFault } from "./nested-values.ts";
import { isScalar, type Scalar } from "./scalar-arrays.ts";

/** Selects objects of an array: all whose own `key` holds exactly `value`. */
export interface Identifier {
  readonly key: string;
  readonly value: Scalar;
}

export interface Update extends Identifier {
  readonly object: JsonObject;
  /** The size of `object` as compact JSON. */
  readonly bytes: number;
}

/** The change `{"$add": […], "$update": […], "$remove": […]}`, one or more of them. */
export interface ObjectChange {
  readonly add: readonly JsonObject[];
  readonly update: readonly Update[];
  readonly remove: readonly Identifier[];
}

export const operators = ["$add", "$update", "$remove"];

/** How many elements an operator takes at a time; `$add` is bounded by the size of the value. */
const maxElements: Readonly<Record<string, number>> = { $update: 100, $remove: 500 };

const identifierKeys = ["$identifier_key", "$identifier_value"];
const updateKeys = [...identifierKeys, "$new_object"];

/** Whether an object has the form of a change of an array of objects. */
export const looksLikeObjectChange = (object: JsonObject): boolean =>
  operators.some((operator) => Object.hasOwn(object, operator));

/**
 * Reads `$add` (a list of objects), `$update` (of `$identifier_key`, `$identifier_value` and
 * `$new_object`) and `$remove` (of the first two). `name` names the attribute in sentences; the
 * fault names the part that is wrong.
 */
export function readObjectChange(name: string, object: JsonObject): Checked<ObjectChange> {
  const unknown = Object.keys(object).find((key) => !operators.includes(key));
  if (unknown !== undefined) {
    const reason = `'${printable(unknown)}' cannot be combined with ${listed(operators)}`;
    return refusedAt(name, "INVALID_ATTRIBUTE", reason);
  }
  const add = readList(name, object, "$add", readObject);
  if ("fault" in add) return add;
  const update = readList(name, object, "$update", readUpdate);
  if ("fault" in update) return update;
  const remove = readList(name, object, "$remove", readRemoval);
  if ("fault" in remove) return remove;
  return accepted({ add: add.value, update: update.value, remove: remove.value });
}

type Reader<Element> = (path: string, element: Json) => Checked<Element>;

function readList<Element>(
  name: string,
  object: JsonObject,
  operator: string,
  read: Reader<Element>,
): Checked<readonly Element[]> {
  const list = memberOf(object, operator) ?? [];
  if (!Array.isArray(list)) {
    const reason = `'${operator}' takes an array of objects, not ${describeValue(list)}`;
    return refusedAt(name, "INVALID_ATTRIBUTE", reason);
  }
  const limit = maxElements[operator];
  if (limit !== undefined && list.length > limit) {
    const reason = `'${operator}' takes at most ${limit} elements, not ${list.length}`;
    return refusedAt(name, "ARRAY_TOO_LONG", reason);
  }
  const elements: Element[] = [];
  for (const [index, element] of list.entries()) {
    const outcome = read(`${name}.${operator}[${index}]`, element);
    if ("fault" in outcome) return outcome;
    elements.push(outcome.value);
  }
  return accepted(elements);
}

function readObject(path: string, value: Json | undefined): Checked<JsonObject> {
  if (!isJsonObject(value)) {
    return refusedAt(path, "INVALID_ATTRIBUTE", `${describeValue(value)} is not an object`);
  }
  const fault =
    findNestedFault(path, value) ?? findNullFault(path, value) ?? findSizeFault(path, value);
  return fault ? { fault } : accepted(value);
}

function readUpdate(path: string, element: Json): Checked<Update> {
  const identifier = readIdentifier(path, element, updateKeys);
  if ("fault" in identifier) return identifier;
  const replacement = readObject(`${path}.$new_object`, memberOf(element, "$new_object"));
  if ("fault" in replacement) return replacement;
  const { value: object } = replacement;
  return accepted({ ...identifier.value, object, bytes: jsonByteLength(object) });
}

const readRemoval: Reader<Identifier> = (path, element) =>
  readIdentifier(path, element, identifierKeys);

function readIdentifier(path: string, element: Json, keys: readonly string[]): Checked<Identifier> {
  const fault = findShapeFault(path, element, keys);
  if (fault) return { fault };
  const key = memberOf(element, "$identifier_key");
  const value = memberOf(element, "$identifier_value");
  if (typeof key !== "string") {
    const reason = `'$identifier_key' is ${describeValue(key)}, not a string`;
    return refusedAt(path, "INVALID_ATTRIBUTE", reason);
  }
  if (value === undefined || !isScalar(value)) {
    const reason = `'$identifier_value' is ${describeValue(value)}, not a scalar`;
    return refusedAt(path, "INVALID_ATTRIBUTE", reason);
  }
  return accepted({ key, value });
}

function findShapeFault(path: string, element: Json, keys: readonly string[]): Fault | undefined {
  const hasAll = isJsonObject(element) && keys.every((key) => Object.hasOwn(element, key));
  if (hasAll && Object.keys(element).length === keys.length) return undefined;
  return refusedAt(path, "INVALID_ATTRIBUTE", `it takes exactly ${listed(keys)}`).fault;
}

const memberOf = (element: Json, key: string): Json | undefined =>
  isJsonObject(element) && Object.hasOwn(element, key) ? element[key] : undefined;
