import {
  findUnstorable,
  isJsonObject,
  isLongerThan,
  type Json,
  type JsonObject,
} from "../../../core/base/values/plain-json.ts";
import { spend, type WorkBudget } from "../../../core/base/work.ts";
import { type Attribute, findAttribute, isUserSchema } from "./attributes.ts";
import { scimProblem } from "./problems.ts";

/*
 * Reads a client's JSON as attributes, by the table in attributes.ts. Names match in any case and come
 * out as the table spells them. Null and an empty list mean "no value" (RFC 7643, 2.5). Read-only and
 * unknown attributes are ignored.
 */

/** docs/decisions/scim.md */
const LONGEST_TEXT = 255;
const MOST_VALUES = 500;

/** Cheap, because the members of an object are charged for themselves. */
const WORK_PER_VALUE = 0.2;

/** Only Rapport defines the members of this attribute, so an unknown one is a mistake. */
const OWN_ATTRIBUTE = "permissions";

export interface Reading {
  /** Whether required attributes must be present; part of a resource may lack them. */
  readonly isWhole: boolean;
  /** Whether an id may name a value; ids further below are ignored all the same. */
  readonly keepsIds?: boolean;
  readonly work: WorkBudget;
}

const invalidValue = (path: string, rule: string) =>
  scimProblem("invalidValue", `'${path}' ${rule}`);

/**
 * Reads the attributes of an object.
 *
 * @throws Problem with `invalidValue` that names the attribute and the rule.
 */
export function readAttributes(
  attributes: readonly Attribute[],
  source: JsonObject,
  reading: Reading,
  path = "",
): JsonObject {
  const read: Record<string, Json> = {};
  const below = reading.keepsIds ? { ...reading, keepsIds: false } : reading;
  for (const [key, value] of path === "" ? membersOf(source) : Object.entries(source)) {
    spend(reading.work, 1);
    const known = findAttribute(attributes, key);
    if (!known) {
      if (path.startsWith(OWN_ATTRIBUTE)) throw invalidValue(join(path, key), "is not known");
      continue;
    }
    const place = join(path, known.name);
    if (Object.hasOwn(read, known.name)) throw invalidValue(place, "is given twice");
    if (known.mutability === "readOnly" && !reading.keepsIds) continue;
    const attribute = readAttribute(known, value, below, place);
    if (attribute !== undefined) read[known.name] = attribute;
  }
  if (reading.isWhole) requireAll(attributes, read, path);
  return read;
}

/** A value without members that are read-only, such as ids, at any level. */
export function writablePart(
  attribute: Pick<Attribute, "subAttributes"> | undefined,
  value: Json,
): Json {
  if (Array.isArray(value)) return value.map((each: Json) => writablePart(attribute, each));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).flatMap(([name, each]): [string, Json][] => {
    const known = findAttribute(attribute?.subAttributes, name);
    return known?.mutability === "readOnly" ? [] : [[name, writablePart(known, each)]];
  });
  return Object.fromEntries(members);
}

/** The attributes of a user; they may be below the name of their schema. */
function membersOf(source: JsonObject): (readonly [name: string, value: Json])[] {
  return Object.entries(source).flatMap(([name, value]) => {
    if (!isUserSchema(name)) return [[name, value] as const];
    if (!isJsonObject(value)) throw invalidValue(name, "must be an object");
    return Object.entries(value);
  });
}

const join = (path: string, name: string): string => (path ? `${path}.${name}` : name);

function requireAll(attributes: readonly Attribute[], read: JsonObject, path: string): void {
  const missing = attributes.filter((each) => each.required && read[each.name] === undefined);
  if (missing.length === 0) return;
  const names = missing.map((each) => `'${join(path, each.name)}'`).join(", ");
  throw scimProblem("invalidValue", `${names} ${missing.length > 1 ? "are" : "is"} required`);
}

/** Reads the value of one attribute; returns undefined if it has none. */
export function readAttribute(
  attribute: Attribute,
  value: Json,
  reading: Reading,
  path: string,
): Json | undefined {
  if (value === null) return undefined;
  if (!attribute.multiValued) return readOne(attribute, value, reading, path);
  if (!Array.isArray(value)) throw invalidValue(path, "must be an array");
  refuseTooMany(value, path);
  spend(reading.work, value.length * WORK_PER_VALUE);
  const values = value.map((each: Json, index) =>
    readOne(attribute, each, reading, `${path}[${index}]`),
  );
  refuseSecondPrimary(values, path);
  return values.length > 0 ? values : undefined;
}

/** @throws Problem with `invalidValue` for a list that is longer than one may be. */
export function refuseTooMany(values: readonly Json[], path: string): void {
  if (values.length > MOST_VALUES)
    throw invalidValue(path, `must have at most ${MOST_VALUES} values`);
}

function readOne(attribute: Attribute, value: Json, reading: Reading, path: string): Json {
  switch (attribute.type) {
    case "complex":
      if (!isJsonObject(value)) throw invalidValue(path, "must be an object");
      return readAttributes(attribute.subAttributes ?? [], value, reading, path);
    case "boolean":
      return readBoolean(value, path);
    default:
      return readText(attribute, value, path);
  }
}

/** Microsoft Entra sends booleans as the strings `True` and `False`. */
function readBoolean(value: Json, path: string): boolean {
  const text = typeof value === "string" ? value.toLowerCase() : value;
  if (text === true || text === "true") return true;
  if (text === false || text === "false") return false;
  throw invalidValue(path, "must be true or false");
}

function readText({ canonicalValues }: Attribute, value: Json, path: string): string {
  if (typeof value !== "string") throw invalidValue(path, "must be a string");
  if (canonicalValues && !canonicalValues.includes(value)) {
    throw invalidValue(path, `must be one of ${canonicalValues.join(", ")}`);
  }
  if (isLongerThan(value, LONGEST_TEXT)) {
    throw invalidValue(path, `must have at most ${LONGEST_TEXT} characters`);
  }
  return value;
}

/** RFC 7643, 2.4. */
function refuseSecondPrimary(values: readonly Json[], path: string): void {
  const primaries = values.filter((value) => isJsonObject(value) && value.primary === true);
  if (primaries.length > 1) throw invalidValue(path, "has more than one primary value");
}

/** @throws Problem with `invalidValue` for text that no engine can store. docs/decisions/values.md */
export function refuseUnstorableMembers(body: JsonObject): void {
  const fault = findUnstorable(body, "");
  if (fault) throw scimProblem("invalidValue", `${fault.code}: ${fault.message}`);
}
