import { access, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import type { Database, Queryable } from "./database.ts";
import { lockFolder } from "./folder-lock.ts";
import { encodeParameters } from "./parameters.ts";
import { PLANNER_SETTINGS } from "./planner.ts";
import { readSnapshot } from "./snapshot.ts";

/** Where the embedded engine lives below the data folder. */
const ENGINE_FOLDER = "engine";

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

function queryable(connection: Pick<PGlite, "query">): Queryable {
  return {
    async query<Row>(sql: string, parameters: readonly unknown[] = []) {
      return (await connection.query<Row>(sql, encodeParameters(parameters))).rows;
    },
  };
}

/**
 * Opens the embedded engine: PostgreSQL as WebAssembly, in this process, on one connection.
 *
 * It never calls fsync: what it acknowledged survives a killed process, not a power cut.
 *
 * @param dataDir a folder, made where it is missing, or `memory:` to keep nothing.
 * @throws FolderInUse when another process has the folder.
 */
export async function openEmbedded(dataDir: string): Promise<Database> {
  if (dataDir === "memory:") return database(await openNew("memory://"), async () => {});
  await mkdir(dataDir, { recursive: true });
  const lock = await lockFolder(dataDir);
  try {
    const folder = join(dataDir, ENGINE_FOLDER);
    if (!(await exists(folder))) await makeFolder(folder);
    return await database(await PGlite.create(folder), lock.release);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Makes the folder aside and renames it when it is whole, so that a killed start leaves no half. */
async function makeFolder(folder: string): Promise<void> {
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await (await openNew(unfinished)).close();
  await rename(unfinished, folder);
}

/** From the snapshot where there is one: that takes a fifth of the time. */
async function openNew(dataDir: string): Promise<PGlite> {
  const snapshot = await readSnapshot();
  return PGlite.create({ dataDir, ...(snapshot && { loadDataDir: snapshot }) });
}

/** The embedded engine as a database; `release` runs when it is closed. */
export async function database(pglite: PGlite, release: () => Promise<void>): Promise<Database> {
  for (const [name, value] of Object.entries(PLANNER_SETTINGS)) {
    await pglite.exec(`set ${name} = ${value}`);
  }
  return {
    engine: "embedded",
    concurrency: 1,
    ...queryable(pglite),
    transaction: (work) =>
      pglite.transaction((tx) =>
        work({ ...queryable(tx), script: async (sql) => void (await tx.exec(sql)) }),
      ),
    close: async () => {
      await pglite.close();
      await release();
    },
  };
}
