import type { Database } from "../../database/database.ts";
import { readTogether } from "../../database/database.ts";
import type { Filter } from "./filter.ts";
import { countMembers, type MemberCount } from "./members.ts";

/** How many users meet a filter, of how many. */
export interface SegmentSize {
  /** All users of the workspace. */
  readonly total: number;
  readonly matching: number;
  /** With 95 % certainty the true number is between these. */
  readonly low: number;
  readonly high: number;
  /** Whether all users were counted; then `low` and `high` are `matching`. */
  readonly exact: boolean;
}

/** How many users a sample has: an error of about 1 % of all users, whatever their number. */
const SAMPLE_USERS = 10_000;

/** The users that an estimate reads. */
export const SAMPLE = { kind: "sample", size: SAMPLE_USERS } as const;

/** The values that the part of an id that chance drew can have. */
const CHANCES = 2 ** 32;

/** Standard deviations of a normal distribution, for 95 %. */
const Z = 1.96;

/**
 * Estimates the size of a segment from a sample: the users with the lowest parts of their ids that chance drew. How
 * low those are also tells how many users there are. A workspace that fits into the sample is counted exactly.
 */
export const estimateSize = (
  database: Database,
  workspaceId: number,
  filter: Filter,
  now: Date,
): Promise<SegmentSize> =>
  readTogether(database.for("lookup"), async (tx) =>
    sizeFrom(await countMembers(tx, workspaceId, SAMPLE, filter, now)),
  );

/** Draws a conclusion from a sample. */
export function sizeFrom({ seen, matching, highestChance }: MemberCount): SegmentSize {
  if (seen < SAMPLE_USERS || highestChance === null) return exactSize(seen, matching);
  // The share of all users that the sample is expected to be.
  const share = (Number.parseInt(highestChance, 16) + 1) / CHANCES;
  const total = Math.round((seen - 1) / share);
  // The number found follows a Poisson distribution, narrowed by how much of everyone was looked at.
  const spread = Z * Math.sqrt(1 - share);
  const middle = matching + spread ** 2 / 2;
  const reach = spread * Math.sqrt(matching + spread ** 2 / 4);
  const low = Math.max(matching, Math.floor((middle - reach) / share));
  const high = Math.max(matching, Math.ceil((middle + reach) / share));
  return { total, matching: Math.round((matching / seen) * total), low, high, exact: false };
}

/** A size that was counted. */
export const exactSize = (total: number, matching: number): SegmentSize => ({
  total,
  matching,
  low: matching,
  high: matching,
  exact: true,
});
