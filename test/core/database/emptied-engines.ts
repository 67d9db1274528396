/*
 * Embedded engines in memory, used again. Opening one takes ten times as long as emptying it, and the suite starts
 * seventy servers with engines of their own. A server that closes its engine hands it back: every table gets the rows
 * that the migrations left in it, and the next server finds an engine as if it were new.
 */
import { type Database, settleAll } from "../../../src/core/database/database.ts";
import { openEmbedded } from "../../../src/core/database/embedded/pglite.ts";
import { migrate } from "../../../src/core/database/migrations/migrate.ts";

/** How many engines wait for a server. Each holds 100 MB, and few files use more than two at a time. */
const MOST_WAITING = 2;

/** What the migrations wrote, by table. Rapport looks at no other schema than `public`. */
const KEEP_ROWS = "kept_rows";

export interface EngineSupply {
  /** An empty engine in memory, with the tables of this version. */
  open(): Promise<Database>;
  /** Closes the engines that wait; those in use close with their servers. */
  close(): Promise<void>;
}

export function createEngineSupply(): EngineSupply {
  const waiting: Database[] = [];
  let hasEnded = false;
  async function takeBack(engine: Database): Promise<void> {
    const isEmpty = !hasEnded && waiting.length < MOST_WAITING && (await wasEmptied(engine));
    // The supply may have been closed meanwhile.
    if (isEmpty && !hasEnded) waiting.push(engine);
    else await engine.close();
  }
  return {
    open: async () => lend(waiting.pop() ?? (await openNew()), takeBack),
    async close() {
      hasEnded = true;
      await settleAll(waiting.splice(0).map((engine) => engine.close()));
    },
  };
}

async function openNew(): Promise<Database> {
  const engine = await openEmbedded("memory:");
  await migrate(engine);
  await engine.query(`create schema ${KEEP_ROWS}`);
  for (const name of await tablesWithRows(engine)) {
    await engine.query(`create table ${KEEP_ROWS}.${name} as select * from public.${name}`);
  }
  return engine;
}

/** The engine until it is closed. Work that goes on after that must not reach the next server's rows. */
export function lend(engine: Database, takeBack: (engine: Database) => Promise<void>): Database {
  let isClosed = false;
  const whileOpen =
    <Args extends unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (isClosed) throw new Error("The engine was closed.");
      return run(...args);
    };
  const guarded = (database: Database): Database => ({
    ...database,
    for: (use) => guarded(database.for(use)),
    reader: () => guarded(database),
    query: whileOpen(database.query) as Database["query"],
    execute: whileOpen(database.execute),
    transaction: whileOpen(database.transaction) as Database["transaction"],
    transactionAtOnce: whileOpen(database.transactionAtOnce) as Database["transactionAtOnce"],
    maintain: whileOpen(database.maintain),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await takeBack(engine);
    },
  });
  return guarded(engine);
}

/** @returns false if it cannot be used again: a test may have broken it. */
async function wasEmptied(engine: Database): Promise<boolean> {
  try {
    await engine.transaction(async (tx) => {
      const tables = await tablesWithRows(tx);
      await tx.query(`truncate ${tables.join()} restart identity cascade`);
      for (const name of await tablesWithRows(tx, KEEP_ROWS)) {
        await tx.query(
          `insert into public.${name} overriding system value select * from ${KEEP_ROWS}.${name}`,
        );
      }
    });
    return true;
  } catch {
    return false;
  }
}

async function tablesWithRows(
  database: Pick<Database, "query">,
  schema = "public",
): Promise<string[]> {
  const found = await database.query<{ name: string }>(
    `select relname as name from pg_class
     where relkind = 'r' and relnamespace = $1::text::regnamespace and pg_relation_size(oid) > 0`,
    [schema],
  );
  return found.map(({ name }) => name);
}
