import { earlier } from "../../core/base/clock.ts";
import type { Metrics } from "../../core/base/observe/metrics.ts";
import { PERIODS } from "../../core/base/observe/traffic.ts";
import type { Database } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { deleteOldSlots, upsertSlots } from "./store.ts";

/*
 * Each process records its counts every few seconds, so that the overview of every server shows the
 * traffic of all, and a restart loses nothing. A process writes its own rows, again and again until
 * a slot is over: writing twice counts nothing twice.
 */

export type TrafficSharing = ReturnType<typeof createTrafficSharing>;

type SharingServices = StoringServices & { readonly metrics: Pick<Metrics, "traffic"> };

const PORTION = 500;

export function createTrafficSharing({ database, clock, metrics: { traffic } }: SharingServices) {
  const processId = clock.newId();
  let writtenAt = 0;
  return {
    processId,
    /** Writes the counts since the last call. */
    async write() {
      const startedAt = clock.now().getTime();
      const slots = traffic.since(writtenAt);
      for (let at = 0; at < slots.length; at += PORTION) {
        await upsertSlots(database, processId, slots.slice(at, at + PORTION));
      }
      writtenAt = startedAt;
    },
  };
}

export const sweepTraffic = (database: Database, now: Date) => {
  const before = ({ slotMs, slots }: { slotMs: number; slots: number }) =>
    earlier(now, { ms: slotMs * (slots + 1) });
  return deleteOldSlots(database, { hour: before(PERIODS.hour), day: before(PERIODS.day) });
};
