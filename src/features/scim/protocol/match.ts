import {
  holds,
  replaceLeaves,
  TEXT_COMPARISONS,
  type TextComparator,
} from "../../../core/base/conditions.ts";
import {
  findUnstorable,
  isJsonObject,
  type Json,
  type JsonObject,
} from "../../../core/base/values/plain-json.ts";
import { parseTime } from "../../../core/base/values/times.ts";
import { spend, type WorkBudget } from "../../../core/base/work.ts";
import {
  type Comparator,
  type UserCondition,
  type UserTest,
  writtenKey,
} from "../../dashboard-users/feature.ts";
import { type Attribute, findAttribute, isNotKept, UNSEARCHABLE } from "./attributes.ts";
import type { AttributePath, Filter, FilterTest, Literal } from "./filter.ts";
import { scimProblem } from "./problems.ts";
import { searchableText } from "./searchable.ts";

/*
 * The meaning of filters, by RFC 7644, 3.4.2.2: names are looked up in the table of attributes, values brought
 * into searchable form. The store filters lists of users; `matches` filters the values that a PATCH picks,
 * and a test compares the two.
 */

/** An attribute that is not stored has no value in any resource. */
const NEVER = { op: "never" } as const;

const invalidFilter = (path: AttributePath, rule: string) =>
  scimProblem("invalidFilter", `'${path.names.join(".")}' ${rule}`);

/**
 * Resolves the names of a filter.
 *
 * @param place the path of the attribute whose values are filtered, for a filter within `[]`.
 * @throws Problem with `invalidFilter` for an unknown attribute, or a comparison that it cannot have.
 */
export const conditionOf = (
  filter: Filter,
  attributes: readonly Attribute[],
  place: readonly string[] = [],
): UserCondition =>
  replaceLeaves<FilterTest, UserTest>(filter, (test) => {
    switch (test.op) {
      case "pr":
        return presence(test.path, attributes, place);
      case "has":
        return hasValue(test.path, test.filter, attributes, place);
      default:
        return comparison(test, attributes, place);
    }
  });

function presence(path: AttributePath, attributes: readonly Attribute[], place: readonly string[]) {
  const found = lookUp(path, attributes, place);
  return found ? ({ op: "pr", path: found.names } as const) : NEVER;
}

function hasValue(
  path: AttributePath,
  filter: Filter,
  attributes: readonly Attribute[],
  place: readonly string[],
): UserCondition {
  const found = lookUp(path, attributes, place);
  if (!found) return NEVER;
  const { subAttributes } = found.attribute;
  if (!subAttributes) throw invalidFilter(path, "has no attributes that [] could filter by");
  const condition = conditionOf(filter, subAttributes, [...place, ...found.names]);
  return { op: "has", path: found.names, condition };
}

function comparison(
  { op, path, value }: { op: Comparator; path: AttributePath; value: Literal },
  attributes: readonly Attribute[],
  place: readonly string[],
): UserCondition {
  const found = lookUp(path, attributes, place);
  if (value === null) return comparisonWithNull(op, path, found?.names);
  if (!found) return op === "ne" ? { op: "not", condition: NEVER } : NEVER;
  const [names, attribute] = simpleAttribute(found, path);
  refuseOperator(op, attribute, path);
  const ignoresCase = searchableText(attribute, "A") === "a";
  const test = { op, path: names, value: comparable(attribute, value, path), ignoresCase };
  // A user who shares a mailbox with another one, in punycode, has the name as it was written.
  const written =
    attribute.name === "userName" && op === "eq" && typeof value === "string"
      ? writtenKey(value)
      : test.value;
  if (written === test.value) return test;
  return { op: "or", conditions: [test, { ...test, value: written }] };
}

/** RFC 7643, 2.5: null is no value. */
function comparisonWithNull(
  op: Comparator,
  path: AttributePath,
  names: readonly string[] | undefined,
): UserCondition {
  const isThere: UserCondition = names ? { op: "pr", path: names } : NEVER;
  if (op === "ne") return isThere;
  if (op === "eq") return { op: "not", condition: isThere };
  throw invalidFilter(path, `cannot be compared with null by ${op}`);
}

interface Found {
  /** As the table spells them. */
  readonly names: readonly string[];
  readonly attribute: Attribute;
}

