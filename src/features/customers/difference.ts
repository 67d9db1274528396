import { nextTurn } from "../../core/base/turns.ts";
import type { Database } from "../../core/database/database.ts";
import { packSketch, type Sketch } from "./sketch.ts";
import { selectRecounted, selectRecountedDays, selectSketches } from "./store.ts";
import type { Count, CountKey, CountKind } from "./tally.ts";

/** In what a recount differs from the one before: little from day to day, and all that it has to write. */
export interface Difference {
  readonly changed: readonly Count[];
  readonly gone: readonly CountKey[];
  readonly changedDays: readonly { readonly day: number; readonly packed: Buffer }[];
  readonly goneDays: readonly number[];
}

const PORTION = 2_000;

/** Days whose sketches are read at a time: up to 64 KB each. */
const DAYS = 20;

/** Before the first key. */
const FIRST = { kind: "" as CountKind, day: -1, name: "" };

/**
 * Compares what a recount has found with what the one before has stored. Nothing else writes those rows, so they are read before
 * the transaction that changes them.
 *
 * @param isReplaced whether a stored count is of what was counted anew.
 */
export async function differenceOf(
  database: Database,
  workspaceId: number,
  counts: readonly Count[],
  sketches: ReadonlyMap<number, Sketch>,
  {
    since,
    isReplaced,
  }: { readonly since: number; readonly isReplaced: (key: CountKey) => boolean },
): Promise<Difference> {
  const changed = new Map(counts.map((count) => [keyOf(count), count]));
  const gone: CountKey[] = [];
  for (let after: CountKey | undefined = FIRST; after; ) {
    const stored: Count[] = await selectRecounted(database, workspaceId, after, PORTION);
    for (const each of stored) {
      const key = keyOf(each);
      const found = changed.get(key);
      if (found) {
        if (found.seen === each.seen && found.amount === each.amount) changed.delete(key);
      } else if (isReplaced(each)) gone.push(each);
    }
    after = stored.length < PORTION ? undefined : stored.at(-1);
    await nextTurn();
  }
  const goneDays = await selectRecountedDays(database, workspaceId, since);
  return {
    changed: [...changed.values()],
    gone,
    changedDays: await changedSketches(database, workspaceId, sketches, since),
    goneDays: goneDays.filter((day) => !sketches.has(day)),
  };
}

const keyOf = ({ kind, day, name }: CountKey): string => `${kind} ${day} ${name}`;

async function changedSketches(
  database: Database,
  workspaceId: number,
  sketches: ReadonlyMap<number, Sketch>,
  since: number,
): Promise<Difference["changedDays"]> {
  const days = [...sketches.keys()].filter((day) => day >= since).sort((a, b) => a - b);
  const changed: { day: number; packed: Buffer }[] = [];
  for (let from = 0; from < days.length; from += DAYS) {
    const some = days.slice(from, from + DAYS);
    const [first, last] = [some[0] as number, some.at(-1) as number];
    const stored = await selectSketches(database, workspaceId, { first, last, part: "" });
    const known = new Map(stored.map(({ day, packed }) => [day, packed]));
    for (const day of some) {
      const packed = packSketch(sketches.get(day) as Sketch);
      if (!known.get(day)?.equals(packed)) changed.push({ day, packed });
    }
    await nextTurn();
  }
  return changed;
}
