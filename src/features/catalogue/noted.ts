import { DAY_MS } from "../../core/base/clock.ts";
import { entryOf } from "../../core/base/values/group-by.ts";
import { isJsonObject, type Json } from "../../core/base/values/plain-json.ts";
import { parseAttributeTime } from "../../core/base/values/times.ts";
import type { CatalogueKind, DataType } from "./kinds.ts";
import type { CatalogueCount, Latest } from "./store.ts";

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
  /** The last occurrences of an event, the newest at the end. */
  readonly latest: Latest[];
}

/** How many names of all workspaces wait to be written; one beyond them is counted from its next use. */
const MOST_NAMES = 50_000;

/** How many occurrences of an event wait to be written, and of how many names. */
const MOST_LATEST = 10;
const NAMES_WITH_LATEST = 2_000;

/** Counts of one kind of names, and of one type of values. */
export interface Shelf {
  readonly kind: CatalogueKind;
  readonly dataType: DataType | "";
  readonly counts: Map<string, Count>;
  /** @param profileId of whoever sent an event. */
  add(name: string, atMs: number, profileId?: string): void;
}

type Shelves = Map<DataType | "", Shelf>;

export function createNoted() {
  /** By workspace, by kind, by type. */
  const workspaces = new Map<number, Map<CatalogueKind, Shelves>>();
  let names = 0;

  function countIn(counts: Map<string, Count>, name: string): Count | undefined {
    const known = counts.get(name);
    if (known || names >= MOST_NAMES) return known;
    const count = { seen: 0, firstMs: Infinity, lastMs: -Infinity, byDay: new Map(), latest: [] };
    counts.set(name, count);
    names += 1;
    return count;
  }

  function shelf(workspaceId: number, kind: CatalogueKind, dataType: DataType | ""): Shelf {
    const kinds = entryOf(workspaces, workspaceId, () => new Map<CatalogueKind, Shelves>());
    const shelves = entryOf(kinds, kind, () => new Map());
    return entryOf(shelves, dataType, () => newShelf(kind, dataType));
  }

  const shelvesOf = (kinds: Map<CatalogueKind, Shelves> | undefined): Shelf[] =>
    [...(kinds?.values() ?? [])].flatMap((shelves) => [...shelves.values()]);

  function newShelf(kind: CatalogueKind, dataType: DataType | ""): Shelf {
    const counts = new Map<string, Count>();
    return {
      kind,
      dataType,
      counts,
      add(name, atMs, profileId) {
        const count = countIn(counts, name);
        if (!count) return;
        count.seen += 1;
        count.firstMs = Math.min(count.firstMs, atMs);
        count.lastMs = Math.max(count.lastMs, atMs);
        const day = Math.floor(atMs / DAY_MS);
        count.byDay.set(day, (count.byDay.get(day) ?? 0) + 1);
        const hasPlace = count.latest.length > 0 || names <= NAMES_WITH_LATEST;
        if (profileId !== undefined && hasPlace) noteLatest(count.latest, { atMs, profileId });
      },
    };
  }

  return {
    /** Where names of a kind are counted until the next `take`. */
    shelf,
    take() {
      const taken: CatalogueCount[] = [];
      for (const [workspaceId, kinds] of workspaces) {
        for (const { kind, dataType, counts } of shelvesOf(kinds)) {
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
      for (const { workspaceId, kind, dataType, name, seen, firstMs, lastMs, ...rest } of counts) {
        const count = countIn(shelf(workspaceId, kind, dataType).counts, name);
        if (!count) continue;
        count.seen += seen;
        count.firstMs = Math.min(count.firstMs, firstMs);
        count.lastMs = Math.max(count.lastMs, lastMs);
        for (const [day, times] of rest.byDay)
          count.byDay.set(day, (count.byDay.get(day) ?? 0) + times);
        for (const each of rest.latest) noteLatest(count.latest, each);
      }
    },
    forget(workspaceId: number) {
      for (const { counts } of shelvesOf(workspaces.get(workspaceId))) names -= counts.size;
      workspaces.delete(workspaceId);
    },
    /** Drops who sent an event, if it is one of these users. */
    forgetUsers(workspaceId: number, profileIds: ReadonlySet<string>) {
      for (const { latest } of shelf(workspaceId, "event", "").counts.values()) {
        const others = latest.filter((each) => !profileIds.has(each.profileId));
        latest.splice(0, latest.length, ...others);
      }
    },
  };
}

/** Keeps the newest occurrences in the order of their times. */
function noteLatest(latest: Latest[], each: Latest): void {
  let place = latest.length;
  while (place > 0 && (latest[place - 1] as Latest).atMs > each.atMs) place -= 1;
  if (place === 0 && latest.length === MOST_LATEST) return;
  if (place === latest.length) latest.push(each);
  else latest.splice(place, 0, each);
  if (latest.length > MOST_LATEST) latest.shift();
}
