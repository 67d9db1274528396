import { isJsonObject, type Json, type JsonObject } from "../../../core/base/values/plain-json.ts";
import { spend, type WorkBudget } from "../../../core/base/work.ts";
import { type Attribute, findAttribute } from "./attributes.ts";
import type { Filter } from "./filter.ts";
import { picker } from "./match.ts";
import type { AttributeChange } from "./patch-request.ts";
import { scimProblem } from "./problems.ts";
import { readAttribute, refuseTooMany, writablePart } from "./read-attributes.ts";

/*
 * PATCH of lists. Every function takes time in proportion to the values, and charges for them first: many
 * operations may name the same long list.
 */

/**
 * Changes the values of a list that a filter picks, or all of them.
 *
 * @param changePart changes one value as the rest of the path says; undefined if the path ends here.
 */
export function changeValues(
  attribute: Attribute,
  current: Json | undefined,
  filter: Filter | undefined,
  changePart: ((value: JsonObject) => JsonObject) | undefined,
  change: AttributeChange,
): Json {
  const { subAttributes } = attribute;
  if (!attribute.multiValued || !subAttributes) {
    throw scimProblem("invalidPath", `'${attribute.name}' has no values to choose from`);
  }
  const values = listOf(current);
  const { op, work, path } = change;
  spend(work, values.length);
  const isPicked = filter ? picker(filter, subAttributes, [attribute.name], work) : () => true;
  const picked = values.map(isPicked);
  const changeOne =
    changePart ??
    ((value: JsonObject) => ({ ...(op === "add" && value), ...readElement(attribute, change) }));

  const first = picked.indexOf(true);
  if (first < 0) {
    if (op === "remove") return values;
    if (op === "replace" && filter) throw scimProblem("noTarget", `'${path}' matches no value`);
    const added = [...values, changeOne(impliedBy(filter, subAttributes))];
    refuseTooMany(added, path);
    return withPrimary(added, values.length);
  }
  if (op === "remove" && !changePart) return values.filter((_, index) => !picked[index]);
  const changed = values.map((each, index) => (picked[index] ? changeOne(each) : each));
  return withPrimary(changed, first);
}

const listOf = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value : [];

function readElement(attribute: Attribute, { value, path, work }: AttributeChange): JsonObject {
  const one = { ...attribute, multiValued: false };
  const reading = { isWhole: false, work };
  return (readAttribute(one, value ?? null, reading, path) ?? {}) as JsonObject;
}

/** The members of a value that a filter picks: `{ type: "work" }` for `type eq "work"`. */
function impliedBy(filter: Filter | undefined, attributes: readonly Attribute[]): JsonObject {
  if (filter?.op === "and") {
    return Object.assign({}, ...filter.conditions.map((each) => impliedBy(each, attributes)));
  }
  if (filter?.op !== "eq") return {};
  const attribute = findAttribute(attributes, filter.path.names[0] ?? "");
  return attribute ? { [attribute.name]: filter.value } : {};
}

/** RFC 7644, 3.5.2: a value that becomes primary ends the primary state of the others. */
function withPrimary(values: readonly JsonObject[], changed: number): readonly JsonObject[] {
  if (values[changed]?.primary !== true) return values;
  return values.map((value, index) =>
    index !== changed && value.primary === true ? { ...value, primary: false } : value,
  );
}

