import { isJsonObject, type Json, type JsonObject } from "../../../core/base/values/plain-json.ts";
import { spend, type WorkBudget } from "../../../core/base/work.ts";
import {
  type Attribute,
  findAttribute,
  isNotKept,
  isUserSchema,
  RESOURCE_ATTRIBUTES,
} from "./attributes.ts";
import { parsePath, type TargetPath, type TargetStep } from "./filter.ts";
import type { AttributeChange, PatchOperation } from "./patch-request.ts";
import { addValues, changeValues, removeValues } from "./patch-values.ts";
import { scimProblem } from "./problems.ts";
import { readAttribute } from "./read-attributes.ts";
import { searchableText } from "./searchable.ts";

/*
 * PATCH, RFC 7644, 3.5.2: applies operations in order, each to the result of the previous one. The
 * caller checks the result like a body.
 *
 * A path is followed down the table of attributes to the value that is set, added or removed; every level is
 * copied, so that a failure leaves no partial change.
 */

/** The cost of a path: a fixed part, and a share for each character. */
const WORK_PER_PATH = 10;
const WORK_PER_PATH_CHARACTER = 0.5;

/**
 * Returns the attributes after the operations.
 *
 * @throws Problem with `invalidPath`, `noTarget`, `mutability`, `invalidFilter` or `invalidValue`;
 *   with `tooMany` once the operations exceed the budget.
 */
export const applyPatch = (
  resource: JsonObject,
  operations: readonly PatchOperation[],
  work: WorkBudget,
): JsonObject =>
  operations.reduce((changed, operation) => applyOperation(changed, operation, work), resource);

function applyOperation(
  resource: JsonObject,
  { op, path, value }: PatchOperation,
  work: WorkBudget,
): JsonObject {
  if (path !== undefined && !isUserSchema(path)) {
    return applyAt(resource, readPath(path, work), { op, value, path, work });
  }
  spend(work, WORK_PER_PATH);
  if (op === "remove") throw scimProblem("noTarget", "A 'remove' operation needs a 'path'");
  if (!isJsonObject(value)) {
    throw scimProblem("invalidValue", "'value' must be an object if there is no 'path'");
  }
  // As in a body, unknown and read-only attributes are ignored. Microsoft Entra sends paths as names.
  return Object.keys(value).reduce((changed, name) => {
    if (isUserSchema(name)) {
      return applyOperation(changed, { op, path: undefined, value: value[name] }, work);
    }
    const target = readPath(name, work);
    if (!isWritable(target)) return changed;
    return applyAt(changed, target, { op, value: value[name] ?? null, path: name, work });
  }, resource);
}

function readPath(path: string, work: WorkBudget): TargetPath {
  spend(work, WORK_PER_PATH + path.length * WORK_PER_PATH_CHARACTER);
  return parsePath(path);
}

function isWritable({ steps }: TargetPath): boolean {
  const attribute = findAttribute(RESOURCE_ATTRIBUTES, steps[0]?.name ?? "");
  return attribute !== undefined && attribute.mutability !== "readOnly";
}

function applyAt(
  resource: JsonObject,
  { schema, steps }: TargetPath,
  change: AttributeChange,
): JsonObject {
  const names = steps.map((step) => step.name);
  if (isNotKept(schema, names)) return resource;
  return changeObject(resource, RESOURCE_ATTRIBUTES, steps, change);
}

/** Changes the attribute of the first step, and removes it if it becomes empty. */
function changeObject(
  source: JsonObject,
  attributes: readonly Attribute[] | undefined,
  [step, ...rest]: readonly TargetStep[],
  change: AttributeChange,
): JsonObject {
  const attribute = step && findAttribute(attributes, step.name);
  if (!step || !attribute) {
    throw scimProblem("invalidPath", `'${change.path}' is not an attribute of a user`);
  }
  if (attribute.mutability === "readOnly") {
    throw scimProblem("mutability", `'${attribute.name}' is read-only`);
  }
  const { [attribute.name]: current, ...others } = source;
  const changed = changeAttribute(attribute, current, step, rest, change);
  const isGone = changed === undefined || (isEmpty(changed) && !attribute.required);
  return isGone ? others : { ...others, [attribute.name]: changed };
}

