import type { Workspace } from "../../base/context/workspace.ts";
import { Problem } from "../../base/problem.ts";
import { type Database, settleAll } from "../../database/database.ts";
import type { ChangeDraft, ChangedUser, FeedChange } from "./change.ts";
import { type Positions, readCursor, writeCursor } from "./cursor.ts";
import { PARTITION_BUCKETS } from "./partitions.ts";
import {
  type BatchPlace,
  selectBatches,
  selectBodies,
  selectErased,
  selectHeads,
  selectOldest,
} from "./store.ts";

export type FeedWorkspace = Pick<Workspace, "id" | "feed">;

/** A part of the feed, and how far it goes. */
export interface FeedPage {
  readonly changes: readonly FeedChange[];
  readonly positions: Positions;
  readonly isCaughtUp: boolean;
  /** About how long it is as JSON. */
  readonly characters: number;
}

/** The limit of a page; a page over it has a single change. */
const MOST_CHARACTERS = 4 * 1_048_576;

/** How many batches of a partition are looked at for one page. */
const MOST_BATCHES = 256;

/**
 * The changes after a place in the feed. Within a partition they are in the order in which they were committed, and
 * partitions are merged by time.
 *
 * @param range its heads were read after its positions were known.
 * @throws MissingChanges if some of them have been deleted.
 */
export async function readFeed(
  database: Database,
  workspace: FeedWorkspace,
  {
    after,
    heads,
    limit,
  }: { readonly after: Positions; readonly heads: Positions; readonly limit: number },
): Promise<FeedPage> {
  const lagging = PARTITION_BUCKETS.filter((bucket) => {
    const [head, position] = [heads.get(bucket) ?? 0, after.get(bucket) ?? 0];
    // A backup that was restored may know less than the reader.
    if (position > head) throw missing();
    return position < head;
  });
  const queues = await settleAll(
    lagging.map((bucket) =>
      selectBatches(database, workspace.id, {
        bucket,
        after: after.get(bucket) ?? 0,
        limit: Math.min(limit, MOST_BATCHES),
      }),
    ),
  );
  for (const [index, bucket] of lagging.entries()) {
    const [first] = queues[index] as readonly BatchPlace[];
    const position = after.get(bucket) ?? 0;
    if (!first || first.epoch !== workspace.feed || first.position - first.count > position) {
      throw missing();
    }
  }
  const picked = pick(queues, after, limit);
  const changes = await changesIn(database, workspace, picked);
  const positions = new Map(after);
  for (const { batch, until } of picked) positions.set(batch.bucket, until);
  const isCaughtUp = lagging.every((each) => (positions.get(each) ?? 0) >= (heads.get(each) ?? 0));
  const characters = picked.reduce((sum, { batch }) => sum + batch.length, 0);
  return { changes, positions, isCaughtUp, characters };
}

/** The latest positions. */
export async function readHeads(database: Database, { id }: FeedWorkspace): Promise<Positions> {
  const heads = await selectHeads(database, [id]);
  return new Map(heads.map(({ bucket, position }) => [bucket, position]));
}

/** Some changes of a batch: those after `from` up to `until`. */
interface Picked {
  readonly batch: BatchPlace;
  readonly from: number;
  readonly until: number;
}

/** Takes the oldest batch of all partitions, again and again, each partition in its own order. */
function pick(
  queues: readonly (readonly BatchPlace[])[],
  after: Positions,
  limit: number,
): Picked[] {
  const next = queues.map(() => 0);
  const picked: Picked[] = [];
  let count = 0;
  let characters = 0;
  while (count < limit) {
    let oldest: BatchPlace | undefined;
    let place = 0;
    for (const [index, queue] of queues.entries()) {
      const batch = queue[next[index] as number];
      if (!batch || (oldest && oldest.writtenAt <= batch.writtenAt)) continue;
      oldest = batch;
      place = index;
    }
    // A partition that has been read to the end of its part may have more that is older than what others have.
    if (!oldest || (characters > 0 && characters + oldest.length > MOST_CHARACTERS)) break;
    const from = Math.max(oldest.position - oldest.count, after.get(oldest.bucket) ?? 0);
    const until = Math.min(oldest.position, from + limit - count);
    picked.push({ batch: oldest, from, until });
    count += until - from;
    characters += oldest.length;
    (next[place] as number)++;
  }
  return picked;
}

async function changesIn(
  database: Database,
  workspace: FeedWorkspace,
  picked: readonly Picked[],
): Promise<FeedChange[]> {
  const bodies = await selectBodies(
    database,
    workspace.id,
    picked.map(({ batch }) => batch),
  );
  const texts = new Map(
    bodies.map(({ bucket, position, body }) => [`${bucket} ${position}`, body]),
  );
  const changes = picked.flatMap(({ batch, from, until }) => {
    const text = texts.get(`${batch.bucket} ${batch.position}`);
    // Deleted since its place was read.
    if (text === undefined) throw missing();
    return changesOf(batch, text, from, until);
  });
  return withoutErased(database, workspace.id, changes);
}

