import { access, rename, rm } from "node:fs/promises";
import { PGlite, type Transaction, types } from "@electric-sql/pglite";
import { checkWritten } from "./database.ts";
import { explainOpen } from "./explain-open.ts";
import type { Statement } from "./one-connection.ts";
import { readTimestamp } from "./parameters.ts";
import { setPlanner } from "./planner.ts";
import { makeTreePrivate } from "./private-folder.ts";
import { PrivateNodeFS } from "./private-node-fs.ts";
import { readSnapshot } from "./snapshot.ts";

const PARSERS = { [types.TIMESTAMPTZ]: readTimestamp };

/**
 * Opens PGlite: PostgreSQL as WebAssembly. It never calls fsync: acknowledged writes survive a killed
 * process, but not a power failure.
 *
 * @param folder created where it is missing, for its owner only; or `memory:` to keep nothing.
 */
export async function openEngine(folder: string): Promise<PGlite> {
  const engine = folder === "memory:" ? await openNew("memory:") : await openFolder(folder);
  await engine.exec(setPlanner("intake", "session"));
  return engine;
}

/** A new folder is built under another name and renamed when complete: a killed start leaves no half. */
async function openFolder(folder: string): Promise<PGlite> {
  const exists = await access(folder).then(
    () => true,
    () => false,
  );
  if (!exists) {
    const unfinished = `${folder}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await openNew(unfinished).then(
      (engine) => engine.close(),
      async (error) => {
        throw await explainOpen(unfinished, error);
      },
    );
    await rename(unfinished, folder);
  }
  try {
    makeTreePrivate(folder);
    return await PGlite.create({ ...storageIn(folder), parsers: PARSERS });
  } catch (error) {
    throw await explainOpen(folder, error);
  }
}

/** From the snapshot where there is one: that takes a fifth of the time. */
async function openNew(folder: string): Promise<PGlite> {
  const snapshot = await readSnapshot();
  return PGlite.create({
    ...storageIn(folder),
    parsers: PARSERS,
    ...(snapshot && { loadDataDir: snapshot }),
  });
}

const storageIn = (folder: string) =>
  folder === "memory:" ? { dataDir: "memory://" } : { fs: new PrivateNodeFS(folder) };

/**
 * Runs statements one after the other, in a transaction of their own or as a part of what runs already.
 *
 * @returns the rows of each, or how many it wrote.
 */
export const runStatements = (
  engine: PGlite,
  statements: readonly Statement[],
  as: "transaction" | "part",
): Promise<unknown[]> =>
  as === "part"
    ? runOn(engine, statements)
    : engine.transaction((transaction) => runOn(transaction, statements));

async function runOn(
  engine: PGlite | Transaction,
  statements: readonly Statement[],
): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const { sql, parameters, answer, mustWrite } of statements) {
    const { rows, fields, affectedRows = 0 } = await engine.query(sql, [...parameters]);
    const written = checkWritten(fields.length > 0 ? rows.length : affectedRows, mustWrite);
    results.push(answer === "rows" ? rows : written);
  }
  return results;
}
