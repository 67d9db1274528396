import { type Database, type Queryable, readTogether } from "../../core/database/database.ts";
import { type Filter, leavesOfAll } from "./filter.ts";
import { readFitting } from "./fit.ts";
import { countMembersOfEach, type MemberCount } from "./members.ts";
import { BEFORE_ALL, countDrawn, DRAWN_SHARE, type Portion, sizeOf } from "./members-store.ts";
import { createPace, SLICE_MS } from "./pace.ts";

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

/** How many users a sample has at most: an error of about 1.4 % of all users, however many there are. */
const SAMPLE_USERS = 5_000;

type ManyUsers = Exclude<Portion, { readonly kind: "one" }>;

/** The users that an estimate of many reads. */
export const SAMPLE = { kind: "sample", size: SAMPLE_USERS } as const;

/**
 * If chance drew fewer users for the sample, all are read: about 5,000, and for certain fewer than
 * 10,000.
 */
const FEWEST_DRAWN = 1_250;
const MOST_OF_FEW = 10_000;

/**
 * The users that an estimate reads: a sample, or all of them if they are few. @param most of the
 * sample.
 */
export const portionToRead = async (
  tx: Queryable,
  workspaceId: number,
  most = SAMPLE_USERS,
): Promise<ManyUsers> =>
  (await countDrawn(tx, workspaceId, FEWEST_DRAWN)) === FEWEST_DRAWN
    ? { kind: "sample", size: most }
    : { kind: "next", after: BEFORE_ALL, size: MOST_OF_FEW };

/** The values that the part of an id that chance drew can have. */
const CHANCES = 2 ** 32;

/** Standard deviations of a normal distribution, for 95 %. */
const Z = 1.96;

/** Estimates the size of a segment. @param known see `estimateSizes`. */
export async function estimateSize(
  database: Database,
  workspaceId: number,
  filter: Filter,
  now: Date,
  known?: Promise<number | undefined>,
): Promise<SegmentSize> {
  const [size] = await estimateSizes(database, workspaceId, [filter], now, known);
  return size as SegmentSize;
}

/**
 * Estimates the sizes of segments from a sample: the users with the lowest parts of their ids that
 * chance drew. How low those are also tells how many users there are. If a workspace has few users,
 * all are counted.
 *
 * @param known how many users there are, if somebody has counted them: never rejected.
 */
export async function estimateSizes(
  database: Database,
  workspaceId: number,
  filters: readonly Filter[],
  now: Date,
  known?: Promise<number | undefined>,
): Promise<SegmentSize[]> {
  const lookup = database.for("lookup");
  const whole = await readTogether(lookup, (tx) => portionToRead(tx, workspaceId));
  const pace = createPace(leavesOfAll(filters).length);
  let counts: readonly MemberCount[] | undefined;
  for (;;) {
    const portion = sliceAfter(whole, counts?.[0], pace.size());
    let [startedAt, size] = [0, 0];
    const found = await readFitting(lookup, { workspaceId, portion, now }, filters, (look) => {
      startedAt = performance.now();
      size = sizeOf(look.portion);
      return countMembersOfEach(look, filters);
    });
    pace.took(performance.now() - startedAt, SLICE_MS);
    counts = counts ? counts.map((count, place) => added(count, found[place])) : found;
    const [first] = counts;
    if (!first || found[0]?.seen !== size || first.seen === whole.size) break;
  }
  const users = whole.kind === "sample" ? await known : undefined;
  return counts.map((count) => sizeFrom(whole, count, users));
}

/** The next users of a portion. Of two with the same part that chance drew, one may be left out: that is one pair in a million. */
function sliceAfter(whole: ManyUsers, counted: MemberCount | undefined, most: number): ManyUsers {
  const size = Math.min(most, whole.size - (counted?.seen ?? 0));
  if (!counted) return { ...whole, size };
  return whole.kind === "sample"
    ? { kind: "sample", size, after: counted.highestChance ?? "" }
    : { kind: "next", size, after: counted.lastId ?? BEFORE_ALL };
}

const added = (before: MemberCount, next: MemberCount | undefined): MemberCount => ({
  seen: before.seen + (next?.seen ?? 0),
  matching: before.matching + (next?.matching ?? 0),
  lastId: next?.lastId ?? before.lastId,
  highestChance: next?.highestChance ?? before.highestChance,
});

/** Draws a conclusion from the users of a portion. @param known how many users there are, if that is known. */
export function sizeFrom(
  portion: Portion,
  { seen, matching, highestChance }: MemberCount,
  known?: number,
): SegmentSize {
  if (portion.kind !== "sample") return exactSize(seen, matching);
  const isFull = seen === portion.size && highestChance !== null;
  // The share of all users that the sample is expected to be.
  const drawn = isFull ? (Number.parseInt(highestChance, 16) + 1) / CHANCES : DRAWN_SHARE;
  const total = Math.max(seen, known ?? Math.round((isFull ? seen - 1 : seen) / drawn));
  const share = known === undefined ? drawn : seen / total;
  // The number found follows a Poisson distribution, narrowed by how much of everyone was looked at.
  const spread = Z * Math.sqrt(1 - share);
  const middle = matching + spread ** 2 / 2;
  const reach = spread * Math.sqrt(matching + spread ** 2 / 4);
  const most = known === undefined ? Number.POSITIVE_INFINITY : total - seen + matching;
  const low = Math.max(matching, Math.floor((middle - reach) / share));
  const high = Math.max(matching, Math.min(most, Math.ceil((middle + reach) / share)));
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
