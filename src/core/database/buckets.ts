import { fnv1a } from "../base/values/hashes.ts";
import { smallints, type TypedList } from "./parameters/typed-list.ts";

/*
 * Every row of user data is in a bucket, so that a cluster knows from a statement which of its nodes it concerns
 * (docs/decisions/buckets.md). Rows of a profile are in the profile's bucket (the last byte of its id). Rows that are
 * looked up by a value are in the value's bucket.
 */

/** The bucket that this id of a profile says: its last byte is the bucket's place in `BUCKETS`. */
export const bucketOfId = (id: string): number => BUCKETS[placeOfId(id)] as number;

/** The place of the bucket of a profile among `BUCKETS`; of a text that is no id, any. */
export const placeOfId = (id: string): number => Number.parseInt(id.slice(-HEX_DIGITS), 16) || 0;

/** The bucket of a value that rows are looked up by: an identifier, an address, a key. */
export const bucketOfValue = (workspaceId: number, value: string): number =>
  BUCKETS[placeOf(workspaceId, value)] as number;

/** The id with the last byte that puts a profile into the bucket of its first identifier. */
export const idInBucketOf = (id: string, workspaceId: number, value: string): string =>
  id.slice(0, -HEX_DIGITS) + (HEX[placeOf(workspaceId, value)] as string);

/** The buckets of the rows of a statement. */
export interface Buckets {
  /** One for each row, in the order of the rows. */
  readonly each: TypedList;
  /** Each bucket once. */
  readonly all: TypedList;
}

/** The buckets of profiles: one for each id, and all of them without repetition. */
export const bucketsOfIds = (ids: readonly string[]): Buckets => bucketsOf(ids.map(bucketOfId));

/**
 * The buckets of looked-up values in a workspace: one for each value, and all of them without
 * repetition.
 */
export const bucketsOfValues = (workspaceId: number, values: readonly string[]): Buckets =>
  bucketsOf(values.map((value) => bucketOfValue(workspaceId, value)));

const bucketsOf = (each: readonly number[]): Buckets => ({
  each: smallints(each),
  all: smallints([...new Set(each)]),
});

/** The condition of the rows of profiles, for a statement whose first three parameters come from `ofProfiles`. */
export const OF_PROFILES =
  "workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($3::smallint[])";

export const ofProfiles = (workspaceId: number, ids: readonly string[]): readonly unknown[] => [
  workspaceId,
  ids,
  bucketsOfIds(ids).all,
];

/** How many buckets there are: a power of two, and the most shards that a cluster can use. */
export const BUCKET_COUNT = 256;

/**
 * The place of a value among the buckets. FNV-1a. Its upper bits are spread to all: for values that
 * end in consecutive numbers only its lower bits are uneven.
 */
export function placeOf(workspaceId: number, value: string): number {
  let hash = fnv1a(value, workspaceId);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) & (BUCKET_COUNT - 1);
}

/** A byte of an id. */
const HEX_DIGITS = 2;

const HEX = Array.from({ length: BUCKET_COUNT }, (_, place) =>
  place.toString(16).padStart(HEX_DIGITS, "0"),
);

/**
 * The numbers of the buckets, in the order of their hashes. Citus gives each shard a range of the hashes of
 * `bucket`; the numbers 0 to 255 would leave some shards without a bucket and give others five. The hash
 * of each of these is in the middle of its 256th of all hashes, so each of n shards has 256 / n buckets.
 * The table `buckets` has the same numbers; `test/long/core/database/buckets.test.ts` asks the engine for their hashes.
 */
// biome-ignore format: a table of numbers
export const BUCKETS: readonly number[] = [
  17726, 23568, 29507, 2826, 2923, 4159, 15765, 19209, 414, 31354, 15564, 10457, 25846, 5601,
  22032, 29612, 21070, 9110, 30080, 15794, 16847, 6868, 11127, 21584, 15616, 12301, 23260, 11781,
  25321, 18705, 3466, 24224, 12129, 8211, 31986, 16828, 15555, 17707, 26936, 10337, 7223, 19103,
  30674, 13433, 21099, 9339, 29653, 14994, 12181, 32597, 29884, 16653, 24427, 1644, 17001, 15847,
  12069, 19600, 24843, 4188, 11599, 22621, 1515, 23427, 20588, 26761, 26121, 15681, 2376, 10784,
  17629, 29802, 31450, 25549, 19999, 22038, 8465, 11455, 11332, 5422, 16172, 32174, 27450, 17350,
  2477, 6175, 10424, 29281, 13637, 28365, 24595, 28854, 8568, 22428, 31539, 2308, 5328, 9360,
  23987, 2479, 17789, 14342, 18967, 13986, 5496, 3478, 27757, 2953, 5368, 4713, 8499, 21887, 2569,
  14898, 13132, 21651, 15156, 10896, 1366, 5080, 10537, 32633, 18366, 5178, 30991, 24795, 13368,
  4232, 6436, 32691, 19318, 14864, 29724, 3439, 23802, 13697, 1806, 15728, 2699, 8897, 23030,
  3230, 15567, 16205, 27233, 18411, 17560, 3731, 23729, 7465, 17791, 16605, 20232, 9822, 3564,
  20495, 7279, 12363, 4177, 13412, 1728, 122, 4025, 31268, 4297, 26853, 22800, 6198, 7873, 29575,
  15281, 30457, 25148, 26178, 31111, 32350, 31511, 10034, 25401, 30560, 5692, 15727, 2329, 21959,
  24434, 683, 14636, 6939, 15662, 24045, 23544, 19705, 13084, 9028, 14842, 11133, 17238, 13453,
  26605, 351, 7688, 14924, 199, 27435, 24849, 27274, 22418, 30726, 21884, 2125, 2952, 25707,
  18285, 4322, 11934, 2191, 21267, 26953, 13258, 17247, 18818, 27671, 29059, 17954, 27972, 30480,
  29313, 22833, 20978, 11535, 3349, 17470, 8521, 8924, 11328, 22817, 4475, 24907, 22346, 4407,
  2658, 17274, 27221, 2284, 4020, 2127, 5008, 18721, 28668, 10810, 15147, 22508, 17545, 20275,
  25985, 21686,
];
