import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { engineCode } from "./engine-code.ts";
import type { Connection } from "./one-connection.ts";
import type { ThreadAnswer, ThreadData, ThreadRequest } from "./pglite-thread.ts";

/** An engine on its own thread. */
export type EngineThread = Awaited<ReturnType<typeof startThread>>;

interface Failure {
  readonly message: string;
  readonly code: string | undefined;
}

/** An error of the engine, with its SQLSTATE. */
export class EngineError extends Error {
  readonly code: string | undefined;
  /** Whether the engine failed while it ran this statement. */
  readonly wasRunning: boolean;

  constructor({ message, code }: Failure, wasRunning = false) {
    super(message);
    this.name = "EngineError";
    this.code = code;
    this.wasRunning = wasRunning;
  }
}

/** A call to the thread. */
interface Pending {
  readonly session: object;
  resolve(answer: ThreadAnswer): void;
  reject(error: unknown): void;
}

/** A request before it has a number. */
type Asked = ThreadRequest extends infer One
  ? One extends unknown
    ? Omit<One, "id">
    : never
  : never;

const GONE = { message: "The embedded engine has ended.", code: "57P01" };

/** The SQLSTATE of a statement with which the engine failed: the caller may try again. */
const CRASHED = "57P02";

/** SQLSTATEs of an engine that ends because it cannot write its files: no statement's fault. */
const OF_THE_DISK = /^(53100|42501|58030|58P01)$/;

/** The time for a checkpoint at the end; an engine that takes longer recovers at its next start. */
const CLOSE_WITHIN_MS = 30_000;

/**
 * Starts the engine's thread; resolves when the engine is open. An engine that panics goes on in an endless loop, so
 * its thread is ended then.
 */
export async function startThread(folder: string) {
  const file = new URL(`./pglite-thread${extname(import.meta.url)}`, import.meta.url);
  const workerData: ThreadData = { folder, code: await engineCode() };
  const thread = new Worker(file, { workerData });
  /** The calls without an answer, in the order in which the thread works on them. */
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let hasEnded = false;
  let tellFailed: (cause: Error) => void = () => {};
  const failed = new Promise<Error>((resolve) => {
    tellFailed = resolve;
  });
  const ended = new Promise<void>((resolve) => thread.once("exit", () => resolve()));

  const answered = (id: number, session: object) =>
    new Promise<ThreadAnswer>((resolve, reject) => {
      pending.set(id, { session, resolve, reject });
      if (hasEnded) fail(GONE);
    });

  /** Fails what is pending. The thread was working on the first of it. */
  function fail({ message, code }: Failure): void {
    const [running, ...others] = pending.values();
    pending.clear();
    if (hasEnded) running?.reject(new EngineError(GONE));
    else {
      hasEnded = true;
      const isDisk = code !== undefined && OF_THE_DISK.test(code);
      const cause = new EngineError({ message, code: isDisk ? code : CRASHED }, !isDisk);
      running?.reject(cause);
      tellFailed(cause);
      void thread.terminate();
    }
    for (const { reject } of others) reject(new EngineError(GONE));
  }

  async function send(session: object, request: Asked): Promise<unknown[]> {
    const id = ++lastId;
    const answer = answered(id, session);
    thread.postMessage({ id, ...request });
    return (await answer).results ?? [];
  }

  thread.on("message", (answer: ThreadAnswer) => {
    const { error } = answer;
    if (error?.isFatal) return fail(error);
    const asked = pending.get(answer.id);
    pending.delete(answer.id);
    if (error) asked?.reject(new EngineError(error));
    else asked?.resolve(answer);
  });
  thread.on("error", ({ message }) => fail({ message, code: undefined }));
  thread.on("exit", () => fail(GONE));
  await answered(0, thread);

  return {
    /** Resolves with the cause as soon as the engine has failed for good. */
    failed,
    /** Resolves when its thread has ended: no other engine may use its folder before. */
    ended,
    /** @param session who asks: see `running`. */
    run: (session: object, ...[statements, as]: Parameters<Connection["run"]>) =>
      send(session, { kind: "run", statements, as }),
    script: async (session: object, sql: string) =>
      void (await send(session, { kind: "script", sql })),
    /** The call that the engine is working on: the first one without an answer. */
    running() {
      const [first] = pending;
      return first && { id: first[0], session: first[1].session };
    },
    /** Ends the engine at once, as if it had failed. */
    kill: (message: string) => fail({ message, code: undefined }),
    async close() {
      const timer = setTimeout(() => void thread.terminate(), CLOSE_WITHIN_MS).unref();
      await send(thread, { kind: "close" }).finally(() => clearTimeout(timer));
    },
  };
}

/** The engine as a connection, without a second one after it. */
export const connectionOf = (engine: EngineThread): Connection => ({
  run: (...what) => engine.run(engine, ...what),
  script: (sql) => engine.script(engine, sql),
  close: engine.close,
});
