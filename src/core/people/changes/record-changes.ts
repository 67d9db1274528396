import type { Clock } from "../../base/clock.ts";
import { addressForm } from "../../base/values/address-form.ts";
import { groupBy } from "../../base/values/group-by.ts";
import { JsonText } from "../../base/values/plain-json.ts";
import { settleAll, type Transaction } from "../../database/database.ts";
import type { ChangeDraft, ChangedUser } from "./change.ts";
import { bucketOfChanges, bucketOfValueChanges, tagOf } from "./partitions.ts";
import { addToHeads, type BatchRow, insertBatches, insertErased } from "./store.ts";

export { bucketOfChanges } from "./partitions.ts";

/** How many changes, and characters of them, one row holds; a single change may be larger. */
const MOST_TOGETHER = 128;
const MOST_CHARACTERS = 262_144;

export interface Recorded {
  readonly drafts: readonly ChangeDraft[];
  /** Users whose earlier changes are now hidden. */
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
  const partitions = groupBy(drafts, (draft) => {
    // A state belongs to its address, through whichever user it was set.
    const ofAddress = draft.type === "email_state.changed" ? draft.email : undefined;
    return draft.user && ofAddress === undefined
      ? bucketOfChanges(draft.user.platform_id)
      : bucketOfValueChanges(
          workspaceId,
          String(ofAddress === undefined ? draft.type : addressForm(String(ofAddress))),
        );
  });
  const writtenAt = clock.now();
  const batchId = clock.newId();
  const batches = [...partitions].flatMap(([bucket, each]) => batchesOf(bucket, each, batchId));
  await settleAll([
    insertErased(tx, workspaceId, erased, writtenAt),
    addToHeads(tx, workspaceId, batches),
    insertBatches(tx, workspaceId, batches, { epoch, writtenAt }),
  ]);
}

function batchesOf(bucket: number, drafts: readonly ChangeDraft[], batchId: string): BatchRow[] {
  let behind = 0;
  let behindBytes = 0;
  const batches = rowsOf(drafts)
    .reverse()
    .map(({ drafts: together, body }): BatchRow => {
      const bytes = body.length;
      const count = together.length;
      const people = peopleIn(together);
      const batch = { bucket, batchId, count, behind, bytes, behindBytes, people, body };
      behind += count;
      behindBytes += bytes;
      return batch;
    });
  return batches.reverse();
}

interface Row {
  readonly drafts: readonly ChangeDraft[];
  readonly body: string;
}

/** Changes become JSON many at a time: one by one takes half as long again. */
function rowsOf(drafts: readonly ChangeDraft[]): Row[] {
  const rows: Row[] = [];
  for (let start = 0; start < drafts.length; start += MOST_TOGETHER) {
    addRows(rows, drafts.slice(start, start + MOST_TOGETHER));
  }
  return rows;
}

function addRows(rows: Row[], drafts: readonly ChangeDraft[]): void {
  const body = jsonOfDrafts(drafts);
  if (drafts.length === 1 || body.length <= MOST_CHARACTERS) {
    rows.push({ drafts, body });
    return;
  }
  const half = Math.ceil(drafts.length / 2);
  addRows(rows, drafts.slice(0, half));
  addRows(rows, drafts.slice(half));
}

/** Nested properties come as text. */
const isWritten = ({ properties }: ChangeDraft): boolean => properties instanceof JsonText;

const jsonOfDrafts = (drafts: readonly ChangeDraft[]): string =>
  drafts.some(isWritten) ? `[${drafts.map(jsonOfDraft).join(",")}]` : JSON.stringify(drafts);

function jsonOfDraft(draft: ChangeDraft): string {
  const { properties, ...rest } = draft;
  if (!(properties instanceof JsonText)) return JSON.stringify(draft);
  return `${JSON.stringify(rest).slice(0, -1)},"properties":${properties.text}}`;
}

function peopleIn(drafts: readonly ChangeDraft[]): number[] {
  const people = new Set<number>();
  for (const { user, merged } of drafts) {
    if (user) people.add(tagOf(user.platform_id));
    if (merged) people.add(tagOf((merged as ChangedUser).platform_id));
  }
  return [...people];
}
