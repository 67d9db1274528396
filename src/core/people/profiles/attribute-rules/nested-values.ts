import {
  MOST_CHARACTERS,
  MOST_OBJECT_BYTES,
} from "../../../base/context/custom-attribute-bounds.ts";
import type { Fault } from "../../../base/problem.ts";
import { describeValue } from "../../../base/values/describe-value.ts";
import { type Finding, faultAt, finding, foundAt } from "../../../base/values/findings.ts";
import {
  inexactReason,
  isExact,
  isJsonObject,
  isLongerThan,
  type Json,
  type JsonObject,
  jsonByteLength,
} from "../../../base/values/plain-json.ts";
import { parseAttributeTime } from "../../../base/values/times.ts";

/**
 * Checks an object, or an array that holds objects, as the value of a custom attribute or a part
 * of it. Takes the value, which has passed `findUnstorable`, and the name it goes by in sentences.
 *
 * Keys are 1 to 255 characters without `.` and `$`, except for dates, `{"$time": "<date>"}`;
 * strings have at most 255 characters; arrays hold scalars or objects, not both; null may be
 * anywhere. Returns the first fault, whose sentence names the place, or undefined.
 * docs/decisions/values.md
 */
export function findNestedFault(name: string, value: Json): Fault | undefined {
  const found = findIn(value);
  return found && faultAt(name, found);
}

/**
 * The fault of a null inside a value that changes a stored one, where it would look like a
 * deletion. docs/decisions/null-is-absent.md
 */
export function findNullFault(name: string, value: Json): Fault | undefined {
  const found = findNull(value);
  return found && faultAt(name, found);
}

function findNull(value: Json): Finding | undefined {
  if (value === null) {
    return finding("INVALID_ATTRIBUTE", "null is not allowed inside a change of a stored value");
  }
  if (typeof value !== "object") return undefined;
  for (const [step, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const found = findNull(member);
    if (found) return foundAt(step, found);
  }
  return undefined;
}

/** The fault of an object or array of objects that has more than 100 KB of compact JSON. */
export function findSizeFault(name: string, value: Json): Fault | undefined {
  return jsonByteLength(value) > MOST_OBJECT_BYTES ? tooLarge(name) : undefined;
}

/** The fault OBJECT_TOO_LARGE of the attribute with this name. */
export const tooLarge = (name: string): Fault =>
  faultAt(
    name,
    finding("OBJECT_TOO_LARGE", `it takes more than ${MOST_OBJECT_BYTES} bytes as JSON`),
  );

/**
 * `current` with the changes of `patch`: objects are merged key by key at every depth, everything
 * else (scalars, arrays, dates) is replaced. Neither argument is changed.
 */
export function mergeDeep(current: JsonObject, patch: JsonObject): JsonObject {
  const changes = Object.entries(patch).map(([key, value]) => {
    const before = Object.hasOwn(current, key) ? current[key] : undefined;
    const merges = isMergeable(before) && isMergeable(value);
    return [key, merges ? mergeDeep(before, value) : value] as const;
  });
  // fromEntries defines each key; an assignment to `__proto__` would set the prototype.
  return Object.fromEntries([...Object.entries(current), ...changes]);
}

/** Whether an object is merged key by key; a date, `{"$time": …}`, is one value and is not. */
export const isMergeable = (value: Json | undefined): value is JsonObject =>
  isJsonObject(value) && !isTime(value);

const isTime = (object: JsonObject): boolean => Object.keys(object).join() === "$time";

function findIn(value: Json): Finding | undefined {
  if (Array.isArray(value)) return findInArray(value);
  if (isJsonObject(value)) return isTime(value) ? findInTime(value) : findInObject(value);
  return findInScalar(value);
}

/** The fault of a string, a number or a boolean as a value or an element of an array. */
export function findInScalar(value: Json): Finding | undefined {
  if (typeof value === "string" && isLongerThan(value, MOST_CHARACTERS)) {
    return finding("VALUE_TOO_LONG", `the string has more than ${MOST_CHARACTERS} characters`);
  }
  if (typeof value === "number" && !isExact(value)) {
    return finding("NUMBER_NOT_EXACT", inexactReason);
  }
  return undefined;
}

function findInArray(array: readonly Json[]): Finding | undefined {
  const holdsObjects = isJsonObject(array.find((element) => element !== null));
  for (const [index, element] of array.entries()) {
    const found = findInElement(element, holdsObjects);
    if (found) return foundAt(index, found);
  }
  return undefined;
}

function findInElement(element: Json, besideObjects: boolean): Finding | undefined {
  if (element === null) return undefined;
  if (Array.isArray(element)) {
    return finding("INVALID_ATTRIBUTE", `an array cannot hold ${describeValue(element)}`);
  }
  return isJsonObject(element) === besideObjects
    ? findIn(element)
    : finding("INVALID_ATTRIBUTE", "an array holds either objects or scalars, not both");
}

function findInObject(object: JsonObject): Finding | undefined {
  for (const [key, value] of Object.entries(object)) {
    const found = findInKey(key) ?? findIn(value);
    if (found) return foundAt(key, found);
  }
  return undefined;
}

function findInKey(key: string): Finding | undefined {
  if (key === "") return finding("INVALID_KEY", "a key cannot be empty");
  if (key === "__proto__") return finding("INVALID_KEY", "'__proto__' is not allowed as a key");
  if (isLongerThan(key, MOST_CHARACTERS)) {
    return finding("INVALID_KEY", `the key has more than ${MOST_CHARACTERS} characters`);
  }
  return /[.$]/.test(key) ? finding("INVALID_KEY", "a key must not contain '.' or '$'") : undefined;
}

/** A date is kept as it was sent, so that a read returns it unchanged. */
function findInTime({ $time: text }: JsonObject): Finding | undefined {
  if (typeof text === "string" && parseAttributeTime(text)) return undefined;
  const reason = `${describeValue(text)} is not an ISO 8601 date up to the year 3000`;
  return foundAt("$time", finding("INVALID_ATTRIBUTE", reason));
}
