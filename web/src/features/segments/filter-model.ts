import type { FilterJson } from "./api.ts";
import { canShow, isFinished } from "./subjects.ts";

/* A filter in the builder: groups of conditions and of groups, as deep as a filter may be. */

/** Levels of groups and of "not" that a filter may have. docs/segments.md */
const MOST_LEVELS = 5;

export interface Condition {
  readonly key: number;
  readonly isNot: boolean;
  readonly leaf: FilterJson;
  /** Whether it is written as JSON, because it has more than the fields of its subject. */
  readonly isJson: boolean;
}

export interface Group {
  readonly key: number;
  readonly op: "all" | "any";
  readonly isNot: boolean;
  readonly items: readonly (Condition | Group)[];
}

let lastKey = 0;
export const newKey = (): number => ++lastKey;

/** One that says nothing yet. */
export const newCondition = (leaf: FilterJson = {}): Condition => ({
  key: newKey(),
  isNot: false,
  leaf,
  isJson: false,
});

export const newGroup = (): Group => ({
  key: newKey(),
  op: "any",
  isNot: false,
  items: [newCondition()],
});

export const isGroup = (item: Condition | Group): item is Group => "items" in item;

/** The number of levels that a group takes; "not" takes levels too. */
export const levelsOf = ({ isNot }: Pick<Group, "isNot">): number => (isNot ? 2 : 1);

/** Whether a group fits into another one, by the number of levels above its items. */
export const fitsBelow = (levels: number): boolean => levels + 1 <= MOST_LEVELS;

const negatedIf = (isNot: boolean, filter: FilterJson): FilterJson =>
  isNot ? { not: filter } : filter;

/** Whether something is missing in a condition of a group. */
export const isOpen = ({ items }: Group): boolean =>
  items.some((item) => (isGroup(item) ? isOpen(item) : !isWhole(item)));

const isWhole = ({ leaf, isJson }: Condition): boolean => isJson || isFinished(leaf);

/** The filter of a group, without groups that are empty and conditions in which something is missing. */
export function filterOf({ op, isNot, items }: Group): FilterJson | undefined {
  const parts = items.flatMap((item) => {
    if (isGroup(item)) return filterOf(item) ?? [];
    return isWhole(item) ? negatedIf(item.isNot, item.leaf) : [];
  });
  return parts.length === 0 ? undefined : negatedIf(isNot, { [op]: parts });
}

/** A filter as JSON, as an address has it; undefined if it is none. */
export function filterIn(json: string | undefined): FilterJson | undefined {
  try {
    const filter: unknown = JSON.parse(json ?? "");
    const isObject = typeof filter === "object" && filter !== null && !Array.isArray(filter);
    return isObject ? (filter as FilterJson) : undefined;
  } catch {
    return undefined;
  }
}

/** A filter as a group; without one, a group of a condition that says nothing yet. */
export function groupOf(filter: FilterJson | undefined): Group {
  if (!filter) return { ...newGroup(), op: "all" };
  const item = itemOf(filter);
  return isGroup(item) ? item : { key: newKey(), op: "all", isNot: false, items: [item] };
}

function itemOf(filter: FilterJson, isNot = false): Condition | Group {
  if ("not" in filter) return itemOf(filter.not as FilterJson, !isNot);
  for (const op of ["all", "any"] as const) {
    if (!(op in filter)) continue;
    const parts = filter[op] as readonly FilterJson[];
    return { key: newKey(), op, isNot, items: parts.map((each) => itemOf(each)) };
  }
  return { key: newKey(), isNot, leaf: filter, isJson: !canShow(filter) };
}
