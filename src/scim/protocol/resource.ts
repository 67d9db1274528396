import {
  findUnstorable,
  isJsonObject,
  isLongerThan,
  type Json,
  type JsonObject,
} from "../../profiles/plain-json.ts";
import { type Attribute, findAttribute } from "./attributes.ts";
import { scimProblem } from "./problems.ts";

/*
 * Reading what a client sent as attributes, by the table in attributes.ts: names are matched whatever
 * their case and come out as the table spells them; null and an empty list mean that there is no value
 * (RFC 7643, 2.5); what is read-only is passed over, and so is what the table does not have.
 */

/** decision: docs/decisions/scim.md. */
const LONGEST_TEXT = 255;
const MOST_VALUES = 500;

/** Whose names are ours and no other server's: an unknown one is a mistake, not a foreign attribute. */
const OWN_ATTRIBUTE = "permissions";

const invalidValue = (path: string, rule: string) =>
  scimProblem("invalidValue", `'${path}' ${rule}`);

/**
 * The attributes of an object.
 *
 * @param isWhole whether required attributes must be there; in a part of a resource they need not.
 * @throws Problem with `invalidValue` that names the attribute and the rule.
 */
export function readAttributes(
  attributes: readonly Attribute[],
  source: JsonObject,
  isWhole: boolean,
  path = "",
): JsonObject {
  const read: Record<string, Json> = {};
  for (const [key, value] of Object.entries(source)) {
    const known = findAttribute(attributes, key);
    if (!known) {
      if (path.startsWith(OWN_ATTRIBUTE)) throw invalidValue(join(path, key), "is not known");
      continue;
    }
    const place = join(path, known.name);
    if (Object.hasOwn(read, known.name)) throw invalidValue(place, "stands there twice");
    if (known.mutability === "readOnly") continue;
    const attribute = readAttribute(known, value, isWhole, place);
    if (attribute !== undefined) read[known.name] = attribute;
  }
  if (isWhole) requireAll(attributes, read, path);
  return read;
}

const join = (path: string, name: string): string => (path ? `${path}.${name}` : name);

function requireAll(attributes: readonly Attribute[], read: JsonObject, path: string): void {
  const missing = attributes.filter((each) => each.required && read[each.name] === undefined);
  if (missing.length === 0) return;
  const names = missing.map((each) => `'${join(path, each.name)}'`).join(", ");
  throw scimProblem("invalidValue", `${names} ${missing.length > 1 ? "are" : "is"} required`);
}

/** The value of one attribute; undefined where there is none. */
export function readAttribute(
  attribute: Attribute,
  value: Json,
  isWhole: boolean,
  path: string,
): Json | undefined {
  if (value === null) return undefined;
  if (!attribute.multiValued) return readOne(attribute, value, isWhole, path);
  if (!Array.isArray(value)) throw invalidValue(path, "must be an array");
  if (value.length > MOST_VALUES) {
    throw invalidValue(path, `must have at most ${MOST_VALUES} values`);
  }
  const values = value.map((each: Json, index) =>
    readOne(attribute, each, isWhole, `${path}[${index}]`),
  );
  refuseSecondPrimary(values, path);
  return values.length > 0 ? values : undefined;
}

function readOne(attribute: Attribute, value: Json, isWhole: boolean, path: string): Json {
  switch (attribute.type) {
    case "complex":
      if (!isJsonObject(value)) throw invalidValue(path, "must be an object");
      return readAttributes(attribute.subAttributes ?? [], value, isWhole, path);
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

/** @throws Problem with `invalidValue` for text that no engine can keep. decision: Bodies. */
export function refuseUnstorable(body: JsonObject): void {
  const fault = findUnstorable(body, "");
  if (fault) throw scimProblem("invalidValue", `${fault.code}: ${fault.message}`);
}

/**
 * A resource as filters see it: text that is compared without case is in lower case. Takes values that
 * `readAttributes` gave, or parts of them.
 */
export function searchable(attributes: readonly Attribute[], source: JsonObject): JsonObject {
  const entries = Object.entries(source).flatMap(([key, value]): [string, Json][] => {
    const attribute = findAttribute(attributes, key);
    return attribute ? [[key, searchableValue(attribute, value)]] : [];
  });
  return Object.fromEntries(entries);
}

function searchableValue(attribute: Attribute, value: Json): Json {
  if (Array.isArray(value)) return value.map((each: Json) => searchableValue(attribute, each));
  if (isJsonObject(value)) return searchable(attribute.subAttributes ?? [], value);
  return typeof value === "string" ? searchableText(attribute, value) : value;
}

/** Times are written in one form only, where case says nothing. */
export const searchableText = (attribute: Attribute, text: string): string =>
  attribute.caseExact || attribute.type === "dateTime" ? text : text.toLowerCase();
