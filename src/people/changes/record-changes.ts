import type { Clock } from "../../base/clock.ts";
import { settleAll, type Transaction } from "../../database/database.ts";
import type { ChangeDraft } from "./change.ts";
import { bucketOfChanges, bucketOfValueChanges, tagOf } from "./partitions.ts";
import { addToHeads, type BatchRow, insertBatches, insertErased } from "./store.ts";

export { bucketOfChanges } from "./partitions.ts";

/** How many changes, and characters of them, one row holds; a single change may be larger. */
const MOST_TOGETHER = 128;
const MOST_CHARACTERS = 262_144;

interface Rows {
  readonly bucket: number;
  readonly rows: Row[];
}

interface Row {
  readonly texts: string[];
  readonly people: Set<number>;
  characters: number;
}

export interface Recorded {
  readonly drafts: readonly ChangeDraft[];
  /** Users whose earlier changes are not shown any more. */
  readonly erased?: readonly string[];
}

/**
 * Records changes in the feed, within the transaction that makes them. Issues all its statements at once.
 *
 * @param epoch `Workspace.feed`.
 */
export async function recordChanges(
  tx: Transaction,
  workspaceId: number,
  epoch: number,
  { drafts, erased = [] }: Recorded,
  clock: Clock,
): Promise<void> {
  if (drafts.length === 0) return;
  const partitions = new Map<number, Rows>();
  for (const draft of drafts) {
    // A state belongs to its address, whichever user it was set through.
    const ofAddress = draft.type === "email_state.changed" ? draft.email : undefined;
    const bucket =
      draft.user && ofAddress === undefined
        ? bucketOfChanges(draft.user.platform_id)
        : bucketOfValueChanges(workspaceId, String(ofAddress ?? draft.type));
    add(partitions, bucket, draft);
  }
  const writtenAt = clock.now();
  const batchId = clock.newId();
  const batches = [...partitions.values()].flatMap((each) => batchesOf(each, batchId));
  await settleAll([
    insertErased(tx, workspaceId, erased, writtenAt),
    addToHeads(tx, workspaceId, batches),
    insertBatches(tx, workspaceId, batches, { epoch, writtenAt }),
  ]);
}

function add(partitions: Map<number, Rows>, bucket: number, draft: ChangeDraft): void {
  const text = JSON.stringify(draft);
  let partition = partitions.get(bucket);
  if (!partition) {
    partition = { bucket, rows: [] };
    partitions.set(bucket, partition);
  }
  let row = partition.rows.at(-1);
  if (
    !row ||
    row.texts.length === MOST_TOGETHER ||
    row.characters + text.length > MOST_CHARACTERS
  ) {
    row = { texts: [], people: new Set(), characters: 0 };
    partition.rows.push(row);
  }
  row.texts.push(text);
  row.characters += text.length;
  if (draft.user) row.people.add(tagOf(draft.user.platform_id));
  const { merged } = draft as { merged?: { platform_id: string } };
  if (merged) row.people.add(tagOf(merged.platform_id));
}

/** The rows of a partition, with how much comes after each. */
function batchesOf({ bucket, rows }: Rows, batchId: string): BatchRow[] {
  let behind = 0;
  let behindBytes = 0;
  const batches = rows.reverse().map(({ texts, people, characters }): BatchRow => {
    const batch = {
      bucket,
      batchId,
      count: texts.length,
      behind,
      bytes: characters,
      behindBytes,
      people: [...people],
      body: `[${texts.join()}]`,
    };
    behind += texts.length;
    behindBytes += characters;
    return batch;
  });
  return batches.reverse();
}
