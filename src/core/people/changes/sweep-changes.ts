import type { TraceEraser } from "../../admin/retention/retention.ts";
import { listWorkspaces } from "../../admin/workspaces/manage-workspaces.ts";
import { earlier } from "../../base/clock.ts";
import type { Metrics } from "../../base/observe/metrics.ts";
import { type Database, withRetries } from "../../database/database.ts";
import type { ChangeDraft } from "./change.ts";
import { PARTITION_BUCKETS, tagOf } from "./partitions.ts";
import { withoutNames, withoutPeople } from "./read-changes.ts";
import {
  deleteBatches,
  deleteErased,
  selectAllErased,
  selectBatchesAbout,
  selectBodiesAfter,
  selectOldBatches,
  selectRecorded,
  updateBody,
} from "./store.ts";

/** Rows per statement: few enough that others hardly wait. */
const STEP = 500;

/** Removes what deleted users did, then changes that are too old or take too much space: the oldest first. */
export async function sweepChanges(
  database: Database,
  now: Date,
  metrics: Pick<Metrics, "expiredChanges">,
): Promise<void> {
  const recorded = new Set(await selectRecorded(database));
  for (const { id, settings } of await listWorkspaces(database)) {
    // A workspace that never turned the feed on costs no statement.
    if (!recorded.has(id)) continue;
    await scrubErased(database, id);
    const before = earlier(now, { days: settings.change_retention_days ?? 7 });
    const mostBytes = ((settings.change_max_mb ?? 1_024) * 1_048_576) / PARTITION_BUCKETS.length;
    for (const bucket of PARTITION_BUCKETS) {
      for (;;) {
        const old = await selectOldBatches(database, id, {
          bucket,
          before,
          mostBytes,
          limit: STEP,
        });
        if (old === null) break;
        await database.transaction((tx) => deleteBatches(tx, id, bucket, old.until));
        metrics.expiredChanges(old.isOversize ? "size" : "age", old.changes);
        if (old.count < STEP) break;
      }
    }
  }
}

/** Removes the changes of users who were deleted; readers have not seen them since. */
async function scrubErased(database: Database, workspaceId: number): Promise<void> {
  for (;;) {
    const erased = await selectAllErased(database, workspaceId, STEP);
    if (erased.length === 0) return;
    const gone = new Set(erased);
    for (const bucket of PARTITION_BUCKETS)
      await scrubPartition(database, workspaceId, bucket, gone);
    await database.transaction((tx) => deleteErased(tx, workspaceId, erased));
    if (erased.length < STEP) return;
  }
}

async function scrubPartition(
  database: Database,
  workspaceId: number,
  bucket: number,
  gone: ReadonlySet<string>,
): Promise<void> {
  // Who was merged into a user is named in that user's partition too.
  const tags = [...gone].map(tagOf);
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const batches = await selectBatchesAbout(database, workspaceId, {
      bucket,
      tags,
      before,
      limit: 100,
    });
    for (const { position, body } of batches) {
      const drafts = JSON.parse(body) as (ChangeDraft | null)[];
      const kept = drafts.map((draft) => draft && (withoutPeople(draft, gone) ?? null));
      await withRetries(database, (tx) =>
        updateBody(tx, workspaceId, { bucket, position, body: JSON.stringify(kept) }),
      );
    }
    const last = batches.at(-1);
    if (!last || batches.length < 100) return;
    before = last.position;
  }
}

/** Erases changes that mention a person by any name, such as changes of an address that no user has. */
export const eraseChangesNaming: TraceEraser = async (
  tx,
  workspaceId,
  { mentions, since },
  after = "0 0",
) => {
  const [partition = 0, position = 0] = after.split(" ").map(Number);
  const bucket = PARTITION_BUCKETS[partition];
  if (bucket === undefined) return undefined;
  const from = { bucket, after: position, since, limit: STEP };
  const batches = await selectBodiesAfter(tx, workspaceId, from);
  for (const batch of batches) {
    if (!mentions.in(batch.body)) continue;
    const drafts = JSON.parse(batch.body) as (ChangeDraft | null)[];
    const kept = drafts.map((draft) =>
      draft && mentions.in(JSON.stringify(draft)) ? (withoutNames(draft) ?? null) : draft,
    );
    await updateBody(tx, workspaceId, { ...batch, bucket, body: JSON.stringify(kept) });
  }
  const last = batches.at(-1);
  return last && batches.length === STEP ? `${partition} ${last.position}` : `${partition + 1} 0`;
};
