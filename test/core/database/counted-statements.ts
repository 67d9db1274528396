import assert from "node:assert/strict";
import type { Database, Queryable } from "../../../src/core/database/database.ts";

/** The statements that reached the engine. */
export interface Counted {
  transactions: number;
  /** Outside of transactions. */
  readonly reads: string[];
  /** Within transactions. */
  readonly statements: string[];
  /** That the statements said they wrote, or returned as they inserted them. */
  written: number;
}

/**
 * A database that records its statements.
 *
 * @param outside whether statements outside of a transaction are as it should be.
 */
export function countingDatabase(
  database: Database,
  outside: "refused" | "counted" = "refused",
): { readonly database: Database; readonly counted: Counted } {
  const counted: Counted = { transactions: 0, reads: [], statements: [], written: 0 };
  const counting = (queryable: Queryable, list: string[]): Queryable => ({
    async query<Row>(sql: string, parameters?: readonly unknown[]) {
      list.push(sql);
      const rows = await queryable.query<Row>(sql, parameters);
      if (/^\s*insert/.test(sql)) counted.written += rows.length;
      return rows;
    },
    async execute(sql, ...rest) {
      list.push(sql);
      const rows = await queryable.execute(sql, ...rest);
      if (!/^\s*select/.test(sql)) counted.written += rows;
      return rows;
    },
  });
  const refusing: Queryable = {
    query: () => assert.fail("a statement outside of the transaction"),
    execute: () => assert.fail("a statement outside of the transaction"),
  };
  return {
    counted,
    database: {
      ...database,
      ...(outside === "refused" ? refusing : counting(database, counted.reads)),
      transaction(work, place) {
        counted.transactions += 1;
        return database.transaction(
          (tx, ...rest) => work({ ...tx, ...counting(tx, counted.statements) }, ...rest),
          place,
        );
      },
      transactionAtOnce(work, place) {
        counted.transactions += 1;
        return database.transactionAtOnce(
          (tx, ...rest) => work({ ...tx, ...counting(tx, counted.statements) }, ...rest),
          place,
        );
      },
      reader: () => (outside === "refused" ? refusing : counting(database, counted.reads)),
    },
  };
}
