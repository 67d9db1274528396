import { type Clock, earlier } from "../../core/base/clock.ts";
import { type Database, withRetries } from "../../core/database/database.ts";
import type { Attributes } from "../../core/people/profiles/store.ts";
import { createNoted, dataTypeOf } from "./noted.ts";
import {
  addCounts,
  addDays,
  addLatest,
  type CatalogueCount,
  deleteCatalogue,
  deleteOldDays,
  insertMissingNames,
} from "./store.ts";

/*
 * The catalogue of a workspace: names of events, custom attributes with the types of their values,
 * and products, with how often and when they were sent. The intake counts in memory, and the counts
 * are written together every few seconds, so no item costs a query. A crash loses the counts of the
 * last seconds, but no name of an event or an attribute: names in use are registered before they
 * are written (quotas/), and a sweep enters those that are missing. docs/decisions/catalogue.md
 */

/** The countable part of what a transaction has written. */
export interface Sent {
  readonly people: {
    readonly created: readonly { readonly customAttributes: Attributes }[];
    readonly updated: readonly { readonly customPatch: Attributes | null }[];
  };
  readonly events: readonly {
    readonly profileId: string;
    readonly work: { readonly name: string; readonly time: Date };
  }[];
  readonly purchases: readonly {
    readonly work: { readonly productId: string; readonly time: Date };
  }[];
}

export type Catalogue = ReturnType<typeof createCatalogue>;

const PORTION = 2_000;

export const SHOWN_DAYS = 30;

export const firstShownDay = (now: Date): Date => earlier(now, { days: SHOWN_DAYS - 1 });

export function createCatalogue(database: Database, clock: Clock) {
  const noted = createNoted();
  let writing: Promise<void> = Promise.resolve();
  /** Workspaces that were reset: a write that ran beside it may have added counts from before. */
  const justReset = new Set<number>();

  async function writeAll(): Promise<void> {
    await deleteAgain();
    const counts = noted.take();
    while (counts.length > 0) {
      const portion = counts.splice(0, PORTION);
      try {
        await writePortion(portion);
      } catch (error) {
        const unwritten = [...portion, ...counts];
        noted.giveBack(unwritten.filter(({ workspaceId }) => !justReset.has(workspaceId)));
        throw error;
      }
    }
  }

  /** What this process has counted since the reset is not written yet. */
  async function deleteAgain(): Promise<void> {
    for (const workspaceId of justReset) {
      await withRetries(database, (tx) => deleteCatalogue(tx, workspaceId));
      justReset.delete(workspaceId);
    }
  }

  const writePortion = (counts: readonly CatalogueCount[]) =>
    withRetries(database, async (tx) => {
      await addCounts(tx, counts);
      await addDays(tx, counts, firstShownDay(clock.now()));
      await addLatest(tx, counts);
    });

  return {
    /** Counts the writes of a committed transaction. */
    note(workspaceId: number, { people, events, purchases }: Sent) {
      const nowMs = clock.now().getTime();
      for (const { customAttributes } of people.created) noteValues(customAttributes);
      for (const { customPatch } of people.updated) if (customPatch) noteValues(customPatch);
      const sent = noted.shelf(workspaceId, "event", "");
      for (const { profileId, work } of events) sent.add(work.name, work.time.getTime(), profileId);
      const bought = noted.shelf(workspaceId, "product", "");
      for (const { work } of purchases) bought.add(work.productId, work.time.getTime());

      function noteValues(values: Attributes): void {
        for (const [name, value] of Object.entries(values)) {
          if (value === null) continue;
          noted.shelf(workspaceId, "attribute", dataTypeOf(value)).add(name, nowMs);
        }
      }
    },
    /** Writes the counts since the last call. */
    write() {
      // Writes run one after the other: when a caller's turn ends, all earlier counts are written.
      writing = writing.catch(() => {}).then(writeAll);
      return writing;
    },
    /** Drops the counts of a workspace that was reset, also those that were written meanwhile. */
    forget(workspaceId: number) {
      noted.forget(workspaceId);
      justReset.add(workspaceId);
      // If it fails, the next write begins with it.
      writing = writing
        .catch(() => {})
        .then(deleteAgain)
        .catch(() => {});
    },
    forgetUsers: noted.forgetUsers,
  };
}

/** Deletes days that are no longer shown, and adds names whose counts were lost. */
export async function sweepCatalogue(database: Database, now: Date): Promise<void> {
  await deleteOldDays(database, firstShownDay(now));
  await insertMissingNames(database);
}
