import type { Database, Queryable } from "../../core/database/database.ts";
import { readTogether } from "../../core/database/database.ts";
import { type Filter, leavesOfAll } from "./filter.ts";
import { countFitting, type Look, type Portion } from "./members-store.ts";

/*
 * Conditions on single events and purchases look at the rows of each user. A user may have a million of them, and a filter
 * fifty such conditions, so a statement decides about as many users, and of one user about as many conditions, as half a
 * second allows.
 */

/** How many rows one statement looks at, counted for each condition; the embedded engine looks at a million a second. */
const MOST_ROWS = 500_000;

/**
 * Decides about the users of a portion, or about the first of them, in one transaction. About a user with very many rows it
 * takes one for each statement, so that others need not wait for all of them.
 *
 * @param work gets the users that it decides about.
 */
export async function readFitting<Result>(
  database: Database,
  look: Omit<Look, "tx">,
  filters: readonly Filter[],
  work: (look: Look) => Promise<Result>,
): Promise<Result> {
  const portion: Portion = database.commitsInParts
    ? { ...look.portion, isCluster: true }
    : look.portion;
  const kept = leavesOfAll(filters).flatMap(({ readsExpiring }) => readsExpiring ?? []);
  const workOn = (tx: Queryable, change: object = {}) =>
    work({ ...look, tx, portion: { ...portion, ...change } as Portion });
  if (kept.length === 0) return readTogether(database, (tx) => workOn(tx));
  const tables = new Set(kept);
  const mostRows = Math.floor(MOST_ROWS / kept.length);
  const { users, rowsOfFirst } = await countFitting(
    { ...look, portion, tx: database },
    tables,
    mostRows,
  );
  const isOne = portion.kind === "one";
  if (rowsOfFirst <= mostRows) {
    const size = isOne ? {} : { size: Math.min(portion.size, Math.max(1, users)) };
    return readTogether(database, (tx) => workOn(tx, size));
  }
  const conditionsAtOnce = Math.max(1, Math.floor(MOST_ROWS / rowsOfFirst));
  return workOn(database, { ...(!isOne && { size: 1 }), conditionsAtOnce });
}
