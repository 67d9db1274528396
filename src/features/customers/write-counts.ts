import { type Clock, earlier, later } from "../../core/base/clock.ts";
import {
  type Database,
  isUnavailable,
  type Transaction,
  withRetries,
} from "../../core/database/database.ts";
import type { BatchWritten } from "../../core/track/write-batch.ts";
import { activityOf, LONGEST_SPAN, sketchesByDay } from "./active-users.ts";
import { type Days, dayAt, daysIn } from "./days.ts";
import { beginOfSlot, createPending, type Slots, slotAt } from "./pending.ts";
import { countStateSteps, type StateSteps, selectChanged } from "./people-store.ts";
import { addMark, emptySketch, packSketch } from "./sketch.ts";
import {
  addCounts,
  lockRecount,
  type Recount,
  selectSketches,
  setChangesUntil,
  upsertActivity,
  upsertSketches,
} from "./store.ts";
import { AT_PRESENT, createTally, type Tally } from "./tally.ts";

/*
 * What customers do is counted twice: at once, in memory, and once a day from what is stored, which corrects what merges,
 * erasures and crashes have made wrong. Every workspace has a cut, a slot that is still to come when it is chosen. What is
 * received before it belongs to the next recount, which replaces the counts of that part; what is received later is kept apart
 * and stays. So nothing is counted twice or missed. docs/decisions/customers-are-counted-twice.md
 */

const FIRST_PART = "0";

/** Changes of subscriptions are read this late: by then those that were made earlier are committed. */
const COMMITTED_AFTER_MS = 5_000;

/** In a workspace with a change since then, changes may not be read yet. */
const CHANGED_WITHIN_MS = 60_000;

export type CustomerCounts = ReturnType<typeof createCustomerCounts>;

