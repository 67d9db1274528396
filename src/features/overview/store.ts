import type { Period, Slot, SlotCounts } from "../../core/base/observe/traffic.ts";
import type { Queryable } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";

/** Writes the counts of a process, replacing its earlier ones for the same slots; not those of a workspace that was deleted. */
export const upsertSlots = (database: Queryable, processId: string, slots: readonly Slot[]) =>
  database.execute(
    `insert into traffic_counts (workspace_id, period, slot_at, process_id, counts)
     select workspace_id, period, slot_at::timestamptz, $1::text::uuid, counts::jsonb
     from unnest($2::int[], $3::text[], $4::text[], $5::text[]) as r (workspace_id, period, slot_at, counts)
     where exists (select 1 from workspaces w where w.workspace_id = r.workspace_id)
     on conflict (workspace_id, period, slot_at, process_id) do update set counts = excluded.counts`,
    [
      processId,
      ...listsOf(slots, "workspaceId", "period"),
      slots.map(({ slotAt }) => slotAt.toISOString()),
      slots.map(({ counts }) => JSON.stringify(counts)),
    ],
  );

/** The counts of all other processes from a time on. */
export const selectSlots = (
  database: Queryable,
  workspaceId: number,
  period: Period,
  from: Date,
  without: readonly string[],
): Promise<{ readonly slotAt: Date; readonly counts: SlotCounts }[]> =>
  database.query(
    `select slot_at as "slotAt", counts from traffic_counts
     where workspace_id = $1 and period = $2 and slot_at >= $3
       and process_id::text <> all($4::text[])`,
    [workspaceId, period, from, without],
  );

export const deleteOldSlots = (database: Queryable, before: Readonly<Record<Period, Date>>) =>
  database.execute(
    `delete from traffic_counts
     where slot_at < $2 or (period = 'hour' and slot_at < $1)`,
    [before.hour, before.day],
  );
