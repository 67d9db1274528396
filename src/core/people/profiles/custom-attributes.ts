import { MOST_CHARACTERS } from "../../base/context/custom-attribute-bounds.ts";
import { accepted, type Checked, type Fault } from "../../base/problem.ts";
import { describeValue } from "../../base/values/describe-value.ts";
import { faultAt, refusedAt } from "../../base/values/findings.ts";
import {
  inexactReason,
  isExact,
  isJsonObject,
  isLongerThan,
  type Json,
  type JsonObject,
} from "../../base/values/plain-json.ts";
import { type ChangedObjects, changeObjects } from "./attribute-rules/change-objects.ts";
import {
  findInScalar,
  findNestedFault,
  findNullFault,
  findSizeFault,
  isMergeable,
  mergeDeep,
} from "./attribute-rules/nested-values.ts";
import {
  looksLikeObjectChange,
  type ObjectChange,
  readObjectChange,
} from "./attribute-rules/object-arrays.ts";
import {
  changeScalars,
  checkScalars,
  holdsScalars,
  looksLikeScalarChange,
  readScalarChange,
  type ScalarChange,
} from "./attribute-rules/scalar-arrays.ts";
import {
  budgetsOfItem,
  startRequestWork,
  type WorkBudgets,
} from "./attribute-rules/work-budgets.ts";

/** The change of one custom attribute by a request; `name` is the attribute's. */
export type AttributeOperation = { readonly name: string } & (
  | { readonly kind: "set"; readonly value: Json }
  | { readonly kind: "remove" }
  /** Adds to a number; `by` is an integer and may be negative. */
  | { readonly kind: "increment"; readonly by: number }
  /** Adds to and removes from an array of scalars. */
  | { readonly kind: "changeArray"; readonly change: ScalarChange }
  /** Adds to, updates and removes from an array of objects. */
  | {
      readonly kind: "changeObjects";
      readonly change: ObjectChange;
      readonly mergeObjects: boolean;
    }
  /** Merges into an object, key by key at every depth. */
  | { readonly kind: "mergeObject"; readonly value: JsonObject }
);

/**
 * Reads the operation on a custom attribute of an attributes object.
 *
 * Takes the attribute's name, the value as it came, which has passed `findUnstorable`, and whether
 * objects are to be merged (`_merge_objects`). Returns the operation; a fault names the attribute,
 * the place inside it and the rule. Without operators a value is set exactly as sent, including
 * times, except for repeated scalars in an array. spec: Attributes object; docs/decisions/values.md
 *
 * An object is an operation when it has only the keys of one: `{"inc": …}`, `{"add": …,
 * "remove": …}`; with any other key beside them it is a nested object. `$add`, `$update` and
 * `$remove` can be nothing but operators. A null inside a value that is set is stored; inside a
 * change it is refused. docs/decisions/null-is-absent.md
 */
export function checkCustomAttribute(
  name: string,
  value: unknown,
  mergeObjects: boolean,
): Checked<AttributeOperation> {
  const fault = findNameFault(name);
  if (fault) return { fault };
  if (value === null) return accepted({ kind: "remove", name });
  if (Array.isArray(value)) return checkArray(name, value);
  if (isJsonObject(value)) return checkObject(name, value, mergeObjects);
  const scalar = value as Json;
  const found = findInScalar(scalar);
  return found ? { fault: faultAt(name, found) } : accepted({ kind: "set", name, value: scalar });
}

/** Whether the outcome of an operation depends on the attribute's present value. */
export const needsCurrent = (operation: AttributeOperation): boolean =>
  operation.kind !== "set" && operation.kind !== "remove";

/**
 * The attribute's value after an operation. `unmatched` names the parts of the operation that found
 * no object to change, such as `$update[1]`.
 */
export type Applied =
  | Checked<Json | undefined>
  | { readonly value: Json | undefined; readonly unmatched: readonly string[] };

/**
 * Applies an operation to the attribute's value; undefined is an absent attribute, both as argument
 * and as result. Changes neither of its inputs. The result obeys the same limits as a value that is
 * set; otherwise the whole operation is refused. Faults: `NOT_A_NUMBER`, `NUMBER_NOT_EXACT`,
 * `NOT_AN_ARRAY`, `ARRAY_TOO_LONG`, `OBJECT_TOO_LARGE`, `WORK_LIMIT_EXCEEDED`.
 */
