import { type Condition, fold } from "../../core/base/conditions.ts";
import { Problem } from "../../core/base/problem.ts";
import { isJsonObject } from "../../core/base/values/plain-json.ts";
import { sum } from "../../core/base/values/sum.ts";
import { canSpend, startWork, type WorkBudget } from "../../core/base/work.ts";
import { event, purchases, sessions } from "./activity-subjects.ts";
import { spelledLabelsOf } from "./address-tests.ts";
import { attribute, customAttribute } from "./attribute-subjects.ts";
import { type FilterPath, pathText, refuse } from "./filter-path.ts";
import { IDENTIFYING } from "./identifying.ts";
import type { FilterScope, Leaf, Subject } from "./leaf.ts";
import { moneySpent } from "./money-subject.ts";
import { anyOf, type Bounds, decided, everyOf, negated } from "./sql.ts";
import {
  device,
  emailAvailable,
  emailSubscription,
  pushSubscription,
  subscriptionGroup,
} from "./state-subjects.ts";

/*
 * The filter of a segment: `{ all: […] }`, `{ any: […] }`, `{ not: … }`, or a leaf, a condition on one subject. It has
 * two forms, SQL and a sentence. docs/segments.md
 */

export type Filter = Condition<FilterLeaf>;

type FilterLeaf =
  | { readonly op: "leaf"; readonly leaf: Leaf }
  /** The filter of another segment, which names no further one. */
  | { readonly op: "segment"; readonly name: string; readonly filter: Filter };

export const EVERYONE: Filter = { op: "and", conditions: [] };

const MOST_LEAVES = 50;
const MOST_LEVELS = 5;
/** Includes the conditions of the segments that a filter names. */
const MOST_LEAVES_IN_ALL = 200;
/** The work for one user and the text of a statement grow with these. */
const MOST_STEPS = 10;
const MOST_COMPARATORS = 5;
/** Labels of addresses beyond ASCII or in punycode, in all conditions: each is converted to its other spelling. */
const MOST_SPELLED_LABELS = 2_000;
/** As JSON. Calls read the filters of segments, and exact counts and exports store copies. */
const MOST_BYTES = 262_144;

/** Every subject by its name. A new one is a line here. */
const SUBJECTS: Readonly<Record<string, Subject>> = {
  attribute,
  custom_attribute: customAttribute,
  event,
  purchases,
  money_spent: moneySpent,
  sessions,
  subscription_group: subscriptionGroup,
  email_subscription: emailSubscription,
  push_subscription: pushSubscription,
  email_available: emailAvailable,
  device,
};

/** The subjects of a filter, in reading order. */
export const SUBJECT_NAMES: readonly string[] = [...Object.keys(SUBJECTS), "in_segment"];

export interface ReadingRules {
  /**
   * The filter is only shown, or stays as it is: it may have more bytes, longer paths and more
   * comparators than one that is to be counted. Such a filter was stored before there were these bounds.
   */
  readonly isKept?: boolean;
  /** The caller may not see who users are: the filter may single out none. */
  readonly hidesPeople?: boolean;
}

interface Reading {
  readonly scope: FilterScope;
  readonly rules: ReadingRules;
  /** False in the filter of a segment that another one refers to. */
  readonly takesSegments: boolean;
  /** Labels of addresses that are converted, with those of the segments that the filter names. */
  readonly labels: WorkBudget;
  leaves: number;
}

/**
 * Reads a filter as it came.
 *
 * @throws Problem that names the place: INVALID_REQUEST, such as `'filter.all[1].in_last_days' must be …`; FORBIDDEN for
 *   an attribute that identifies people, if they are hidden.
 */
export function readFilter(given: unknown, scope: FilterScope, rules: ReadingRules = {}): Filter {
  if (!rules.isKept && isJsonObject(given) && bytesOfFilter(given) > MOST_BYTES) {
    throw refuse([], `has more than ${MOST_BYTES / 1_024} KB as JSON`);
  }
  const labels = startWork(MOST_SPELLED_LABELS);
  const filter = read(given, [], 1, { scope, rules, takesSegments: true, labels, leaves: 0 });
  if (leavesOf(filter).length <= MOST_LEAVES_IN_ALL) return filter;
  throw refuse(
    [],
    `has more than ${MOST_LEAVES_IN_ALL} conditions, including those of its segments`,
  );
}

