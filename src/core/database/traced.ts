import type { Tracing } from "../base/observe/tracing.ts";
import type { Database } from "./database.ts";
import { wrapDatabase } from "./wrap-database.ts";

/**
 * The same database, with a span for each transaction and statement. A statement's span names its
 * action and its table. It contains neither the text nor the parameters.
 */
export const traced = (database: Database, tracing: Pick<Tracing, "within">): Database =>
  wrapDatabase(database, (use) => {
    const common = {
      "db.system.name": database.engine === "postgres" ? "postgresql" : "pglite",
      "rapport.use": use,
    };
    return {
      statement(sql, run) {
        const { operation, table } = kindOf(sql);
        const attributes = {
          ...common,
          "db.operation.name": operation,
          ...(table && { "db.collection.name": table }),
        };
        return tracing.within(table ? `${operation} ${table}` : operation, attributes, run);
      },
      transaction: (run) => tracing.within("transaction", common, run),
    };
  });

interface Kind {
  readonly operation: string;
  /** The first table that it writes or, if it writes none, reads. */
  readonly table: string | undefined;
}

const WRITE =
  /\b(insert) into ([a-z_]+)|\b(delete) from ([a-z_]+)|(?<!\b(?:for|do) )\b(update) ([a-z_]+)/;
const READ = /\b(select)\b[\s\S]*?\bfrom ([a-z_]+)\b(?!\()/;

/** Texts are constants, except for a few that vary in length. */
const MOST_KINDS = 1_000;

const kinds = new Map<string, Kind>();

function kindOf(sql: string): Kind {
  const known = kinds.get(sql);
  if (known) return known;
  const found = (WRITE.exec(sql) ?? READ.exec(sql) ?? []).slice(1).filter(Boolean);
  const [operation = /[a-z]+/.exec(sql)?.[0] ?? "statement", table] = found;
  const kind = { operation, table };
  if (kinds.size < MOST_KINDS) kinds.set(sql, kind);
  return kind;
}
