import { constants } from "node:fs";
import { cp } from "node:fs/promises";
import { extname, join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Database } from "../database.ts";
import { writeCheckpoints } from "./checkpoints.ts";
import { engineCode } from "./engine-code.ts";
import { lockFolder } from "./folder-lock.ts";
import { type Connection, databaseOf, type SerializedDatabase } from "./one-connection.ts";
import type { ThreadAnswer, ThreadData, ThreadRequest } from "./pglite-thread.ts";
import { createPrivateFolder } from "./private-folder.ts";

/** Where the embedded engine lives below the data folder. */
export const ENGINE_FOLDER = "engine";

/**
 * Opens the embedded engine on its own thread, so that HTTP requests are served while a statement
 * runs.
 *
 * @param dataDir a folder, created if missing and closed to other users; or `memory:` to store
 *   nothing on disk.
 * @throws FolderInUse when another process has the folder.
 */
export async function openEmbedded(dataDir: string): Promise<Database> {
  if (dataDir === "memory:") return withCheckpoints(await startThread(dataDir));
  await createPrivateFolder(dataDir);
  const lock = await lockFolder(dataDir);
  try {
    const folder = join(dataDir, ENGINE_FOLDER);
    const connection = await startThread(folder);
    const database = withCheckpoints(connection);
    return {
      ...database,
      copyTo: (target) =>
        database.alone(async () => {
          await connection.script("checkpoint");
          await createPrivateFolder(target);
          const mode = constants.COPYFILE_FICLONE;
          await cp(folder, join(target, ENGINE_FOLDER), { recursive: true, mode });
        }),
      close: () => database.close().finally(lock.release),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function withCheckpoints(connection: Connection): SerializedDatabase {
  const database = databaseOf(connection);
  const endCheckpoints = writeCheckpoints(database, connection);
  return {
    ...database,
    close() {
      endCheckpoints();
      return database.close();
    },
  };
}

/** An error of the engine, with its SQLSTATE. */
class EngineError extends Error {
  readonly code: string | undefined;

  constructor({ message, code }: { message: string; code: string | undefined }) {
    super(message);
    this.name = "EngineError";
    this.code = code;
  }
}

/** A request before it has a number. */
type Asked = ThreadRequest extends infer One
  ? One extends unknown
    ? Omit<One, "id">
    : never
  : never;

const GONE = { message: "The embedded engine has ended.", code: "57P01" };

/** Starts the engine's thread; resolves when the engine is open. */
async function startThread(folder: string): Promise<Connection> {
  const file = new URL(`./pglite-thread${extname(import.meta.url)}`, import.meta.url);
  const workerData: ThreadData = { folder, code: await engineCode() };
  const thread = new Worker(file, { workerData });
  const pending = new Map<number, (answer: ThreadAnswer) => void>();
  let lastId = 0;
  let hasEnded = false;

  const answered = (id: number) =>
    new Promise<ThreadAnswer>((resolve, reject) => {
      pending.set(id, (answer) =>
        answer.error ? reject(new EngineError(answer.error)) : resolve(answer),
      );
      if (hasEnded) failAll(GONE);
    });

  function failAll(error: { message: string; code: string | undefined }): void {
    hasEnded = true;
    for (const [id, settle] of pending) settle({ id, error });
    pending.clear();
  }

  async function send(request: Asked): Promise<unknown[]> {
    const id = ++lastId;
    const answer = answered(id);
    thread.postMessage({ id, ...request });
    return (await answer).results ?? [];
  }

  thread.on("message", (answer: ThreadAnswer) => {
    const settle = pending.get(answer.id);
    pending.delete(answer.id);
    settle?.(answer);
  });
  thread.on("error", (error) => failAll({ message: error.message, code: GONE.code }));
  thread.on("exit", () => failAll(GONE));
  await answered(0);

  return {
    run: (statements, as) => send({ kind: "run", statements, as }),
    script: async (sql) => void (await send({ kind: "script", sql })),
    close: async () => void (await send({ kind: "close" })),
  };
}
