import { nextTurn } from "../../core/base/turns.ts";
import { addPacked, addSketch, emptySketch, estimate, type Sketch } from "./sketch.ts";
import type { Activity } from "./store.ts";

/** The longest span that active users are counted over, in days. */
export const LONGEST_SPAN = 30;

const WEEK = 7;

export function sketchesByDay(
  rows: readonly { readonly day: number; readonly packed: Buffer }[],
): Map<number, Sketch> {
  const days = new Map<number, Sketch>();
  for (const { day, packed } of rows) {
    const sketch = days.get(day) ?? emptySketch();
    addPacked(sketch, packed);
    days.set(day, sketch);
  }
  return days;
}

/** How many users were active on each day, and in the 7 and 30 days that end with it. */
export async function activityOf(
  sketches: ReadonlyMap<number, Sketch>,
  { first, last }: { readonly first: number; readonly last: number },
): Promise<Activity[]> {
  const activity: Activity[] = [];
  for (let day = first; day <= last; day++) {
    if (!isSpanUsed(sketches, day)) {
      activity.push({ day, in1: 0, in7: 0, in30: 0 });
      continue;
    }
    const union = emptySketch();
    let [in1, in7] = [0, 0];
    for (let back = 0; back < LONGEST_SPAN; back++) {
      const sketch = sketches.get(day - back);
      if (sketch) addSketch(union, sketch);
      if (back === 0) in1 = sketch ? estimate(union) : 0;
      if (back === WEEK - 1) in7 = estimate(union);
    }
    activity.push({ day, in1, in7, in30: estimate(union) });
    await nextTurn();
  }
  return activity;
}

/** Most workspaces have few days with users: an empty sketch takes as long as a full one. */
function isSpanUsed(sketches: ReadonlyMap<number, Sketch>, day: number): boolean {
  for (let back = 0; back < LONGEST_SPAN; back++) if (sketches.has(day - back)) return true;
  return false;
}
