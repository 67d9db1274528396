import type { Database, Queryable } from "./database.ts";
import type { Use } from "./planner.ts";

/** How statements and transactions are wrapped; omitted ones stay the same. */
interface Wrapping {
  statement?<Result>(sql: string, run: () => Promise<Result>): Promise<Result>;
  /** @param run gets what runs the work, which a driver may call from anywhere. */
  transaction?<Result>(
    run: (resume: <Resumed>(work: () => Resumed) => Resumed) => Promise<Result>,
  ): Promise<Result>;
}

/** The same database, with all its statements and transactions wrapped, for every use. */
export function wrapDatabase(
  inner: Database,
  wrappingFor: (use: Use) => Wrapping,
  use: Use = "intake",
): Database {
  const { statement = (_, run) => run(), transaction = (run) => run((work) => work()) } =
    wrappingFor(use);
  const queryable = (each: Queryable): Queryable => ({
    query: (sql, parameters) => statement(sql, () => each.query(sql, parameters)),
    execute: (sql, ...rest) => statement(sql, () => each.execute(sql, ...rest)),
  });
  const wrapped =
    (begin: Database["transaction"]): Database["transaction"] =>
    (work, place) =>
      transaction((resume) =>
        begin(
          (tx, isChecked) =>
            resume(() =>
              work({ ...queryable(tx), script: (script) => tx.script(script) }, isChecked),
            ),
          place,
        ),
      );
  return {
    ...inner,
    ...queryable(inner),
    for: (other) => wrapDatabase(inner.for(other), wrappingFor, other),
    reader: (buckets) => queryable(inner.reader(buckets)),
    transaction: wrapped(inner.transaction),
    transactionAtOnce: wrapped(inner.transactionAtOnce),
  };
}
