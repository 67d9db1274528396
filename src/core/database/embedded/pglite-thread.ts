import { parentPort, workerData } from "node:worker_threads";
import type { EngineCode } from "./engine-code.ts";
import type { Statement } from "./one-connection.ts";
import { openEngine } from "./pglite-engine.ts";
import { createStatementRunner, isFatal } from "./pglite-statements.ts";

/*
 * The thread of the embedded engine: a statement blocks its thread while it runs, and this thread
 * does nothing else. It runs statements in order and returns the result of each.
 */

/** The options of a thread. */
export interface ThreadData {
  readonly folder: string;
  readonly code: EngineCode;
}

/** One thing to do. */
export type ThreadRequest = { readonly id: number } & (
  | {
      readonly kind: "run";
      readonly statements: readonly Statement[];
      readonly as: "transaction" | "part";
    }
  /** Several statements without parameters. */
  | { readonly kind: "script"; readonly sql: string }
  | { readonly kind: "close" }
);

export interface ThreadAnswer {
  readonly id: number;
  /** For each statement its rows, or how many it wrote. */
  readonly results?: unknown[];
  /** An engine's error with its SQLSTATE. */
  readonly error?: {
    readonly message: string;
    readonly code: string | undefined;
    /** Whether the engine can do nothing more. */
    readonly isFatal?: boolean;
  };
}

const { folder, code } = workerData as ThreadData;
const engine = await openEngine(folder, code);
const statements = createStatementRunner(engine);

async function carryOut(request: ThreadRequest): Promise<unknown[]> {
  if (request.kind === "close") await engine.close();
  else if (request.kind === "script") await statements.script(request.sql);
  else return statements.run(request.statements, request.as);
  return [];
}

async function answer(request: ThreadRequest): Promise<void> {
  const tell = (rest: Omit<ThreadAnswer, "id">) =>
    parentPort?.postMessage({ id: request.id, ...rest });
  try {
    tell({ results: await carryOut(request) });
    if (request.kind === "close") parentPort?.close();
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    tell({ error: { message, code, isFatal: isFatal(error) } });
  }
}

let last = Promise.resolve();
parentPort?.on("message", (request: ThreadRequest) => {
  last = last.then(() => answer(request));
});

// Statements sent before the engine was open have waited.
parentPort?.postMessage({ id: 0 } satisfies ThreadAnswer);
