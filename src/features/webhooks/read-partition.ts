import { type Database, settleAll } from "../../core/database/database.ts";
import type { ChangeType, FeedChange } from "../../core/people/changes/change.ts";
import type { Positions } from "../../core/people/changes/cursor.ts";
import { PARTITION_BUCKETS } from "../../core/people/changes/partitions.ts";
import {
  changesOf,
  type FeedWorkspace,
  MissingChanges,
  readHeads,
  withoutErased,
} from "../../core/people/changes/read-changes.ts";
import {
  type BatchPlace,
  selectBatches,
  selectBodies,
  selectPositionAt,
} from "../../core/people/changes/store.ts";

/* One partition of the feed at a time: for webhooks, which wait for each partition separately. */

export interface PartitionPart {
  readonly changes: readonly PartChange[];
  /**
   * The position that it reaches: missing changes in between were not requested, or were erased.
   */
  readonly until: number;
}

export interface PartChange {
  readonly position: number;
  readonly change: FeedChange;
  /** It as JSON. */
  readonly text: string;
}

export interface WantedPart {
  readonly bucket: number;
  readonly after: number;
  /** The last position to read. */
  readonly until?: number | undefined;
  readonly limit: number;
  readonly mostBytes: number;
  /** All types if it is empty. */
  readonly types: readonly string[];
}

/** How much of the feed is read for one part. */
const MOST_BATCHES = 64;
const MOST_BYTES_READ = 2 * 1_048_576;

/**
 * The next changes of a partition: at most `limit`, and `mostBytes` unless a single change is larger.
 *
 * @throws MissingChanges where some are not kept any more.
 */
export async function readPartition(
  database: Database,
  workspace: FeedWorkspace,
  { bucket, after, until = Number.MAX_SAFE_INTEGER, limit, mostBytes, types }: WantedPart,
): Promise<PartitionPart> {
  // The head is read first: a change that is written in between must not look like a gap.
  const head = (await readHeads(database, workspace)).get(bucket) ?? 0;
  if (after >= until || head === after) return { changes: [], until: after };
  const place = { bucket, after, limit: MOST_BATCHES };
  const found = await selectBatches(database, workspace.id, place);
  const batches = nextOf(found, workspace, after);
  const end = Math.min(until, batches.at(-1)?.position ?? after);
  const bodies = await selectBodies(database, workspace.id, batches);
  const texts = new Map(bodies.map(({ position, body }) => [position, body]));
  const wanted = batches.flatMap((batch) => {
    const body = texts.get(batch.position);
    if (body === undefined) throw new MissingChanges();
    return changesOf(batch, body, after, end).filter(isOf(types));
  });
  const shown = await withoutErased(database, workspace.id, wanted);
  const changes: PartChange[] = [];
  let bytes = 0;
  for (const change of shown) {
    const text = JSON.stringify(change);
    bytes += Buffer.byteLength(text) + 1;
    const isFull = changes.length === limit || (changes.length > 0 && bytes > mostBytes);
    if (isFull) return { changes, until: changes.at(-1)?.position ?? after };
    changes.push({ position: positionOf(change), change, text });
  }
  return { changes, until: end };
}

const isOf =
  (types: readonly string[]) =>
  ({ type }: { readonly type: ChangeType }): boolean =>
    types.length === 0 || types.includes(type);

/** The place of a change is the end of its id: see `changesOf`. */
const positionOf = ({ id }: FeedChange): number => Number.parseInt(id.split("-").at(-1) ?? "", 36);

/** The batches that follow each other without a gap. @throws MissingChanges without a next one. */
function nextOf(
  found: readonly BatchPlace[],
  { feed }: FeedWorkspace,
  after: number,
): readonly BatchPlace[] {
  const batches: BatchPlace[] = [];
  let [last, bytes] = [after, 0];
  for (const batch of found) {
    const isNext = batch.epoch === feed && batch.position - batch.count <= last;
    if (!isNext || (batches.length > 0 && bytes + batch.length > MOST_BYTES_READ)) break;
    batches.push(batch);
    last = batch.position;
    bytes += batch.length;
  }
  if (batches.length === 0) throw new MissingChanges();
  return batches;
}

/** Before the first change that was written at a time or later. */
export async function positionsAt(
  database: Database,
  workspace: FeedWorkspace,
  time: Date,
): Promise<Positions> {
  const heads = await readHeads(database, workspace);
  const found = await settleAll(
    PARTITION_BUCKETS.map((bucket) =>
      selectPositionAt(database, workspace.id, { bucket, time, epoch: workspace.feed ?? 0 }),
    ),
  );
  return new Map(
    PARTITION_BUCKETS.map((bucket, index) => [bucket, found[index] ?? heads.get(bucket) ?? 0]),
  );
}
