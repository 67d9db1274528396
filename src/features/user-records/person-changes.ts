import { nextTurn } from "../../core/base/turns.ts";
import type { Queryable } from "../../core/database/database.ts";
import { bucketOfChanges, tagOf } from "../../core/people/changes/partitions.ts";
import { changesOf, type FeedWorkspace, namedIn } from "../../core/people/changes/read-changes.ts";
import {
  type PersonBatch,
  selectOldestAfter,
  selectPersonBatches,
  selectPosition,
} from "./person-changes-store.ts";

/*
 * The latest changes of one person's attributes, out of the feed. There is no index by person,
 * because every write would pay for it (docs/decisions/change-feed.md): the latest part of the
 * person's partition is scanned.
 */

/** How many of the latest changes of the partition are looked at: each row holds one or more. */
const LATEST_CHANGES = 50_000;

/** A batch takes a quarter of a megabyte, or a megabyte if it is one large change. */
const BATCHES_AT_A_TIME = 16;

/** The batches that name the person, in one call. */
const MOST_BYTES = 8 * 1_048_576;

export interface AttributeChange {
  readonly id: string;
  readonly at: Date;
  readonly type: "user.created" | "user.updated";
  readonly changed: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

/** The requested ones among them. */
interface ChangeRange {
  /** Only changes whose time and id come before these. */
  readonly before: { readonly at: Date; readonly id: string } | undefined;
  /** Included. */
  readonly since: Date | undefined;
  readonly limit: number;
}

export interface AttributeChanges {
  /** The newest first; of equal times the highest id first. */
  readonly changes: readonly AttributeChange[];
  /** The time from which they are complete. */
  readonly since: Date | null;
}

/** @returns nothing if the feed is off. */
export async function readAttributeChanges(
  tx: Queryable,
  workspace: FeedWorkspace,
  profileId: string,
  { before, since, limit }: ChangeRange,
): Promise<AttributeChanges> {
  if (workspace.feed === null) return { changes: [], since: null };
  const place = { bucket: bucketOfChanges(profileId), epoch: workspace.feed };
  const head = await selectPosition(tx, workspace.id, place.bucket);
  const after = head - LATEST_CHANGES;
  const complete = await selectOldestAfter(tx, workspace.id, { ...place, after });
  const found: AttributeChange[] = [];
  let last: PersonBatch | undefined;
  let bytes = 0;
  for (;;) {
    const batches = await selectPersonBatches(tx, workspace.id, {
      ...place,
      after,
      tag: tagOf(profileId),
      since,
      until: last ?? (before && { writtenAt: before.at, position: Number.MAX_SAFE_INTEGER }),
      limit: BATCHES_AT_A_TIME,
    });
    for (const batch of batches) {
      found.push(...attributeChangesOf(batch, profileId).filter(isBefore(before)));
      bytes += batch.length;
      await nextTurn();
    }
    last = batches.at(-1);
    const isEnd = !last || batches.length < BATCHES_AT_A_TIME;
    found.sort(newestFirst);
    if (isEnd) return { changes: found.slice(0, limit), since: complete };
    const isEnough = last && (found[limit - 1]?.at ?? BEGINNING) > last.writtenAt;
    if (isEnough) return { changes: found.slice(0, limit), since: complete };
    if (bytes > MOST_BYTES)
      return { changes: found.slice(0, limit), since: last?.writtenAt ?? null };
  }
}

const BEGINNING = new Date(0);

const newestFirst = (one: AttributeChange, other: AttributeChange): number =>
  other.at.getTime() - one.at.getTime() || (one.id < other.id ? 1 : -1);

const isBefore =
  (before: ChangeRange["before"]) =>
  ({ at, id }: AttributeChange): boolean =>
    !before || at < before.at || (at.getTime() === before.at.getTime() && id < before.id);

const attributeChangesOf = (batch: PersonBatch, profileId: string): AttributeChange[] =>
  changesOf(batch, batch.body, 0, batch.position).flatMap((change) => {
    const { id, type } = change;
    if (type !== "user.created" && type !== "user.updated") return [];
    if (!namedIn(change).includes(profileId)) return [];
    const { changed, values } = change as unknown as Pick<AttributeChange, "changed" | "values">;
    return [{ id, type, at: batch.writtenAt, changed, values }];
  });