export function createCustomerCounts(database: Database, clock: Clock) {
  const pending = createPending();
  let zones: ReadonlyMap<number, string> = new Map();
  const daysByZone = new Map<string, Days>();
  let writing: Promise<void> = Promise.resolve();
  /** The workspace whose counts are being written, until it is reset. */
  let current: number | undefined;
  /** When it last asked which subscriptions have changed. */
  let askedAt: Date | undefined;

  /** The days of a workspace, in its zone as this process last saw it. */
  function daysOf(workspaceId: number): Days {
    const zone = zones.get(workspaceId) ?? "UTC";
    const now = clock.now();
    const known = daysByZone.get(zone);
    if (known && dayAt(known, now.getTime()) === known.today) return known;
    const days = daysIn(zone, now);
    daysByZone.set(zone, days);
    return days;
  }

  async function writeOne(workspaceId: number): Promise<void> {
    const slots = pending.take(workspaceId);
    current = workspaceId;
    const days = daysOf(workspaceId);
    let written: Written | undefined;
    try {
      written = await writeCounts(database, clock, workspaceId, days, slots);
    } finally {
      if (!written && current === workspaceId) pending.restore(workspaceId, slots);
    }
    if (written && written.touched.size > 0) {
      await writeActivity(database, workspaceId, written.revision, spanOf(written.touched, days));
    }
  }

  async function writeWaiting(): Promise<void> {
    const now = clock.now();
    const all = [...zones.keys()];
    const changed = askedAt
      ? await selectChanged(database, all, earlier(askedAt, { ms: CHANGED_WITHIN_MS }))
      : all;
    const failures: unknown[] = [];
    for (const workspaceId of new Set([...pending.workspaceIds(), ...changed])) {
      try {
        await writeOne(workspaceId);
      } catch (error) {
        if (isUnavailable(error)) throw error;
        // What cannot be counted in one workspace keeps no other's counts waiting.
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    askedAt = now;
  }

  return {
    /** Counts the writes of a committed transaction. */
    note: (workspaceId: number, written: BatchWritten) =>
      pending.note(workspaceId, daysOf(workspaceId), written, clock.now()),
    daysOf,
    setZones(known: ReadonlyMap<number, string>) {
      zones = known;
    },
    /** Writes what was done in all workspaces since the last time. */
    writeAll() {
      // Writes run one after the other: when a caller's turn ends, all earlier counts are written.
      writing = writing.catch(() => {}).then(writeWaiting);
      return writing;
    },
    /** Drops the counts of a workspace that was reset; one that is being written finds no cut any more. */
    forget(workspaceId: number) {
      pending.forget(workspaceId);
      if (current === workspaceId) current = undefined;
    },
  };
}

interface Written {
  readonly revision: number;
  /** The days with other active users than before. */
  readonly touched: ReadonlySet<number>;
}

/**
 * Adds counts of a workspace to the stored ones, with the changes of subscriptions since the last time.
 *
 * @returns undefined if the workspace has no cut yet: then nothing is written.
 */
const writeCounts = (
  database: Database,
  clock: Clock,
  workspaceId: number,
  days: Days,
  slots: Slots,
): Promise<Written | undefined> =>
  withRetries(database, async (tx) => {
    const recount = await lockRecount(tx, workspaceId);
    if (!recount) return undefined;
    const touched = new Set<number>();
    for (const [part, some] of partsOf(slots, recount)) {
      const marks = new Map<number, number[]>();
      for (const slot of some) {
        await addCounts(tx, workspaceId, part, slot.counts.counts());
        for (const [day, ofDay] of slot.marks) {
          touched.add(day);
          marks.set(day, [...(marks.get(day) ?? []), ...ofDay]);
        }
      }
      await addMarks(tx, workspaceId, part, marks);
    }
    await addStateChanges(tx, recount, days, clock.now());
    return { revision: recount.revision, touched };
  });

/** The days whose active users, in their spans, some days change: up to tomorrow, which begins with the users of the 29 before it. */
function spanOf(touched: ReadonlySet<number>, { today }: Days) {
  const days = [...touched];
  const first = days.reduce((a, b) => Math.min(a, b));
  const last = days.reduce((a, b) => Math.max(a, b));
  return { first, last: Math.min(last + LONGEST_SPAN - 1, today + 1) };
}

export async function writeActivity(
  database: Database,
  workspaceId: number,
  revision: number,
  span: { readonly first: number; readonly last: number },
): Promise<void> {
  const needed = { first: span.first - LONGEST_SPAN + 1, last: span.last };
  const sketches = sketchesByDay(await selectSketches(database, workspaceId, needed));
  await upsertActivity(database, workspaceId, revision, await activityOf(sketches, span));
}

/** Slots by the part to which they belong, without those that the last recount has counted. */
function partsOf(slots: Slots, recount: Recount) {
  const parts = new Map<string, NonNullable<ReturnType<Slots["get"]>>[]>();
  for (const [name, slot] of slots) {
    if (name < recount.counted) continue;
    const part = partAt(name, recount);
    parts.set(part, [...(parts.get(part) ?? []), slot]);
  }
  return parts;
}

const partAt = (slot: string, { cut, counted }: Recount): string =>
  slot >= cut ? cut : counted || FIRST_PART;

async function addMarks(
  tx: Transaction,
  workspaceId: number,
  part: string,
  marks: ReadonlyMap<number, readonly number[]>,
): Promise<void> {
  for (const [day, added] of marks) {
    const stored = await selectSketches(tx, workspaceId, { first: day, last: day, part });
    const sketch = sketchesByDay(stored).get(day) ?? emptySketch();
    for (const mark of added) addMark(sketch, mark);
    await upsertSketches(tx, workspaceId, part, [{ day, packed: packSketch(sketch) }]);
  }
}

async function addStateChanges(
  tx: Transaction,
  recount: Recount,
  days: Days,
  now: Date,
): Promise<void> {
  const { workspaceId, cut, counted, changesUntil } = recount;
  const until = earlier(now, { ms: COMMITTED_AFTER_MS });
  const cutAt = beginOfSlot(cut);
  const since =
    counted && beginOfSlot(counted) > changesUntil ? beginOfSlot(counted) : changesUntil;
  const spans = [
    {
      part: counted || FIRST_PART,
      after: since,
      until: until < cutAt ? until : later(cutAt, { ms: -1 }),
    },
    { part: cut, after: since < cutAt ? later(cutAt, { ms: -1 }) : since, until },
  ].filter((span) => span.after < span.until);
  for (const { part, ...span } of spans) {
    const tally = createTally();
    for (const table of ["group_state_changes", "email_state_changes"] as const) {
      const steps = await countStateSteps(tx, workspaceId, table, { ...span, ...days }, true);
      countSteps(tally, days, steps);
      countStanding(tally, steps);
    }
    if (tally.size() > 0) await addCounts(tx, workspaceId, part, tally.counts());
  }
  if (until > changesUntil) await setChangesUntil(tx, workspaceId, until);
}

const OPTED_IN = new Set(["subscribed", "opted_in"]);

export function countSteps(tally: Tally, days: Days, steps: readonly StateSteps[]): void {
  for (const { name, place, state, seen } of steps) {
    const kind = OPTED_IN.has(state) ? "opt_in" : state === "unsubscribed" ? "opt_out" : undefined;
    if (kind && place > 0) tally.add(kind, days.first + place - 1, name, seen);
  }
}

function countStanding(tally: Tally, steps: readonly StateSteps[]): void {
  for (const { name, before, state, seen } of steps) {
    tally.add("state", AT_PRESENT, `${name} ${state}`, seen);
    if (before !== null) tally.add("state", AT_PRESENT, `${name} ${before}`, -seen);
  }
}

/** A cut that is still to come for every process, whatever it is writing. */
export const nextCut = (now: Date): string =>
  slotAt(later(beginOfSlot(slotAt(later(now, { ms: COMMITTED_AFTER_MS }))), { ms: 2 ** 16 }));
