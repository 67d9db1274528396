import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { MemoryFS, PGlite } from "@electric-sql/pglite";
import { setPlanner } from "../planner.ts";
import { type EngineCode, engineCode } from "./engine-code.ts";
import { explainOpen } from "./explain-open.ts";
import { SnapshotMemoryFS } from "./memory-fs.ts";
import { makeTreePrivate } from "./private-folder.ts";
import { PrivateNodeFS } from "./private-node-fs.ts";
import { readSnapshot, unpackSnapshot } from "./snapshot.ts";

/**
 * Opens PGlite: PostgreSQL as WebAssembly. It never calls fsync: acknowledged writes survive a killed
 * process, but not a power failure.
 *
 * @param folder created if missing, accessible only to its owner; or `memory:` to store nothing on
 *   disk.
 * @param code given to a thread, which cannot see the one that this process has compiled.
 */
export async function openEngine(folder: string, code?: EngineCode): Promise<PGlite> {
  code ??= await engineCode();
  const engine = folder === "memory:" ? await openMemory(code) : await openFolder(folder, code);
  await engine.exec(setPlanner("intake", "session"));
  return engine;
}

/** A new folder is built under another name and renamed when complete: a killed start leaves no half. */
async function openFolder(folder: string, code: EngineCode): Promise<PGlite> {
  if (!existsSync(folder)) {
    const unfinished = `${folder}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await createFolder(unfinished, code).catch(async (error) => {
      throw await explainOpen(unfinished, error);
    });
    await rename(unfinished, folder);
  }
  try {
    makeTreePrivate(folder);
    return await open(new PrivateNodeFS(folder), code);
  } catch (error) {
    throw await explainOpen(folder, error);
  }
}

/** From the snapshot where there is one: without it, the engine creates a database in ten times the time. */
async function createFolder(folder: string, code: EngineCode): Promise<void> {
  const snapshot = await readSnapshot();
  if (snapshot) unpackSnapshot(snapshot, folder);
  else await (await open(new PrivateNodeFS(folder), code)).close();
}

async function openMemory(code: EngineCode): Promise<PGlite> {
  const snapshot = await readSnapshot();
  return open(snapshot ? new SnapshotMemoryFS(snapshot) : new MemoryFS(), code);
}

const open = (fs: PrivateNodeFS | MemoryFS, code: EngineCode): Promise<PGlite> =>
  PGlite.create({ fs, pgliteWasmModule: code });
