import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { MemoryFS, PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";
import { makeTreePrivate, ownerOnly } from "../../base/private-folder.ts";
import { setPlanner } from "../planner.ts";
import { type EngineCode, engineCode } from "./engine-code.ts";
import { explainOpen } from "./explain-open.ts";
import { readSnapshot, type SnapshotEntry, unpackSnapshot } from "./snapshot.ts";

type Options = Parameters<NodeFS["init"]>[1];

type PreRun = NonNullable<Options["preRun"]>[number];

/** The part of Emscripten's NODEFS that sets modes. */
interface ModeOperations {
  readonly node_ops: {
    mknod(parent: unknown, name: string, mode: number, device: number): unknown;
    setattr(node: unknown, attributes: { mode?: number }): void;
  };
  readonly stream_ops: { setattr(stream: unknown, attributes: { mode?: number }): void };
}

/**
 * The engine's files in a folder, accessible to their owner only. Emscripten has its own umask
 * (022) and, when it unpacks a snapshot, sets mode 0666 and ignores the umask: so every mode is
 * masked before it reaches the real file system.
 */
class PrivateNodeFS extends NodeFS {
  override async init(engine: PGlite, options: Options) {
    const { emscriptenOpts } = await super.init(engine, options);
    const preRun = [maskModes as unknown as PreRun, ...(emscriptenOpts.preRun ?? [])];
    return { emscriptenOpts: { ...emscriptenOpts, preRun } };
  }
}

function maskModes({ NODEFS }: { NODEFS: ModeOperations }): void {
  const { node_ops, stream_ops } = NODEFS;
  const { mknod } = node_ops;
  node_ops.mknod = (parent, name, mode, device) => mknod(parent, name, ownerOnly(mode), device);
  for (const operations of [node_ops, stream_ops]) {
    const { setattr } = operations;
    operations.setattr = (target: unknown, attributes: { mode?: number }) =>
      setattr(
        target,
        attributes.mode === undefined
          ? attributes
          : { ...attributes, mode: ownerOnly(attributes.mode) },
      );
  }
}

/** The part of Emscripten's file system that takes over bytes instead of copying them. */
interface OwningFiles {
  writeFile(path: string, bytes: Uint8Array, options: { canOwn: boolean }): void;
}

/** The engine's files in memory, at first the files of a snapshot. */
class SnapshotMemoryFS extends MemoryFS {
  readonly #entries: readonly SnapshotEntry[];

  constructor(entries: readonly SnapshotEntry[]) {
    super();
    this.#entries = entries;
  }

  override async initialSyncFs(): Promise<void> {
    const FS = (this.pg as PGlite).Module.FS;
    FS.mkdirTree(PGlite.paths.PGDATA);
    for (const { path, size, stored, bytes } of this.#entries) {
      const target = `${PGlite.paths.PGDATA}/${path}`;
      if (size === undefined) FS.mkdir(target);
      else {
        (FS as unknown as OwningFiles).writeFile(target, bytes, { canOwn: true });
        if (stored !== size) FS.truncate(target, size);
      }
    }
  }
}

/**
 * Opens PGlite: PostgreSQL as WebAssembly. It never calls fsync: acknowledged writes survive a killed
 * process, but not a power failure.
 *
 * @param folder created if missing, accessible only to its owner; or `memory:` to store nothing on
 *   disk.
 * @param code given to a thread, which cannot use the code that this process has compiled.
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

/**
 * From the snapshot, if there is one: without it the engine takes ten times as long to create a
 * database.
 */
async function createFolder(folder: string, code: EngineCode): Promise<void> {
  const snapshot = await readSnapshot();
  if (snapshot) unpackSnapshot(snapshot, folder);
  else await (await open(new PrivateNodeFS(folder), code)).close();
}

/**
 * The engine clears its buffers when it starts: the usual 128 MB take a third of a start, and 120 MB of memory. In memory
 * they are copies of pages that are in memory already; with fewer, reads of more data than fits take 5 % longer.
 */
const FEW_BUFFERS = ["-c", "shared_buffers=16MB"];

async function openMemory(code: EngineCode): Promise<PGlite> {
  const snapshot = await readSnapshot();
  return open(snapshot ? new SnapshotMemoryFS(snapshot) : new MemoryFS(), code, FEW_BUFFERS);
}

const open = (
  fs: PrivateNodeFS | MemoryFS,
  code: EngineCode,
  settings: readonly string[] = [],
): Promise<PGlite> =>
  PGlite.create({
    fs,
    pgliteWasmModule: code,
    startParams: [...PGlite.defaultStartParams, ...settings],
  });