function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.keys(value ?? {}).length === 0;
}

function changeAttribute(
  attribute: Attribute,
  current: Json | undefined,
  { filter }: TargetStep,
  rest: readonly TargetStep[],
  change: AttributeChange,
): Json | undefined {
  if (filter || (rest.length > 0 && attribute.multiValued)) {
    const changePart =
      rest.length === 0
        ? undefined
        : (value: JsonObject) => changeObject(value, attribute.subAttributes, rest, change);
    return changeValues(attribute, current, filter, changePart, change);
  }
  if (rest.length > 0) {
    const object = isJsonObject(current) ? current : {};
    return changeObject(object, attribute.subAttributes, rest, change);
  }
  if (change.op === "remove") return removeFrom(attribute, current, change);
  return assign(attribute, current, change.value ?? null, change);
}

/** Removes an attribute; of a list only the given values, if there are any. */
function removeFrom(
  attribute: Attribute,
  current: Json | undefined,
  change: AttributeChange,
): Json | undefined {
  if (attribute.required) throw scimProblem("mutability", `'${change.path}' is required`);
  return attribute.multiValued ? removeValues(attribute, current, change) : undefined;
}

/** Sets a value, or adds to it if it is a list and the operation is `add`. */
function assign(
  attribute: Attribute,
  current: Json | undefined,
  value: Json,
  change: AttributeChange,
): Json | undefined {
  if (attribute.multiValued) return addValues(attribute, current, value, change);
  const reading = { isWhole: false, work: change.work };
  const read = readAttribute(attribute, unwrap(attribute, value), reading, change.path);
  if (read === undefined) return undefined;
  if (attribute.type === "complex") {
    const named = { ...emptiedIn(attribute, value, change), ...(read as JsonObject) };
    return mergeInto(attribute, current, named, change);
  }
  return attribute.mutability === "immutable" ? keepSame(attribute, current, read) : read;
}

/** Microsoft's clients wrap a single value: `[{ "value": "…" }]`. */
function unwrap({ type }: Attribute, value: Json): Json {
  if (type === "complex" || !Array.isArray(value) || value.length !== 1) return value;
  const [only] = value;
  return isJsonObject(only) ? (only.value ?? value) : value;
}

/** RFC 7643, 2.5: a replacement by null or an empty list takes the value away. Reading leaves such names out. */
function emptiedIn({ subAttributes }: Attribute, value: Json, { op }: AttributeChange): JsonObject {
  if (op !== "replace" || !isJsonObject(value)) return {};
  const names = Object.entries(value).flatMap(([name, each]) => {
    const known = findAttribute(subAttributes, name);
    const isEmptied = each === null || (Array.isArray(each) && each.length === 0);
    return known && known.mutability !== "readOnly" && isEmptied ? [known.name] : [];
  });
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** RFC 7644, 3.5.2.3: sub-attributes that are not named stay as they are. */
function mergeInto(
  attribute: Attribute,
  current: Json | undefined,
  value: JsonObject,
  change: AttributeChange,
): JsonObject {
  const before = isJsonObject(current) ? current : {};
  return Object.entries(value).reduce((merged, [name, each]) => {
    const path = `${change.path}.${name}`;
    return changeObject(merged, attribute.subAttributes, [{ name }], {
      ...change,
      path,
      value: each,
    });
  }, before);
}

/** An immutable value may be sent again, in any case if its attribute ignores case. */
function keepSame(attribute: Attribute, current: Json | undefined, value: Json): Json {
  const form = (text: Json | undefined) => searchableText(attribute, String(text));
  if (current === undefined) return value;
  if (form(current) === form(value)) return current;
  throw scimProblem("mutability", `'${attribute.name}' cannot be changed`);
}
