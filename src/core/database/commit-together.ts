import { BUCKETS } from "./buckets.ts";
import type { Transaction } from "./database.ts";
import { smallints } from "./parameters/typed-list.ts";

/** In different shards, in any number of them. */
const TWO_BUCKETS = smallints([BUCKETS[0] as number, BUCKETS.at(-1) as number]);

/**
 * For a transaction that writes rows of users and rows of a small table, such as the progress of an
 * import, which must both be there or neither. On Citus a transaction that writes to one shard
 * commits on the node of that shard first and afterwards on the coordinator, which has the small
 * tables: a crash in between would keep only the first commit. A statement that may write to two
 * shards, though it finds nothing, makes Citus commit in two phases, and the second survives a
 * crash.
 */
export const commitTogether = (tx: Transaction) =>
  tx.execute("delete from buckets where bucket = any($1) and bucket < 0", [TWO_BUCKETS]);
