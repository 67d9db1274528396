import {
  checkStatement,
  type Database,
  type Queryable,
  type TransactionBody,
} from "../database.ts";
import { ONE_LANE } from "../lanes.ts";
import { explainAborted } from "../lost-node.ts";
import { encodeParameters } from "../parameters/parameters.ts";
import { setPlanner, type Use } from "../planner.ts";

/** A statement for the engine, with its parameters in the form that it takes. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** The result: its rows, or how many it wrote. */
  readonly answer: "rows" | "count";
  /** See `Queryable.execute`. */
  readonly mustWrite?: number | undefined;
}

/** The one connection that an embedded engine has. Calls are handled in their order. */
export interface Connection {
  /**
   * The connection for a piece of work that begins. It ends with the engine: no statement of a transaction runs on the
   * engine that is started after it.
   *
   * @param use decides how long a statement may hold the engine.
   */
  begin?(use: Use): Connection;
  /** Why work that has not begun must not wait: one statement has held the engine for too long. */
  readonly stall?: Stall;
  /** @returns the rows of each statement, or how many it wrote. */
  run(statements: readonly Statement[], as: "transaction" | "part"): Promise<unknown[]>;
  script(sql: string): Promise<void>;
  close(): Promise<void>;
}

/** A statement that holds the connection for longer than others should wait. */
export interface Stall {
  /** The refusal of work; undefined while the connection responds. */
  refusal(): Error | undefined;
  /** Calls `listen` when one begins, with the session whose statement it is. */
  onBegin(listen: (session: Connection, refusal: Error) => void): void;
}

/** A call that waits for the connection or uses it. */
interface Call {
  session: Connection | undefined;
  refuse(error: Error): void;
  refusal: Error | undefined;
}

