import { hidesPeople, type WorkspaceContext } from "../../core/base/context/context.ts";
import type { SegmentSize } from "./estimate.ts";

/*
 * Counts tell about single people if they are exact: a filter that one user meets says what that user is like. Callers
 * who may not see who users are get rounded numbers, and none for few users (docs/segments.md#who-sees-which-numbers).
 */

export type ShownSize = Omit<SegmentSize, "matching"> & {
  /** Null for fewer than 20 users. */
  readonly matching: number | null;
};

/** Fewer users than these are not told from none, and in the same way those who are left out. */
const FEW = 20;
const STEP = 10;

const nearest = (users: number): number => Math.round(users / STEP) * STEP;
const below = (users: number): number => Math.floor(users / STEP) * STEP;
const above = (users: number): number => Math.ceil(users / STEP) * STEP;

export function shownTo(context: Pick<WorkspaceContext, "person" | "workspace">) {
  const isRounded = hidesPeople(context);
  return {
    size: (size: SegmentSize): ShownSize => (isRounded ? rounded(size) : size),
    /** Users of whom all that is known is their number; null for few. */
    users: (users: number): number | null =>
      isRounded ? (users < FEW ? null : nearest(users)) : users,
    total: (users: number): number => (isRounded ? nearest(users) : users),
  };
}

function rounded({ total: all, matching, low, high }: SegmentSize): ShownSize {
  const total = nearest(all);
  if (matching < FEW) {
    const most = high < FEW ? FEW - 1 : above(high);
    return { total, matching: null, low: 0, high: most, exact: false };
  }
  if (all - matching < FEW) {
    const isExact = low === high;
    const fewest = Math.max(0, Math.min(total - FEW, isExact ? total : below(low)));
    return { total, matching: total, low: fewest, high: total, exact: false };
  }
  return { total, matching: nearest(matching), low: below(low), high: above(high), exact: false };
}
