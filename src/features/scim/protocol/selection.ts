import { isJsonObject, type Json, type JsonObject } from "../../../core/base/values/plain-json.ts";
import { spend, type WorkBudget } from "../../../core/base/work.ts";
import { findAttribute, isNotKept, RESOURCE_ATTRIBUTES } from "./attributes.ts";
import { parsePath, type TargetStep } from "./filter.ts";
import { picker } from "./match.ts";
import { scimProblem } from "./problems.ts";

/** The attributes to show or to omit, separated by commas. RFC 7644, 3.9. */
export interface Selection {
  readonly attributes?: string;
  readonly excludedAttributes?: string;
}

/** More than a user has attributes. */
const MOST_NAMES = 100;

/** One step of a name: which attribute, and which of its values. */
interface SelectionStep {
  /** In lower case. */
  readonly name: string;
  picks(value: Json): boolean;
}

type Steps = readonly SelectionStep[];

/**
 * Returns a function that cuts a resource down to the selection; id and schemas always stay. An unknown
 * name shows nothing. Microsoft's test requests also choose values: `emails[type eq "work"]`.
 *
 * @throws Problem with `invalidValue` if both lists are given or one is too long, `invalidPath` for a
 *   name that cannot be read.
 */
export function selector(
  { attributes, excludedAttributes }: Selection,
  work: WorkBudget,
): (resource: JsonObject) => JsonObject {
  if (attributes !== undefined && excludedAttributes !== undefined) {
    const rule = "Only one of 'attributes' and 'excludedAttributes' may be given";
    throw scimProblem("invalidValue", rule);
  }
  const excluded = pathsIn(excludedAttributes ?? "", work);
  const included = attributes === undefined ? undefined : pathsIn(attributes, work);
  return (resource) => {
    const shown = included ? include(resource, included, work) : exclude(resource, excluded, work);
    return { schemas: resource.schemas ?? null, id: resource.id ?? null, ...shown };
  };
}

function pathsIn(list: string, work: WorkBudget): readonly Steps[] {
  const names = new Set(list.split(",").map((name) => name.trim()));
  names.delete("");
  if (names.size > MOST_NAMES) {
    throw scimProblem("invalidValue", `A list of attributes may hold at most ${MOST_NAMES} names`);
  }
  return [...names].flatMap((name) => {
    const { schema, steps } = parsePath(name);
    return isNotKept(schema, []) ? [] : [steps.map((step) => stepOf(step, work))];
  });
}

function stepOf({ name, filter }: TargetStep, work: WorkBudget): SelectionStep {
  const values = findAttribute(RESOURCE_ATTRIBUTES, name)?.subAttributes ?? [];
  const isPicked = filter && picker(filter, values, [name], work);
  return {
    name: name.toLowerCase(),
    picks: (value) => !isPicked || (isJsonObject(value) && isPicked(value)),
  };
}

/** The paths below an attribute. */
function through(paths: readonly Steps[], key: string, work: WorkBudget): readonly Steps[] {
  spend(work, paths.length);
  const name = key.toLowerCase();
  return paths.filter(([step]) => step?.name === name);
}

function include(source: JsonObject, paths: readonly Steps[], work: WorkBudget): JsonObject {
  const entries = Object.entries(source).flatMap(([key, value]): [string, Json][] => {
    const mine = through(paths, key, work);
    if (mine.length === 0) return [];
    if (!Array.isArray(value)) return [[key, includePart(value, mine, work)]];
    const values = value.flatMap((each: Json) => {
      const chosen = mine.filter(([step]) => step?.picks(each));
      return chosen.length > 0 ? [includePart(each, chosen, work)] : [];
    });
    return [[key, values]];
  });
  return Object.fromEntries(entries);
}

function includePart(value: Json, paths: readonly Steps[], work: WorkBudget): Json {
  const rests = paths.map((steps) => steps.slice(1));
  const isWhole = rests.some((rest) => rest.length === 0);
  return isWhole || !isJsonObject(value) ? value : include(value, rests, work);
}

function exclude(source: JsonObject, paths: readonly Steps[], work: WorkBudget): JsonObject {
  if (paths.length === 0) return source;
  const entries = Object.entries(source).flatMap(([key, value]): [string, Json][] => {
    const mine = through(paths, key, work);
    if (mine.length === 0) return [[key, value]];
    const values = [value].flat().flatMap((each: Json) => excludePart(each, mine, work));
    if (values.length === 0) return [];
    return [[key, Array.isArray(value) ? values : (values[0] ?? null)]];
  });
  return Object.fromEntries(entries);
}

function excludePart(value: Json, paths: readonly Steps[], work: WorkBudget): Json[] {
  const rests = paths.filter(([step]) => step?.picks(value)).map((steps) => steps.slice(1));
  if (rests.some((rest) => rest.length === 0)) return [];
  return [isJsonObject(value) ? exclude(value, rests, work) : value];
}
