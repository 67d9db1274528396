import type { FilterJson } from "../../api/segments.ts";
import { canShow } from "./subjects.ts";

/* A filter as the builder holds it: one group of conditions and of groups of conditions. */

export interface Condition {
  readonly key: number;
  readonly isNot: boolean;
  readonly leaf: FilterJson;
}

export interface Group {
  readonly key: number;
  readonly op: "all" | "any";
  readonly items: readonly (Condition | Group)[];
}

let lastKey = 0;
export const newKey = (): number => ++lastKey;

export const newCondition = (leaf: FilterJson): Condition => ({
  key: newKey(),
  isNot: false,
  leaf,
});

export const isGroup = (item: Condition | Group): item is Group => "items" in item;

/** The filter of a group, without groups that are empty. */
export function filterOf(group: Group): FilterJson | undefined {
  const parts = group.items.flatMap((item) => {
    if (isGroup(item)) return filterOf(item) ?? [];
    return item.isNot ? { not: item.leaf } : item.leaf;
  });
  return parts.length === 0 ? undefined : { [group.op]: parts };
}

/** A filter as a group; undefined if it has more levels, or conditions that the builder does not show. */
export function groupOf(filter: FilterJson, level = 1): Group | undefined {
  const op = "all" in filter ? "all" : "any" in filter ? "any" : undefined;
  if (op === undefined) {
    const condition = conditionOf(filter);
    return condition && { key: newKey(), op: "all", items: [condition] };
  }
  const items = (filter[op] as readonly FilterJson[]).map((each) =>
    ("all" in each || "any" in each) && level === 1 ? groupOf(each, 2) : conditionOf(each),
  );
  if (items.includes(undefined)) return undefined;
  return { key: newKey(), op, items: items as (Condition | Group)[] };
}

function conditionOf(filter: FilterJson): Condition | undefined {
  const isNot = "not" in filter;
  const leaf = isNot ? (filter.not as FilterJson) : filter;
  return canShow(leaf) ? { key: newKey(), isNot, leaf } : undefined;
}