/** @returns undefined for a known attribute that is not stored. */
function lookUp(
  path: AttributePath,
  attributes: readonly Attribute[],
  place: readonly string[],
): Found | undefined {
  if (place.length === 0 && isNotKept(path.schema, path.names)) return undefined;
  const names: string[] = [];
  let level: readonly Attribute[] | undefined = attributes;
  let attribute: Attribute | undefined;
  for (const name of path.names) {
    attribute = findAttribute(level, name);
    if (!attribute) throw invalidFilter(path, "is not an attribute of a user");
    names.push(attribute.name);
    level = attribute.subAttributes;
  }
  if (!attribute || UNSEARCHABLE.has([...place, ...names].join("."))) {
    throw invalidFilter(path, "cannot be filtered by");
  }
  return { names, attribute };
}

/** `emails` means `emails.value`. */
function simpleAttribute(found: Found, path: AttributePath): [readonly string[], Attribute] {
  if (found.attribute.type !== "complex") return [found.names, found.attribute];
  const value = findAttribute(found.attribute.subAttributes, "value");
  if (!value) throw invalidFilter(path, "has several parts: name the one to compare");
  return [[...found.names, value.name], value];
}

function refuseOperator(op: Comparator, { type }: Attribute, path: AttributePath): void {
  const isOrder = ["gt", "ge", "lt", "le"].includes(op);
  const isPartial = ["co", "sw", "ew"].includes(op);
  if ((type === "boolean" && (isOrder || isPartial)) || (type === "dateTime" && isPartial)) {
    throw invalidFilter(path, `cannot be compared by ${op}`);
  }
}

function comparable(
  attribute: Attribute,
  value: string | number | boolean,
  path: AttributePath,
): string | boolean {
  const text = String(value);
  if (findUnstorable(text, ""))
    throw invalidFilter(path, "is compared with a text that no user can have");
  if (attribute.type === "boolean") {
    const lower = text.toLowerCase();
    if (lower !== "true" && lower !== "false") throw invalidFilter(path, "is true or false");
    return lower === "true";
  }
  if (attribute.type === "dateTime") {
    const time = parseTime(text);
    if (!time) throw invalidFilter(path, "is compared with an ISO 8601 date-time");
    return time.toISOString();
  }
  return searchableText(attribute, text);
}

/**
 * Returns a function that says whether a filter picks a value.
 *
 * @param place the path of the attribute whose values are filtered.
 */
export function picker(
  filter: Filter,
  attributes: readonly Attribute[],
  place: readonly string[],
  work: WorkBudget,
): (value: JsonObject) => boolean {
  const condition = conditionOf(filter, attributes, place);
  return (value) => matches(condition, value, work);
}

/** Whether a value meets a condition. A list meets it if any of its values does. */
export function matches(condition: UserCondition, source: JsonObject, work: WorkBudget): boolean {
  const valuesOf = (path: readonly string[]): readonly Json[] => {
    const values = valuesAt(source, path);
    spend(work, 1 + values.length);
    return values;
  };
  return holds(condition, (test) => {
    const values = valuesOf(test.path);
    switch (test.op) {
      case "pr":
        return values.some((value) => value !== "");
      case "has":
        return values.some((value) => isJsonObject(value) && matches(test.condition, value, work));
      case "ne":
        return values.length === 0 || values.some((each) => formOf(each, test) !== test.value);
      default: {
        const { op, value } = test;
        return values.some((each) => compare(op, formOf(each, test), value));
      }
    }
  });
}

const formOf = (value: Json, { ignoresCase }: { readonly ignoresCase: boolean }): Json =>
  ignoresCase && typeof value === "string" ? value.toLowerCase() : value;

/** The values at a path: none, one, or all values of a list. */
function valuesAt(source: Json | undefined, [name, ...rest]: readonly string[]): readonly Json[] {
  if (Array.isArray(source)) {
    return name === undefined
      ? source
      : source.flatMap((each: Json) => valuesAt(each, [name, ...rest]));
  }
  if (name === undefined) return source === undefined ? [] : [source];
  return isJsonObject(source) ? valuesAt(source[name], rest) : [];
}

function compare(op: TextComparator, value: Json, wanted: string | boolean): boolean {
  if (typeof value !== "string" || typeof wanted !== "string")
    return op === "eq" && value === wanted;
  return TEXT_COMPARISONS[op].holds(value, wanted);
}
