import { type Database, isAborted, isLocked } from "./database.ts";
import type { Use } from "./planner.ts";
import { wrapDatabase } from "./wrap-database.ts";

/**
 * How a transaction ended. An aborted one met another (serialization failure, deadlock) and is run again; a locked one
 * waited too long for a lock.
 */
export type Ending = "committed" | "aborted" | "locked" | "failed";

/** Counts the statements and transactions of a database. */
export interface Meter {
  statement(use: Use, seconds: number): void;
  transaction(use: Use, ending: Ending): void;
}

/** The same database, with every statement and transaction counted. */
export const metered = (database: Database, meter: Meter): Database =>
  wrapDatabase(database, (use) => ({
    statement(_, run) {
      const startedAt = performance.now();
      const result = run();
      const done = () => meter.statement(use, (performance.now() - startedAt) / 1_000);
      result.then(done, done);
      return result;
    },
    async transaction(run) {
      try {
        const result = await run((work) => work());
        meter.transaction(use, "committed");
        return result;
      } catch (error) {
        meter.transaction(
          use,
          isAborted(error) ? "aborted" : isLocked(error) ? "locked" : "failed",
        );
        throw error;
      }
    },
  }));
