import type { Workspace } from "../../base/context/workspace.ts";
import { Problem } from "../../base/problem.ts";
import { PARTITION_BUCKETS } from "./partitions.ts";

/** How far a reader has come: the position of the last change that was read in each partition, by its bucket. */
export type Positions = ReadonlyMap<number, number>;

const RADIX = 36;

/** `c`, the workspace, the epoch of its feed, then a position for each partition. */
const FORM = /^c[0-9a-z]{1,7}\.[0-9a-z]{1,7}(\.[0-9a-z]{1,10}){16}$/;

/**
 * The cursor of a position in each partition; it is bound to the workspace and to its present feed.
 */
export const writeCursor = ({ id, feed }: Pick<Workspace, "id" | "feed">, positions: Positions) => {
  const numbers = [id, feed ?? 0, ...PARTITION_BUCKETS.map((each) => positions.get(each) ?? 0)];
  return `c${numbers.map((number) => number.toString(RADIX)).join(".")}`;
};

/**
 * @returns undefined if the feed was off since.
 * @throws Problem INVALID_REQUEST if it is not a cursor of this workspace.
 */
export function readCursor(
  { id, feed }: Pick<Workspace, "id" | "feed">,
  cursor: string,
): Positions | undefined {
  const [workspaceId, epoch, ...numbers] = FORM.test(cursor)
    ? cursor
        .slice(1)
        .split(".")
        .map((each) => Number.parseInt(each, RADIX))
    : [];
  if (workspaceId !== id) {
    throw new Problem("INVALID_REQUEST", "'cursor' is not one of this workspace's change feed.");
  }
  if (epoch !== feed) return undefined;
  return new Map(PARTITION_BUCKETS.map((bucket, place) => [bucket, numbers[place] as number]));
}
