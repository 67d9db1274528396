import { isDeepStrictEqual } from "node:util";
import { isJsonObject, type Json, type JsonObject } from "../../profiles/plain-json.ts";
import { type Attribute, findAttribute, isNotKept, RESOURCE_ATTRIBUTES } from "./attributes.ts";
import { type Filter, parsePath, type TargetPath, type TargetStep } from "./filter.ts";
import { conditionOf, matches } from "./match.ts";
import type { PatchOperation } from "./patch-request.ts";
import { scimProblem } from "./problems.ts";
import { readAttribute, searchable, searchableText } from "./resource.ts";

/*
 * PATCH, by RFC 7644, 3.5.2: operations are applied in their order to the attributes of a resource, each to
 * what the one before it left. Whether the outcome is a user is not asked here: it is checked like a body.
 *
 * A path is walked step by step down the table of attributes. At its end a value is set, added or taken
 * away; on the way back every level is made anew, so that a resource is never half changed.
 */

interface Change {
  readonly op: PatchOperation["op"];
  readonly value: Json | undefined;
  /** The path as it was sent, for sentences. */
  readonly path: string;
}

/**
 * The attributes after the operations.
 *
 * @throws Problem with `invalidPath`, `noTarget`, `mutability`, `invalidFilter` or `invalidValue`.
 */
export const applyPatch = (
  resource: JsonObject,
  operations: readonly PatchOperation[],
): JsonObject => operations.reduce(applyOperation, resource);

function applyOperation(resource: JsonObject, { op, path, value }: PatchOperation): JsonObject {
  if (path !== undefined) {
    return applyAt(resource, parsePath(path), { op, value, path });
  }
  if (op === "remove") throw scimProblem("noTarget", "A 'remove' operation needs a 'path'");
  if (!isJsonObject(value)) {
    throw scimProblem("invalidValue", "'value' must be an object where there is no 'path'");
  }
  // As in a body, what is unknown or read-only is passed over. Microsoft Entra sends paths as names.
  return Object.entries(value).reduce((changed, [name, each]) => {
    const target = parsePath(name);
    if (!isWritable(target)) return changed;
    return applyAt(changed, target, { op, value: each, path: name });
  }, resource);
}

function isWritable({ steps }: TargetPath): boolean {
  const attribute = findAttribute(RESOURCE_ATTRIBUTES, steps[0]?.name ?? "");
  return attribute !== undefined && attribute.mutability !== "readOnly";
}

function applyAt(resource: JsonObject, { schema, steps }: TargetPath, change: Change): JsonObject {
  const names = steps.map((step) => step.name);
  if (isNotKept(schema, names)) return resource;
  return changeObject(resource, RESOURCE_ATTRIBUTES, steps, change);
}

/** An object with the attribute of the first step changed; without it, where nothing is left. */
function changeObject(
  source: JsonObject,
  attributes: readonly Attribute[] | undefined,
  [step, ...rest]: readonly TargetStep[],
  change: Change,
): JsonObject {
  const attribute = step && findAttribute(attributes, step.name);
  if (!step || !attribute) {
    throw scimProblem("invalidPath", `'${change.path}' is no attribute of a user`);
  }
  if (attribute.mutability === "readOnly") {
    throw scimProblem("mutability", `'${attribute.name}' is read-only`);
  }
  const { [attribute.name]: current, ...others } = source;
  const changed = changeAttribute(attribute, current, step.filter, rest, change);
  const isGone = changed === undefined || (isEmpty(changed) && !attribute.required);
  return isGone ? others : { ...others, [attribute.name]: changed };
}

const isEmpty = (value: Json): boolean =>
  typeof value === "object" && Object.keys(value ?? {}).length === 0;

function changeAttribute(
  attribute: Attribute,
  current: Json | undefined,
  filter: Filter | undefined,
  rest: readonly TargetStep[],
  change: Change,
): Json | undefined {
  if (filter || (rest.length > 0 && attribute.multiValued)) {
    return changeValues(attribute, listOf(current), filter, rest, change);
  }
  if (rest.length > 0) {
    const object = isJsonObject(current) ? current : {};
    return changeObject(object, attribute.subAttributes, rest, change);
  }
  return change.op === "remove"
    ? removeFrom(attribute, current, change)
    : assign(attribute, current, change.value ?? null, change);
}

const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value : [];

/** The values of a list that a filter picks, or all of them, changed as the rest of the path says. */
function changeValues(
  attribute: Attribute,
  current: readonly JsonObject[],
  filter: Filter | undefined,
  rest: readonly TargetStep[],
  change: Change,
): Json {
  const { subAttributes } = attribute;
  if (!attribute.multiValued || !subAttributes) {
    throw scimProblem("invalidPath", `'${attribute.name}' has no values to choose from`);
  }
  const condition = filter && conditionOf(filter, subAttributes, [attribute.name]);
  const isPicked = (value: JsonObject) =>
    !condition || matches(condition, searchable(subAttributes, value));
  const changeOne = (value: JsonObject): JsonObject => {
    if (rest.length > 0) return changeObject(value, subAttributes, rest, change);
    return { ...(change.op === "add" ? value : {}), ...readElement(attribute, change) };
  };

  if (!current.some(isPicked)) {
    if (change.op === "remove") return current;
    if (change.op === "replace" && filter) {
      throw scimProblem("noTarget", `'${change.path}' matches no value`);
    }
    return withPrimary([...current, changeOne(impliedBy(filter, subAttributes))], current.length);
  }
  if (change.op === "remove" && rest.length === 0) return current.filter((each) => !isPicked(each));
  const changed = current.map((each) => (isPicked(each) ? changeOne(each) : each));
  return withPrimary(changed, current.findIndex(isPicked));
}