/** The size of a filter as it came, written as JSON. */
export const bytesOfFilter = (given: unknown): number => Buffer.byteLength(JSON.stringify(given));

function read(given: unknown, path: FilterPath, level: number, reading: Reading): Filter {
  if (!isJsonObject(given)) throw refuse(path, "must be an object");
  const { all, any, not, ...rest } = given;
  const groups = [all, any, not].filter((each) => each !== undefined).length;
  if (groups === 0) return readCondition(given, path, reading);
  if (groups > 1 || Object.keys(rest).length > 0) {
    throw refuse(path, "must have 'all', 'any' or 'not' alone, or be a condition");
  }
  if (level >= MOST_LEVELS + 1) throw refuse(path, `has more than ${MOST_LEVELS} levels`);
  if (not !== undefined)
    return { op: "not", condition: read(not, [...path, "not"], level + 1, reading) };
  const op = all === undefined ? "any" : "all";
  const list = all ?? any;
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST_LEAVES) {
    throw refuse([...path, op], `must be a list of 1 to ${MOST_LEAVES} filters`);
  }
  return {
    op: op === "all" ? "and" : "or",
    conditions: list.map((each, index) => read(each, [...path, op, index], level + 1, reading)),
  };
}

function readCondition(
  given: Readonly<Record<string, unknown>>,
  path: FilterPath,
  reading: Reading,
): Filter {
  reading.leaves += 1;
  if (reading.leaves > MOST_LEAVES)
    throw refuse(path, `is one of more than ${MOST_LEAVES} conditions`);
  const [subject, second] = SUBJECT_NAMES.filter((name) => Object.hasOwn(given, name));
  if (subject === undefined || second !== undefined) {
    throw refuse(path, `must have one subject: ${SUBJECT_NAMES.join(", ")}`);
  }
  const { [subject]: value, ...rest } = given;
  if (subject === "in_segment") return readInSegment(value, rest, path, reading);
  if (!reading.rules.isKept) refuseExcess(subject, value, rest, path);
  if (!reading.rules.isKept && subject === "attribute" && value === "email") {
    if (!canSpend(reading.labels, spelledLabelsOf(rest))) {
      throw refuse(
        path,
        `has addresses with more than ${MOST_SPELLED_LABELS} labels beyond ASCII or in punycode, with those of the conditions before it`,
      );
    }
  }
  if (reading.rules.hidesPeople && subject === "attribute" && IDENTIFYING.includes(String(value))) {
    throw new Problem(
      "FORBIDDEN",
      `'${pathText([...path, subject])}' tells who a user is: you lack the permission view_pii.`,
    );
  }
  const leaf = (SUBJECTS[subject] as Subject).read(value, rest, path, reading.scope);
  return { op: "leaf", leaf };
}

/** Subjects with a period, `in_last_days`; of values it is a comparator. */
const OF_OCCURRENCES = ["event", "purchases", "money_spent"];

/** @throws Problem if a condition makes more work for each user than it may. */
function refuseExcess(
  subject: string,
  value: unknown,
  rest: Readonly<Record<string, unknown>>,
  path: FilterPath,
): void {
  const { where, first, last, in_last_days: period, ...others } = rest;
  const refuseLong = (name: unknown, place: FilterPath) => {
    if (typeof name !== "string" || name.split(".").length <= MOST_STEPS) return;
    throw refuse(place, `has more than ${MOST_STEPS} steps`);
  };
  if (subject === "custom_attribute") refuseLong(value, [...path, subject]);
  const { property, ...ofProperty } = isJsonObject(where) ? where : {};
  refuseLong(property, [...path, "where", "property"]);
  const lists = [others, ofProperty, first, last].filter((each) => isJsonObject(each));
  const isCompared = period !== undefined && !OF_OCCURRENCES.includes(subject);
  const comparators = sum(lists.map((each) => Object.keys(each).length)) + Number(isCompared);
  if (comparators > MOST_COMPARATORS) {
    throw refuse(path, `has more than ${MOST_COMPARATORS} comparators`);
  }
}

