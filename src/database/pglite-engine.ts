import { access, rename, rm } from "node:fs/promises";
import { PGlite, type Transaction, types } from "@electric-sql/pglite";
import { checkWritten } from "./database.ts";
import type { Statement } from "./one-connection.ts";
import { readTimestamp } from "./parameters.ts";
import { PLANNER_SETTINGS } from "./planner.ts";
import { readSnapshot } from "./snapshot.ts";

const PARSERS = { [types.TIMESTAMPTZ]: readTimestamp };

/**
 * Opens PGlite: PostgreSQL as WebAssembly. It never calls fsync: what it acknowledged survives a
 * killed process, not a power cut.
 *
 * @param folder made where it is missing, or `memory:` to keep nothing.
 */
export async function openEngine(folder: string): Promise<PGlite> {
  const engine = folder === "memory:" ? await openNew("memory://") : await openFolder(folder);
  for (const [name, value] of Object.entries(PLANNER_SETTINGS)) {
    await engine.exec(`set ${name} = ${value}`);
  }
  return engine;
}

/** A new folder is made aside and renamed when it is whole, so that a killed start leaves no half. */
async function openFolder(folder: string): Promise<PGlite> {
  const isMade = await access(folder).then(
    () => true,
    () => false,
  );
  if (!isMade) {
    const unfinished = `${folder}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await (await openNew(unfinished)).close();
    await rename(unfinished, folder);
  }
  return PGlite.create(folder, { parsers: PARSERS });
}

/** From the snapshot where there is one: that takes a fifth of the time. */
async function openNew(dataDir: string): Promise<PGlite> {
  const snapshot = await readSnapshot();
  return PGlite.create({
    dataDir,
    parsers: PARSERS,
    ...(snapshot && { loadDataDir: snapshot }),
  });
}

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
