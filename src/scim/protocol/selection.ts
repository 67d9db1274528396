import { isJsonObject, type Json, type JsonObject } from "../../profiles/plain-json.ts";
import { findAttribute, isNotKept, RESOURCE_ATTRIBUTES } from "./attributes.ts";
import { parsePath, type TargetStep } from "./filter.ts";
import { conditionOf, matches } from "./match.ts";
import { scimProblem } from "./problems.ts";
import { searchable } from "./resource.ts";

/** What an answer shows of a resource: names of attributes, separated by commas. RFC 7644, 3.9. */
export interface Selection {
  readonly attributes?: string;
  readonly excludedAttributes?: string;
}

/** One step of a name: which attribute, and which of its values. */
interface Step {
  /** In lower case. */
  readonly name: string;
  picks(value: Json): boolean;
}

type Steps = readonly Step[];

/**
 * How a resource is cut down to what was asked for; id and schemas are always there. An unknown name
 * shows nothing. Microsoft's test requests choose values too: `emails[type eq "work"]`.
 *
 * @throws Problem with `invalidValue` where both are given, `invalidPath` for what can be no name.
 */
export function selector({
  attributes,
  excludedAttributes,
}: Selection): (resource: JsonObject) => JsonObject {
  if (attributes !== undefined && excludedAttributes !== undefined) {
    const rule = "Only one of 'attributes' and 'excludedAttributes' may be given";
    throw scimProblem("invalidValue", rule);
  }
  const excluded = pathsIn(excludedAttributes ?? "");
  const included = attributes === undefined ? undefined : pathsIn(attributes);
  return (resource) => {
    const shown = included ? include(resource, included) : exclude(resource, excluded);
    return { schemas: resource.schemas ?? null, id: resource.id ?? null, ...shown };
  };
}

function pathsIn(list: string): readonly Steps[] {
  const names = list.split(",").map((name) => name.trim());
  return names.filter(Boolean).flatMap((name) => {
    const { schema, steps } = parsePath(name);
    return isNotKept(schema, []) ? [] : [steps.map(stepOf)];
  });
}

function stepOf({ name, filter }: TargetStep): Step {
  const values = findAttribute(RESOURCE_ATTRIBUTES, name)?.subAttributes ?? [];
  const condition = filter && conditionOf(filter, values, [name]);
  return {
    name: name.toLowerCase(),
    picks: (value) =>
      !condition || (isJsonObject(value) && matches(condition, searchable(values, value))),
  };
}

/** The paths that go through an attribute. */
const through = (paths: readonly Steps[], key: string): readonly Steps[] =>
  paths.filter(([step]) => step?.name === key.toLowerCase());

function include(source: JsonObject, paths: readonly Steps[]): JsonObject {
  const entries = Object.entries(source).flatMap(([key, value]): [string, Json][] => {
    const mine = through(paths, key);
    if (mine.length === 0) return [];
    if (!Array.isArray(value)) return [[key, includePart(value, mine)]];
    const values = value.flatMap((each: Json) => {
      const chosen = mine.filter(([step]) => step?.picks(each));
      return chosen.length > 0 ? [includePart(each, chosen)] : [];
    });
    return [[key, values]];
  });
  return Object.fromEntries(entries);
}

function includePart(value: Json, paths: readonly Steps[]): Json {
  const rests = paths.map((steps) => steps.slice(1));
  const isWhole = rests.some((rest) => rest.length === 0);
  return isWhole || !isJsonObject(value) ? value : include(value, rests);
}

function exclude(source: JsonObject, paths: readonly Steps[]): JsonObject {
  const entries = Object.entries(source).flatMap(([key, value]): [string, Json][] => {
    const mine = through(paths, key);
    if (mine.length === 0) return [[key, value]];
    const values = [value].flat().flatMap((each: Json) => excludePart(each, mine));
    if (values.length === 0) return [];
    return [[key, Array.isArray(value) ? values : (values[0] ?? null)]];
  });
  return Object.fromEntries(entries);
}

function excludePart(value: Json, paths: readonly Steps[]): Json[] {
  const rests = paths.filter(([step]) => step?.picks(value)).map((steps) => steps.slice(1));
  if (rests.some((rest) => rest.length === 0)) return [];
  return [isJsonObject(value) ? exclude(value, rests) : value];
}
