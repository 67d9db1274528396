import { type Database, isAborted, nearOf, type Queryable, type Transaction } from "./database.ts";
import type { Use } from "./planner.ts";

/** How a transaction ended. An aborted one met another (serialization failure, deadlock) and is run again. */
export type Ending = "committed" | "aborted" | "failed";

/** Counts what a database does. */
export interface Meter {
  statement(use: Use, seconds: number): void;
  transaction(use: Use, ending: Ending): void;
}

/** The same database, with every statement and transaction counted. */
export function metered(database: Database, meter: Meter, use: Use = "intake"): Database {
  const count = <Result>(result: Promise<Result>): Promise<Result> => {
    const startedAt = performance.now();
    const done = () => meter.statement(use, (performance.now() - startedAt) / 1_000);
    result.then(done, done);
    return result;
  };
  const queryable = (inner: Queryable): Queryable => ({
    query: (sql, parameters) => count(inner.query(sql, parameters)),
    execute: (...statement) => count(inner.execute(...statement)),
  });
  const counted = async <Result>(transaction: Promise<Result>): Promise<Result> => {
    try {
      const result = await transaction;
      meter.transaction(use, "committed");
      return result;
    } catch (error) {
      meter.transaction(use, isAborted(error) ? "aborted" : "failed");
      throw error;
    }
  };
  const watch =
    <Result>(work: (tx: Transaction) => Promise<Result>) =>
    (tx: Transaction) =>
      work({ ...queryable(tx), script: (sql) => tx.script(sql) });
  return {
    ...database,
    ...queryable(database),
    for: (other) => metered(database.for(other), meter, other),
    ...nearOf(database, (holder) => metered(holder, meter, use)),
    transaction: (work) => counted(database.transaction(watch(work))),
    transactionAtOnce: (work) => counted(database.transactionAtOnce(watch(work))),
  };
}
