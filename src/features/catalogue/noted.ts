import { DAY_MS } from "../../core/base/clock.ts";
import { isJsonObject, type Json } from "../../core/base/values/plain-json.ts";
import { parseAttributeTime } from "../../core/base/values/times.ts";
import type { CatalogueKind, DataType } from "./kinds.ts";
import type { CatalogueCount, CountKey } from "./store.ts";

/** The type of a value of a custom attribute; a text that can be read as a time is one. */
export function dataTypeOf(value: Exclude<Json, null>): DataType {
  switch (typeof value) {
    case "string":
      return BEGINS_LIKE_A_TIME.test(value) && parseAttributeTime(value) ? "time" : "string";
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    default:
      if (Array.isArray(value)) return value.some(isJsonObject) ? "object_array" : "array";
      return isJsonObject(value) && typeof value.$time === "string" ? "time" : "object";
  }
}

/** Spares most texts the reading of a time: no shorter one is a day. */
const BEGINS_LIKE_A_TIME = /^(?:\d.{5}|(?:sun|mon|tue|wed|thu|fri|sat) )/i;

interface Count {
  seen: number;
  firstMs: number;
  lastMs: number;
  /** By days since the epoch. */
  readonly byDay: Map<number, number>;
}

/** How many names of all workspaces wait to be written; one beyond them is counted from its next use. */
const MOST_NAMES = 50_000;

export function createNoted() {
  /** By workspace, by kind and type, by name. */
  const workspaces = new Map<number, Map<string, Map<string, Count>>>();
  let names = 0;

  function countOf(workspaceId: number, { kind, dataType, name }: CountKey): Count | undefined {
    const shelves = entryOf(workspaces, workspaceId, () => new Map());
    const shelf = entryOf(shelves, `${kind} ${dataType}`, () => new Map());
    const known = shelf.get(name);
    if (known || names >= MOST_NAMES) return known;
    const count = { seen: 0, firstMs: Infinity, lastMs: -Infinity, byDay: new Map() };
    shelf.set(name, count);
    names += 1;
    return count;
  }

  return {
    add(workspaceId: number, key: CountKey, atMs: number) {
      const count = countOf(workspaceId, key);
      if (!count) return;
      count.seen += 1;
      count.firstMs = Math.min(count.firstMs, atMs);
      count.lastMs = Math.max(count.lastMs, atMs);
      const day = Math.floor(atMs / DAY_MS);
      count.byDay.set(day, (count.byDay.get(day) ?? 0) + 1);
    },
    /** Everything counted since the last time. */
    take() {
      const taken: CatalogueCount[] = [];
      for (const [workspaceId, shelves] of workspaces) {
        for (const [shelf, counts] of shelves) {
          const [kind, dataType] = shelf.split(" ") as [CatalogueKind, DataType | ""];
          for (const [name, count] of counts) {
            taken.push({ workspaceId, kind, dataType, name, ...count });
          }
        }
      }
      workspaces.clear();
      names = 0;
      return taken;
    },
    /** Adds counts back that were taken and could not be written. */
    giveBack(counts: readonly CatalogueCount[]) {
      for (const { workspaceId, seen, firstMs, lastMs, byDay, ...key } of counts) {
        const count = countOf(workspaceId, key);
        if (!count) continue;
        count.seen += seen;
        count.firstMs = Math.min(count.firstMs, firstMs);
        count.lastMs = Math.max(count.lastMs, lastMs);
        for (const [day, times] of byDay) count.byDay.set(day, (count.byDay.get(day) ?? 0) + times);
      }
    },
    forget(workspaceId: number) {
      for (const shelf of workspaces.get(workspaceId)?.values() ?? []) names -= shelf.size;
      workspaces.delete(workspaceId);
    },
  };
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