export function applyOperation(
  current: Json | undefined,
  operation: AttributeOperation,
  budgets: WorkBudgets = budgetsOfItem(startRequestWork()),
): Applied {
  const { name } = operation;
  switch (operation.kind) {
    case "set":
      return accepted(operation.value);
    case "remove":
      return accepted(undefined);
    case "increment":
      return increment(name, current, operation.by);
    case "changeArray":
      return changeScalars(name, current, operation.change);
    case "changeObjects":
      return changed(
        changeObjects(name, current, operation.change, operation.mergeObjects, budgets),
      );
    case "mergeObject":
      return mergeObject(name, current, operation.value);
  }
}

const changed = (outcome: Checked<ChangedObjects>): Applied =>
  "fault" in outcome ? outcome : outcome.value;

/** Names have 1 to 255 characters and no leading `$`. docs/decisions/values.md */
function findNameFault(name: string): Fault | undefined {
  const reason = complaintAboutName(name);
  return reason === undefined ? undefined : refusedAt(name, "INVALID_KEY", reason).fault;
}

function complaintAboutName(name: string): string | undefined {
  if (name === "") return "the name of an attribute cannot be empty";
  if (name === "__proto__") return "'__proto__' is not allowed as a key";
  if (name.startsWith("$")) return "the name of an attribute cannot begin with '$'";
  return isLongerThan(name, MOST_CHARACTERS)
    ? `the name of an attribute has at most ${MOST_CHARACTERS} characters`
    : undefined;
}

function checkArray(name: string, array: readonly Json[]): Checked<AttributeOperation> {
  if (!holdsScalars(array)) return checkNested(name, array);
  const scalars = checkScalars(name, array);
  return "fault" in scalars ? scalars : accepted({ kind: "set", name, value: scalars.value });
}

function checkObject(
  name: string,
  object: JsonObject,
  mergeObjects: boolean,
): Checked<AttributeOperation> {
  if (Object.keys(object).join() === "inc") return checkIncrement(name, object.inc);
  if (looksLikeScalarChange(object)) {
    const read = readScalarChange(name, object);
    return "fault" in read ? read : accepted({ kind: "changeArray", name, change: read.value });
  }
  if (looksLikeObjectChange(object)) {
    const read = readObjectChange(name, object);
    if ("fault" in read) return read;
    return accepted({ kind: "changeObjects", name, change: read.value, mergeObjects });
  }
  const checked = checkNested(name, object);
  if ("fault" in checked || !mergeObjects || !isMergeable(object)) return checked;
  const fault = findNullFault(name, object);
  return fault ? { fault } : accepted({ kind: "mergeObject", name, value: object });
}

function checkNested(name: string, value: Json): Checked<AttributeOperation> {
  const fault = findNestedFault(name, value) ?? findSizeFault(name, value);
  return fault ? { fault } : accepted({ kind: "set", name, value });
}

function checkIncrement(name: string, by: Json | undefined): Checked<AttributeOperation> {
  if (typeof by !== "number" || !Number.isInteger(by)) {
    const reason = `'inc' takes an integer, not ${describeValue(by)}`;
    return refusedAt(name, "INVALID_ATTRIBUTE", reason);
  }
  return isExact(by)
    ? accepted({ kind: "increment", name, by })
    : refusedAt(name, "NUMBER_NOT_EXACT", inexactReason);
}

function increment(name: string, current: Json | undefined, by: number): Checked<Json> {
  const before = current ?? 0;
  if (typeof before !== "number") {
    const reason = `'inc' adds to a number, not to ${describeValue(before)}`;
    return refusedAt(name, "NOT_A_NUMBER", reason);
  }
  const after = before + by;
  return isExact(after)
    ? accepted(after)
    : refusedAt(name, "NUMBER_NOT_EXACT", `the sum: ${inexactReason}`);
}

/** A value that is not an object is replaced, as inside an object. */
function mergeObject(name: string, current: Json | undefined, value: JsonObject): Checked<Json> {
  const merged = isMergeable(current) ? mergeDeep(current, value) : value;
  const fault = findSizeFault(name, merged);
  return fault ? { fault } : accepted(merged);
}