function readInSegment(
  id: unknown,
  rest: Readonly<Record<string, unknown>>,
  path: FilterPath,
  { scope, rules, takesSegments, labels }: Reading,
): Filter {
  const place = [...path, "in_segment"];
  if (!takesSegments) {
    throw refuse(place, "cannot be used in a segment that another one refers to");
  }
  if (Object.keys(rest).length > 0) throw refuse(path, "must have 'in_segment' alone");
  const segment = typeof id === "string" ? scope.segments.get(id) : undefined;
  if (!segment) throw refuse(place, "must be the id of a segment of this workspace");
  return {
    op: "segment",
    name: segment.name,
    filter: readReferred(segment, place, { scope, rules, labels }),
  };
}

/** The filter of a segment that another one names. It may not name a further one. */
function readReferred(
  { name, filter }: { readonly name: string; readonly filter: unknown },
  place: FilterPath,
  reading: Pick<Reading, "scope" | "rules" | "labels">,
): Filter {
  if (segmentsIn(filter).length > 0) {
    throw refuse(place, `names ${name}, which itself has in_segment: only one level is possible`);
  }
  return read(filter, place, 1, { ...reading, takesSegments: false, leaves: 0 });
}

/** The ids that `in_segment` names anywhere in a filter as it came. */
export function segmentsIn(given: unknown): string[] {
  if (Array.isArray(given)) return given.flatMap(segmentsIn);
  if (!isJsonObject(given as never)) return [];
  const { all, any, not, in_segment } = given as Record<string, unknown>;
  return [
    ...(typeof in_segment === "string" ? [in_segment] : []),
    ...[all, any, not].flatMap(segmentsIn),
  ];
}

/** The filter as SQL over `profiles p`: see sql.ts. @param sqlOf a condition as SQL. */
export const filterSql = (filter: Filter, sqlOf: (leaf: Leaf) => Bounds): Bounds =>
  fold<FilterLeaf, Bounds>(filter, {
    and: (parts) => everyOf(parts.map((part) => part())),
    or: (parts) => anyOf(parts.map((part) => part())),
    not: negated,
    never: () => decided("false"),
    leaf: (each) => (each.op === "leaf" ? sqlOf(each.leaf) : filterSql(each.filter, sqlOf)),
  });

/** Decides about users by which conditions hold; made once, because it decides about many. */
export const decisionOf = (filter: Filter): ((holdsOf: (leaf: Leaf) => boolean) => boolean) =>
  fold<FilterLeaf, ReturnType<typeof decisionOf>>(filter, {
    and(parts) {
      const all = parts.map((part) => part());
      return (holdsOf) => all.every((each) => each(holdsOf));
    },
    or(parts) {
      const all = parts.map((part) => part());
      return (holdsOf) => all.some((each) => each(holdsOf));
    },
    not: (part) => (holdsOf) => !part(holdsOf),
    never: () => () => false,
    leaf: (each) => {
      if (each.op === "segment") return decisionOf(each.filter);
      const { leaf } = each;
      return (holdsOf) => holdsOf(leaf);
    },
  });

/** The conditions of a filter, including those of the segments that it names. */
export const leavesOf = (filter: Filter): Leaf[] =>
  fold<FilterLeaf, Leaf[]>(filter, {
    and: (parts) => parts.flatMap((part) => part()),
    or: (parts) => parts.flatMap((part) => part()),
    not: (part) => part,
    never: () => [],
    leaf: (each) => (each.op === "leaf" ? [each.leaf] : leavesOf(each.filter)),
  });

export const leavesOfAll = (filters: readonly Filter[]): Leaf[] => [
  ...new Set(filters.flatMap(leavesOf)),
];

/** The filter as an English sentence, such as `Users who match: plan is "pro", and did signed_up at least 1 time.` */
export const sentenceOf = (filter: Filter): string => `Users who match: ${wordsOf(filter)}.`;

export function wordsOf(filter: Filter): string {
  const group = (word: string) => (parts: readonly (() => string)[]) =>
    parts.length === 1 ? (parts[0]?.() ?? "") : `(${parts.map((part) => part()).join(word)})`;
  const words = fold<FilterLeaf, string>(filter, {
    and: group(", and "),
    or: group(", or "),
    not: (part) => `not ${part}`,
    never: () => "nothing holds",
    leaf: (each) =>
      each.op === "leaf" ? each.leaf.words : `the user is in the segment ${each.name}`,
  });
  // The outermost group needs no brackets.
  return /^\(/.test(words) && (filter.op === "and" || filter.op === "or")
    ? words.slice(1, -1)
    : words;
}