/** A database of a single connection. */
export interface SerializedDatabase extends Database {
  /** Runs work while nothing else runs. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
}

/**
 * Makes a database of a single connection: a transaction has exclusive use of it, everything else
 * waits.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: all of it shares the order of use of the connection.
export function databaseOf(connection: Connection): SerializedDatabase {
  let last: Promise<unknown> = Promise.resolve();

  /** The next caller waits until the work is done. */
  function alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  }

  /** The next caller need not wait for the response: the engine keeps the order. */
  function inTurn<Result>(send: () => Promise<Result>): Promise<Result> {
    const sent = last.then(() => ({ answer: send() }));
    last = sent;
    return sent.then(({ answer }) => answer);
  }

  const calls = new Set<Call>();
  connection.stall?.onBegin((session, refusal) => {
    for (const call of calls) if (call.session !== session) call.refuse(refusal);
  });

  /** Runs work that is refused, instead of kept waiting, while another call's statement does not end. */
  function unlessStalled<Result>(work: (call: Call) => Promise<Result>): Promise<Result> {
    const refusal = connection.stall?.refusal();
    if (refusal) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      const call: Call = {
        session: undefined,
        refusal: undefined,
        refuse(error) {
          call.refusal = error;
          reject(error);
        },
      };
      calls.add(call);
      const end = () => calls.delete(call);
      work(call).then(resolve, reject).finally(end);
    });
  }

  /** @throws the refusal of a call that waited in vain: nobody wants its result any more. */
  function begin(call: Call, use: Use = "intake"): Connection {
    if (call.refusal) throw call.refusal;
    call.session = connection.begin?.(use) ?? connection;
    return call.session;
  }
  const on = (session: Connection) => {
    const explain = explainAborted();
    return queryable(async (statement) => {
      const [answer] = await runChecked(session, [statement], "part").catch((error: unknown) => {
        throw explain(error);
      });
      return answer;
    });
  };

  async function transaction<Result>(
    call: Call,
    use: Use,
    work: TransactionBody<Result>,
  ): Promise<Result> {
    // No need to wait: later statements run after `begin`. If it fails, the engine has ended and they fail too.
    const session = begin(call, use);
    const begun = session.script("begin");
    begun.catch(() => {});
    try {
      const result = await work({ ...on(session), script: (sql) => session.script(sql) }, false);
      await begun;
      await session.script("commit");
      return result;
    } catch (error) {
      // If this fails too, the engine has failed, and the first error says why.
      await session.script("rollback").catch(() => {});
      throw error;
    }
  }

  /**
   * The whole transaction is one message to the engine, and the next one may already be on its way.
   */
  async function transactionAtOnce<Result>(
    call: Call,
    work: TransactionBody<Result>,
  ): Promise<Result> {
    const statements: Statement[] = [];
    let answer: Promise<unknown[]> | undefined;
    let isSent: () => void = () => {};
    const sent = new Promise<void>((resolve) => {
      isSent = resolve;
    });
    const ask = async (statement: Statement) => {
      if (answer) throw new Error("The statements of this transaction are asked for all at once.");
      const place = statements.push(statement) - 1;
      await sent;
      return (await (answer as unknown as Promise<unknown[]>))[place];
    };
    const script = () => Promise.reject(new Error("A script runs in a separate transaction."));
    const result = work({ ...queryable(ask), script }, false);
    answer = inTurn(async () => runChecked(begin(call), statements, "transaction"));
    isSent();
    await answer.catch(() => {});
    return result;
  }

  /** Other uses get their own planner settings, for one transaction. */
  function databaseFor(use: Use): Database {
    if (use === "intake") return database;
    const withPlanner: Database["transaction"] = (work) =>
      unlessStalled((call) =>
        alone(() =>
          transaction(call, use, async (tx) => {
            await tx.script(setPlanner(use, "local"));
            return work(tx, false);
          }),
        ),
      );
    return {
      ...database,
      query: (sql, parameters) => withPlanner((tx) => tx.query(sql, parameters)),
      execute: (...statement) => withPlanner((tx) => tx.execute(...statement)),
      transaction: withPlanner,
      transactionAtOnce: withPlanner,
    };
  }

  const database: SerializedDatabase = {
    alone,
    engine: "embedded",
    concurrency: 1,
    isSerialized: true,
    ordersWriters: false,
    for: databaseFor,
    reader: () => database,
    lanes: async () => ONE_LANE,
    query: <Row>(sql: string, parameters?: readonly unknown[]) =>
      unlessStalled((call) => inTurn(async () => on(begin(call)).query<Row>(sql, parameters))),
    execute: (...statement) =>
      unlessStalled((call) => inTurn(async () => on(begin(call)).execute(...statement))),
    transaction: (work) => unlessStalled((call) => alone(() => transaction(call, "intake", work))),
    transactionAtOnce: (work) => unlessStalled((call) => transactionAtOnce(call, work)),
    async maintain() {
      const tables = await database.query<{ name: string }>(
        "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
      );
      // Requests are served between two of them.
      for (const { name } of tables) {
        for (const work of ["vacuum", "analyze"])
          await alone(() => connection.script(`${work} ${name}`));
      }
    },
    // An empty query succeeds in a transaction that has failed, too.
    ping: () => unlessStalled(() => connection.script("")),
    close: () => alone(() => connection.close()),
  };
  return database;
}

/** A statement that is too large fails its whole transaction. @throws StatementTooLarge */
async function runChecked(
  session: Connection,
  statements: readonly Statement[],
  as: "transaction" | "part",
): Promise<unknown[]> {
  for (const { sql, parameters } of statements) checkStatement(sql, parameters);
  return session.run(statements, as);
}

function queryable(ask: (statement: Statement) => Promise<unknown>): Queryable {
  return {
    query: async <Row>(sql: string, parameters: readonly unknown[] = []) =>
      (await ask({
        sql,
        parameters: encodeParameters(parameters),
        answer: "rows",
      })) as Row[],
    execute: async (sql, parameters = [], mustWrite = undefined) =>
      (await ask({
        sql,
        parameters: encodeParameters(parameters),
        answer: "count",
        mustWrite,
      })) as number,
  };
}
