import { BUCKET_COUNT, BUCKETS, placeOf } from "../../database/buckets.ts";

/*
 * The feed of a workspace has 16 partitions: the changes of a user are in the partition of the user's bucket, in the order in
 * which they were committed (docs/decisions/change-feed.md).
 */

const PARTITION_COUNT = 16;

const PLACES_OF_ONE = BUCKET_COUNT / PARTITION_COUNT;

/** The bucket of the rows of each partition: its own first one, so that a cluster has both on one node. */
export const PARTITION_BUCKETS: readonly number[] = Array.from(
  { length: PARTITION_COUNT },
  (_, partition) => BUCKETS[partition * PLACES_OF_ONE] as number,
);

/** The partition of a user: the upper half of the byte that says the bucket. */
const partitionOfId = (platformId: string): number => Number.parseInt(platformId.at(-2) ?? "0", 16);

export const bucketOfChanges = (platformId: string): number =>
  PARTITION_BUCKETS[partitionOfId(platformId)] as number;

/** The bucket that has changes about a value that belongs to no user. */
export const bucketOfValueChanges = (workspaceId: number, value: string): number =>
  PARTITION_BUCKETS[Math.floor(placeOf(workspaceId, value) / PLACES_OF_ONE)] as number;

/** 32 bits of an id of a user, chosen at random when it was created. */
export const tagOf = (platformId: string): number =>
  Number.parseInt(platformId.slice(25, 33), 16) | 0;
