import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { engineCode } from "./engine-code.ts";
import type { Connection } from "./one-connection.ts";
import type { ThreadAnswer, ThreadData, ThreadRequest } from "./pglite-thread.ts";

/** An engine on its own thread. */
export interface EngineThread extends Connection {
  /** Resolves with the cause once the engine has failed for good; its thread has ended by then. */
  readonly failed: Promise<Error>;
}

/** An error of the engine, with its SQLSTATE. */
export class EngineError extends Error {
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

/** The time for a checkpoint at the end; an engine that takes longer recovers at its next start. */
const CLOSE_WITHIN_MS = 30_000;

/**
 * Starts the engine's thread; resolves when the engine is open. An engine that panics goes on in an endless loop, so
 * its thread is ended then.
 */
export async function startThread(folder: string): Promise<EngineThread> {
  const file = new URL(`./pglite-thread${extname(import.meta.url)}`, import.meta.url);
  const workerData: ThreadData = { folder, code: await engineCode() };
  const thread = new Worker(file, { workerData });
  const pending = new Map<number, (answer: ThreadAnswer) => void>();
  let lastId = 0;
  let hasEnded = false;
  let tellFailed: (cause: Error) => void = () => {};
  const failed = new Promise<Error>((resolve) => {
    tellFailed = resolve;
  });

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
    tellFailed(new EngineError(error));
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
    if (!answer.error?.isFatal) return;
    tellFailed(new EngineError(answer.error));
    failAll(GONE);
    void thread.terminate();
  });
  thread.on("error", (error) => failAll({ message: error.message, code: GONE.code }));
  thread.on("exit", () => failAll(GONE));
  await answered(0);

  return {
    failed,
    run: (statements, as) => send({ kind: "run", statements, as }),
    script: async (sql) => void (await send({ kind: "script", sql })),
    async close() {
      const timer = setTimeout(() => void thread.terminate(), CLOSE_WITHIN_MS).unref();
      await send({ kind: "close" }).finally(() => clearTimeout(timer));
    },
  };
}
