import { entryOf } from "../../core/base/values/group-by.ts";
import type { BatchWritten } from "../../core/track/write-batch.ts";
import { type Days, dayAt } from "./days.ts";
import { markOf } from "./sketch.ts";
import { AT_PRESENT, createTally, type Tally } from "./tally.ts";

/*
 * What a process has seen since it last wrote its counts. Nothing here asks the database: an item costs a few entries in maps
 * (docs/decisions/customers-are-counted-twice.md).
 */

/** What was received within 65.536 seconds: the first 8 digits of a UUIDv7 of then are its name. */
export interface Slot {
  readonly counts: Tally;
  /** The users of each day, as marks of a sketch. */
  readonly marks: Map<number, Set<number>>;
}

export type Slots = ReadonlyMap<string, Slot>;

const SLOT_DIGITS = 8;
const SLOT_BITS = 16;

export const slotOf = (id: string): string => id.slice(0, SLOT_DIGITS);

export const slotAt = (time: Date): string =>
  Math.floor(time.getTime() / 2 ** SLOT_BITS)
    .toString(16)
    .padStart(SLOT_DIGITS, "0");

export const beginOfSlot = (slot: string): Date =>
  new Date(Number.parseInt(slot, 16) * 2 ** SLOT_BITS);

/** How many counts and marks wait at most; the next recount counts what is beyond them. */
const MOST_WAITING = 1_000_000;

export interface Pending {
  note(workspaceId: number, days: Days, written: BatchWritten, now: Date): void;
  workspaceIds(): number[];
  /** What was noted of a workspace since the last time. */
  take(workspaceId: number): Slots;
  /** Adds back what was taken and could not be written. */
  restore(workspaceId: number, slots: Slots): void;
  forget(workspaceId: number): void;
}

export function createPending(): Pending {
  const workspaces = new Map<number, Map<string, Slot>>();
  let waiting = 0;

  function note(slots: Map<string, Slot>, id: string, work: (slot: Slot) => void): void {
    if (waiting >= MOST_WAITING) return;
    const slot = entryOf(slots, slotOf(id), newSlot);
    const before = slot.counts.size();
    work(slot);
    waiting += slot.counts.size() - before;
  }

  function markActive({ marks }: Slot, day: number, profileId: string): void {
    const ofDay = entryOf(marks, day, () => new Set<number>());
    const before = ofDay.size;
    ofDay.add(markOf(profileId));
    waiting += ofDay.size - before;
  }

  function take(workspaceId: number): Slots {
    const slots = workspaces.get(workspaceId) ?? new Map<string, Slot>();
    workspaces.delete(workspaceId);
    for (const { counts, marks } of slots.values()) {
      waiting -= counts.size();
      for (const ofDay of marks.values()) waiting -= ofDay.size;
    }
    return slots;
  }

  return {
    note(workspaceId, days, { people, events, purchases }, now) {
      const slots = entryOf(workspaces, workspaceId, () => new Map<string, Slot>());
      for (const { id, profileId, work } of events) {
        const day = dayAt(days, work.time.getTime());
        if (day === undefined) continue;
        note(slots, id, (slot) => {
          slot.counts.add("event", day, work.name, 1);
          markActive(slot, day, profileId);
        });
      }
      for (const { id, profileId, work } of purchases) {
        const day = dayAt(days, work.time.getTime());
        if (day === undefined) continue;
        note(slots, id, (slot) => {
          slot.counts.add("product", day, work.productId, work.quantity);
          slot.counts.addPrice(day, work.currency, work.quantity, work.price);
          markActive(slot, day, profileId);
        });
      }
      for (const { id, updatedAtMicros } of people.created) {
        const day = dayAt(days, updatedAtMicros / 1_000);
        note(slots, id, ({ counts }) => {
          counts.add("users", AT_PRESENT, "", 1);
          if (day !== undefined) counts.add("new", day, "", 1);
        });
      }
      const { addedIdentifiers, removedIdentifiers } = people;
      for (const [identifiers, seen] of [
        [addedIdentifiers, 1],
        [removedIdentifiers, -1],
      ] as const) {
        for (const { kind } of identifiers) {
          if (kind !== "email" && kind !== "phone") continue;
          note(slots, slotAt(now), ({ counts }) => counts.add("address", AT_PRESENT, kind, seen));
        }
      }
    },
    workspaceIds: () => [...workspaces.keys()],
    take,
    restore(workspaceId, taken) {
      const slots = entryOf(workspaces, workspaceId, () => new Map<string, Slot>());
      for (const [name, { counts, marks }] of taken) {
        note(slots, name, (slot) => {
          for (const { kind, day, name: counted, seen, amount } of counts.counts()) {
            if (kind === "revenue") slot.counts.addAmount(day, counted, seen, amount);
            else slot.counts.add(kind, day, counted, seen);
          }
          for (const [day, ofDay] of marks) {
            const known = entryOf(slot.marks, day, () => new Set<number>());
            const before = known.size;
            for (const mark of ofDay) known.add(mark);
            waiting += known.size - before;
          }
        });
      }
    },
    forget(workspaceId) {
      take(workspaceId);
    },
  };
}

const newSlot = (): Slot => ({ counts: createTally(), marks: new Map() });