/** Replaces a list, or adds values to it; an added value replaces the one with the same name. */
export function addValues(
  attribute: Attribute,
  current: Json | undefined,
  value: Json,
  { op, path, work }: AttributeChange,
): Json | undefined {
  const list = value === null || Array.isArray(value) ? value : [value];
  const reading = { isWhole: false, work };
  const read = readAttribute(attribute, list, reading, path) as readonly JsonObject[] | undefined;
  if (op === "replace") return read;
  if (!read) return current;
  const before = listOf(current);
  spend(work, (before.length + read.length) * WORK_PER_IDENTITY);
  const keyOf = identity(attribute);
  const replacements = new Map<string, JsonObject>();
  for (const each of read) {
    if (!replacements.has(keyOf(each))) replacements.set(keyOf(each), each);
  }
  const replaced = before.map((each) => replacements.get(keyOf(each)) ?? each);
  const present = new Set(replaced);
  const values = [...replaced, ...read.filter((each) => !present.has(each))];
  refuseTooMany(values, path);
  const primary = read.find((each) => each.primary === true);
  return primary ? withPrimary(values, values.indexOf(primary)) : values;
}

/** Serializing a value takes longer than comparing one. */
const WORK_PER_IDENTITY = 3;

/** Values with a name, such as teams, are identified by it, others by all their members. */
function identity({ subAttributes }: Attribute): (value: Json) => string {
  const name = subAttributes?.find((each) => each.required)?.name;
  if (name === undefined) return canonical;
  return (value) => canonical((value as JsonObject)[name] ?? null);
}

/** The same text for values that are equal. An empty list is no value: RFC 7643, 2.5. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const isEmptyList = (each: Json | undefined) => Array.isArray(each) && each.length === 0;
  const names = Object.keys(value).filter((name) => !isEmptyList(value[name]));
  return `{${names
    .sort()
    .map((name) => `${name}:${canonical(value[name] ?? null)}`)
    .join()}}`;
}

/**
 * Removes given values from a list, or the whole list if none are given. RFC 7644 removes by filter only,
 * but Microsoft Entra sends the values. An id may name a value.
 *
 * @throws Problem with `invalidValue` for a value that has no known member: it would name every value.
 */
export function removeValues(
  attribute: Attribute,
  current: Json | undefined,
  { value, path, work }: AttributeChange,
): Json | undefined {
  const isGiven = value !== undefined && value !== null && value !== "";
  if (!isGiven || !Array.isArray(current)) return undefined;
  const list = Array.isArray(value) ? value : [value];
  const reading = { isWhole: false, keepsIds: true, work };
  const named = readAttribute(attribute, list, reading, path) as readonly Json[] | undefined;
  if (!named) return undefined;
  const index = named.findIndex(namesNothing);
  if (index >= 0) {
    throw scimProblem("invalidValue", `'${path}[${index}]' must name a value to remove`);
  }
  const isNamed = holdsOneOf(named, attribute, work);
  return current.filter((each: Json) => !isNamed(each));
}

/** Whether nothing is left of a value, or of a part of it, once it is read. */
function namesNothing(value: Json): boolean {
  if (Array.isArray(value)) return value.some(namesNothing);
  if (!isJsonObject(value)) return false;
  const members = Object.values(value);
  return members.length === 0 || members.some(namesNothing);
}

/**
 * Whether a value contains all members of one of the others. The others are grouped by their member
 * names, so that a look-up replaces a comparison with each.
 */
function holdsOneOf(
  others: readonly Json[],
  { subAttributes }: Attribute,
  work: WorkBudget,
): (value: Json) => boolean {
  const groups = new Map<string, { names: string[] | undefined; texts: Set<string> }>();
  for (const other of others) {
    const names = isJsonObject(other) ? Object.keys(other).sort() : undefined;
    const key = names?.join() ?? "";
    const group = groups.get(key) ?? { names, texts: new Set() };
    groups.set(key, group);
    group.texts.add(canonical(other));
  }
  return (value) =>
    [...groups.values()].some(({ names, texts }) => {
      spend(work, WORK_PER_IDENTITY);
      if (names === undefined || !isJsonObject(value)) return texts.has(canonical(value));
      const part = names.flatMap((name) =>
        Object.hasOwn(value, name)
          ? [[name, writablePart(findAttribute(subAttributes, name), value[name] ?? null)]]
          : [],
      );
      return texts.has(canonical(Object.fromEntries(part)));
    });
}
