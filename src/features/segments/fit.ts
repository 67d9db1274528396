import type { Database, Queryable } from "../../core/database/database.ts";
import { readTogether } from "../../core/database/database.ts";
import { type Filter, leavesOfAll } from "./filter.ts";
import { countFitting, type Portion } from "./members-store.ts";

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
  workspaceId: number,
  portion: Portion,
  filters: readonly Filter[],
  work: (tx: Queryable, portion: Portion) => Promise<Result>,
): Promise<Result> {
  const kept = leavesOfAll(filters).flatMap(({ readsExpiring }) => readsExpiring ?? []);
  if (kept.length === 0) return readTogether(database, (tx) => work(tx, portion));
  const tables = new Set(kept);
  const mostRows = Math.floor(MOST_ROWS / kept.length);
  const { users, rowsOfFirst } = await countFitting(
    database,
    workspaceId,
    portion,
    tables,
    mostRows,
  );
  if (rowsOfFirst <= mostRows) {
    const size = portion.kind === "one" ? undefined : Math.min(portion.size, Math.max(1, users));
    return readTogether(database, (tx) =>
      work(tx, size ? ({ ...portion, size } as Portion) : portion),
    );
  }
  const conditionsAtOnce = Math.max(1, Math.floor(MOST_ROWS / rowsOfFirst));
  return work(database, {
    ...portion,
    ...(portion.kind !== "one" && { size: 1 }),
    conditionsAtOnce,
  } as Portion);
}
