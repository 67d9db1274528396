import type { TraceEraser } from "../../admin/retention/retention.ts";
import { listWorkspaces } from "../../admin/workspaces/manage-workspaces.ts";
import { earlier } from "../../base/clock.ts";
import { DEFAULT_SETTINGS } from "../../base/context/workspace-settings.ts";
import { uuidOf } from "../../base/values/uuid.ts";
import { type Database, type Transaction, withRetries } from "../../database/database.ts";
import { deleteLeft } from "../activity/removal-store.ts";
import {
  deleteFound,
  emptyRecords,
  type FoundRecord,
  selectRecording,
  selectRecordsAfter,
} from "./merge-records-store.ts";

/* Removes what undo stores: after `undo_days`, and at once if it names a person who is erased. */

/** Records per statement: few enough that others hardly wait. */
const STEP = 100;

const FIRST_ID = "00000000-0000-0000-0000-000000000000";
const LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** An id before all those of this time. */
const idAt = (time: Date): string =>
  uuidOf(`${time.getTime().toString(16).padStart(12, "0")}70008000000000000000`);

/** Removes records that are older than their workspace's period, each as a whole. */
export async function sweepMergeRecords(database: Database, now: Date): Promise<void> {
  const recording = new Set(await selectRecording(database));
  if (recording.size === 0) return;
  for (const { id, settings } of await listWorkspaces(database)) {
    if (!recording.has(id)) continue;
    const days = settings.undo_days ?? DEFAULT_SETTINGS.undo_days;
    const before = idAt(earlier(now, { days }));
    for (;;) {
      const range = { after: FIRST_ID, before, patterns: [], limit: STEP };
      const old = await selectRecordsAfter(database, id, range);
      for (const record of old) {
        await withRetries(database, async (tx) => {
          const deleted = await deleteFound(tx, id, record);
          // Otherwise an undo was faster, and the user is back with the events.
          if (deleted > 0) await deleteLeftBy(tx, id, record);
        });
      }
      if (old.length === 0) break;
    }
  }
}

/** Deletes the events of a user whose data was left behind, which now cannot return. */
async function deleteLeftBy(
  tx: Transaction,
  workspaceId: number,
  { isPartial, mergedId }: FoundRecord,
): Promise<void> {
  if (isPartial && mergedId !== null) await deleteLeft(tx, workspaceId, mergedId);
}

/** Empties the records that name an erased person, as one of both users or otherwise. */
export const eraseMergesNaming: TraceEraser = async (
  tx,
  workspaceId,
  { mentions, since },
  after = idAt(since),
) => {
  const range = { after, before: LAST_ID, patterns: mentions.patterns, limit: STEP };
  const records = await selectRecordsAfter(tx, workspaceId, range);
  const named = records.filter(({ isNamed }) => isNamed);
  const emptied = await emptyRecords(tx, workspaceId, named, "erased");
  for (const record of named) {
    if (emptied.has(record.mergeId)) await deleteLeftBy(tx, workspaceId, record);
  }
  return records.at(-1)?.mergeId;
};