function readElement(attribute: Attribute, { value, path }: Change): JsonObject {
  const one = { ...attribute, multiValued: false };
  return (readAttribute(one, value ?? null, false, path) ?? {}) as JsonObject;
}

/** What a value must have so that a filter picks it: `type eq "work"` makes `{ type: "work" }`. */
function impliedBy(filter: Filter | undefined, attributes: readonly Attribute[]): JsonObject {
  if (filter?.op === "and") {
    return Object.assign({}, ...filter.filters.map((each) => impliedBy(each, attributes)));
  }
  if (filter?.op !== "eq") return {};
  const attribute = findAttribute(attributes, filter.path.names[0] ?? "");
  return attribute ? { [attribute.name]: filter.value } : {};
}

/** RFC 7644, 3.5.2: where a value becomes the primary one, the others no longer are. */
function withPrimary(values: readonly JsonObject[], changed: number): readonly JsonObject[] {
  if (values[changed]?.primary !== true) return values;
  return values.map((value, index) =>
    index !== changed && value.primary === true ? { ...value, primary: false } : value,
  );
}

/**
 * Takes a value away. Of a list only the values named, where there are some: RFC 7644 knows only filters
 * for that, but Microsoft Entra sends them so.
 */
function removeFrom(
  attribute: Attribute,
  current: Json | undefined,
  { value, path }: Change,
): Json | undefined {
  if (attribute.required) throw scimProblem("mutability", `'${path}' is required`);
  const list = isJsonObject(value) ? [value] : value;
  if (!attribute.multiValued || !Array.isArray(list) || !Array.isArray(current)) return undefined;
  const named = readAttribute(attribute, list, false, path) as readonly Json[] | undefined;
  return named && current.filter((each: Json) => !named.some((other) => holds(each, other)));
}

/** Whether a value has all that another one says. */
function holds(value: Json, other: Json): boolean {
  if (!isJsonObject(value) || !isJsonObject(other)) return value === other;
  return Object.entries(other).every(([name, each]) => isDeepStrictEqual(value[name], each));
}

/** Sets a value, or adds to it where it is a list and the operation is `add`. */
function assign(
  attribute: Attribute,
  current: Json | undefined,
  value: Json,
  change: Change,
): Json | undefined {
  if (attribute.multiValued) return assignList(attribute, current, value, change);
  const read = readAttribute(attribute, unwrap(attribute, value), false, change.path);
  if (read === undefined) return undefined;
  if (attribute.type === "complex")
    return mergeInto(attribute, current, read as JsonObject, change);
  return attribute.mutability === "immutable" ? keepSame(attribute, current, read) : read;
}

/** Microsoft's clients wrap a single value: `[{ "value": "…" }]`. */
function unwrap({ type }: Attribute, value: Json): Json {
  const [only, ...more] = Array.isArray(value) ? value : [];
  if (type === "complex" || more.length > 0 || !isJsonObject(only)) return value;
  return only.value ?? value;
}

function assignList(
  attribute: Attribute,
  current: Json | undefined,
  value: Json,
  { op, path }: Change,
): Json | undefined {
  const list = value === null || Array.isArray(value) ? value : [value];
  const read = readAttribute(attribute, list, false, path) as readonly JsonObject[] | undefined;
  if (op === "replace") return read;
  if (!read) return current;
  const isSame = sameness(attribute);
  const before = listOf(current).map((known) => read.find((each) => isSame(each, known)) ?? known);
  const added = read.filter((each) => !before.includes(each));
  const values = [...before, ...added];
  return withPrimary(values, values.indexOf(read.find((each) => each.primary === true) ?? {}));
}

/** Values of a list are the same where their name is (a team's, say); without a name, where all is. */
function sameness({ subAttributes }: Attribute): (one: JsonObject, other: JsonObject) => boolean {
  const name = subAttributes?.find((each) => each.required)?.name;
  return name === undefined ? isDeepStrictEqual : (one, other) => one[name] === other[name];
}

/** RFC 7644, 3.5.2.3: sub-attributes that are not named stay as they are. */
function mergeInto(
  attribute: Attribute,
  current: Json | undefined,
  value: JsonObject,
  change: Change,
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

/** A value that cannot be changed may be named again, in any case where case does not matter. */
function keepSame(attribute: Attribute, current: Json | undefined, value: Json): Json {
  const form = (text: Json | undefined) => searchableText(attribute, String(text));
  if (current === undefined) return value;
  if (form(current) === form(value)) return current;
  throw scimProblem("mutability", `'${attribute.name}' cannot be changed`);
}
