import type { Database, Queryable, Transaction } from "./database.ts";
import { encodeParameters } from "./parameters.ts";

/** The one connection that an embedded engine has. Statements run in the order of the calls. */
export interface Connection {
  query(sql: string, parameters: readonly unknown[]): Promise<unknown[]>;
  /** @returns how many rows it wrote. */
  execute(sql: string, parameters: readonly unknown[]): Promise<number>;
  script(sql: string): Promise<void>;
  close(): Promise<void>;
}

/** Makes a database of a single connection: a transaction has it alone, everything else waits. */
export function databaseOf(connection: Connection): Database {
  let last: Promise<unknown> = Promise.resolve();

  function alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  }

  const direct: Queryable = {
    query: async <Row>(sql: string, parameters: readonly unknown[] = []) =>
      (await connection.query(sql, encodeParameters(parameters))) as Row[],
    execute: (sql, parameters = []) => connection.execute(sql, encodeParameters(parameters)),
  };

  async function transaction<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    // Not waited for: what follows comes after it, and fails where it does, for then the engine is gone.
    const begun = connection.script("begin");
    begun.catch(() => {});
    try {
      const result = await work({ ...direct, script: (sql) => connection.script(sql) });
      await begun;
      await connection.script("commit");
      return result;
    } catch (error) {
      await connection.script("rollback");
      throw error;
    }
  }

  return {
    engine: "embedded",
    // They take turns, but while the engine runs one, another one can be worked out.
    concurrency: 2,
    query: (sql, parameters) => alone(() => direct.query(sql, parameters)),
    execute: (sql, parameters) => alone(() => direct.execute(sql, parameters)),
    transaction: (work) => alone(() => transaction(work)),
    async maintain() {
      const tables = await this.query<{ name: string }>(
        "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
      );
      for (const { name } of tables)
        await alone(() => connection.script(`vacuum (analyze) ${name}`));
    },
    close: () => alone(() => connection.close()),
  };
}