export function changesOf(
  batch: BatchPlace,
  body: string,
  from: number,
  until: number,
): FeedChange[] {
  const first = batch.position - batch.count;
  const at = batch.writtenAt.toISOString();
  const drafts = JSON.parse(body) as (ChangeDraft | null)[];
  return drafts.flatMap((draft, index) => {
    const position = first + index + 1;
    if (draft === null || position <= from || position > until) return [];
    const { type, ...data } = draft;
    // The place in the transaction's partition, which no other batch has.
    const id = `${batch.batchId}-${batch.bucket.toString(RADIX)}-${position.toString(RADIX)}`;
    return [{ id, type, at, ...data } as FeedChange];
  });
}

const RADIX = 36;

/** The positions behind some changes that follow `after`. */
export function positionsAfter(after: Positions, changes: readonly FeedChange[]): Positions {
  const positions = new Map(after);
  for (const { id } of changes) {
    const [bucket = "", position = ""] = id.split("-").slice(-2);
    positions.set(Number.parseInt(bucket, RADIX), Number.parseInt(position, RADIX));
  }
  return positions;
}

/**
 * Leaves out what users did who were deleted since. A deletion and the fact of a merge stay in the
 * feed: otherwise a reader who knows the merged user would keep it.
 */
export async function withoutErased(
  database: Database,
  workspaceId: number,
  changes: readonly FeedChange[],
): Promise<FeedChange[]> {
  const ids = new Set(changes.flatMap(namedIn));
  const erased = new Set(await selectErased(database, workspaceId, [...ids]));
  if (erased.size === 0) return [...changes];
  return changes.flatMap((change) => withoutPeople(change, erased) ?? []);
}

/**
 * The part of a change that remains after the people it names are deleted: see `withoutNames`. The
 * state of an address outlives its users (docs/decisions/deleting-users.md), and its change does
 * too, but then names none of them.
 */
export function withoutPeople<Any extends Pick<ChangeDraft, string>>(
  change: Any,
  gone: ReadonlySet<string>,
): Any | undefined {
  if (!namedIn(change).some((id) => gone.has(id))) return change;
  if (change.type === "email_state.changed") return { ...change, user: undefined };
  return withoutNames(change);
}

/** A change without what names or describes a person: that a user was deleted, or the platform_ids of a merge. */
export function withoutNames<Any extends Pick<ChangeDraft, string>>(change: Any): Any | undefined {
  if (change.type === "user.deleted") return change;
  if (change.type !== "user.merged" && change.type !== "user.unmerged") return undefined;
  const { user, merged } = change as unknown as { user: ChangedUser; merged: ChangedUser };
  const only = ({ platform_id }: ChangedUser) => ({ platform_id });
  return { ...change, user: only(user), merged: only(merged) };
}

export function namedIn(change: Pick<ChangeDraft, string>): string[] {
  const { user, merged } = change as { user?: ChangedUser; merged?: ChangedUser };
  const other = merged?.platform_id;
  return [...(user ? [user.platform_id] : []), ...(other === undefined ? [] : [other])];
}

/** Rejects a reader; `inFeed` adds the positions at which it may continue. */
export class MissingChanges extends Error {}

const missing = (): MissingChanges => new MissingChanges("Changes are missing.");

/**
 * Runs a read of the feed.
 *
 * @throws Problem GONE with the oldest cursor if changes are missing; NOT_FOUND if the feed is off.
 */
export async function inFeed<Result>(
  database: Database,
  workspace: FeedWorkspace,
  read: () => Promise<Result>,
): Promise<Result> {
  if (workspace.feed === null) {
    const message = "The change feed of this workspace is off: set 'change_feed' in its settings.";
    throw new Problem("NOT_FOUND", message);
  }
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof MissingChanges)) throw error;
    const oldest = writeCursor(workspace, await oldestPositions(database, workspace));
    const message = "Changes after 'cursor' are not kept any more. 'oldest' leads to the oldest.";
    throw new Problem("GONE", message, { body: { oldest } });
  }
}

/** Before the oldest change that is kept. */
export async function oldestPositions(
  database: Database,
  workspace: FeedWorkspace,
): Promise<Positions> {
  const heads = await readHeads(database, workspace);
  const oldest = await settleAll(
    PARTITION_BUCKETS.map(async (bucket) => {
      const first = await selectOldest(database, workspace.id, bucket, workspace.feed ?? 0);
      return first ? first.position - first.count : (heads.get(bucket) ?? 0);
    }),
  );
  return new Map(PARTITION_BUCKETS.map((bucket, index) => [bucket, oldest[index] as number]));
}

/** The place that a reader asks for. @param heads if they are known. @throws as `inFeed`. */
export async function startOf(
  database: Database,
  workspace: FeedWorkspace,
  cursor: string | undefined,
  heads?: Positions,
): Promise<Positions> {
  if (cursor === undefined) return heads ?? readHeads(database, workspace);
  if (cursor === "beginning") return oldestPositions(database, workspace);
  const positions = readCursor(workspace, cursor);
  if (!positions) throw missing();
  return positions;
}
