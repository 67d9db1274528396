import { parentPort, workerData } from "node:worker_threads";
import { openEngine } from "./pglite-engine.ts";

/*
 * The thread that the embedded engine runs on: a statement holds its thread while it runs, and this
 * one has nothing else to do. It takes statements in their order and answers each.
 */

/** One thing to do. `script` has no parameters and may hold several statements. */
export interface ThreadRequest {
  readonly id: number;
  readonly kind: "query" | "execute" | "script" | "close";
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

export interface ThreadAnswer {
  readonly id: number;
  readonly rows?: unknown[];
  /** How many rows were written. */
  readonly count?: number;
  /** An engine's error with its SQLSTATE. */
  readonly error?: { readonly message: string; readonly code: string | undefined };
}

/**
 * The engine's client reads each text with a decoder of its own, and a decoder takes U+FEFF at the
 * beginning for a mark of the encoding and drops it. Here it is a character like any other.
 */
globalThis.TextDecoder = class extends TextDecoder {
  constructor(label?: string, options?: ConstructorParameters<typeof TextDecoder>[1]) {
    super(label, { ignoreBOM: true, ...options });
  }
};

const engine = await openEngine(workerData as string);

parentPort?.on("message", async ({ id, kind, sql, parameters }: ThreadRequest) => {
  const answer = (rest: Omit<ThreadAnswer, "id">) => parentPort?.postMessage({ id, ...rest });
  try {
    if (kind === "close") await engine.close();
    if (kind === "script") await engine.exec(sql);
    if (kind === "query") answer({ rows: (await engine.query(sql, [...parameters])).rows });
    else if (kind === "execute") {
      answer({ count: (await engine.query(sql, [...parameters])).affectedRows ?? 0 });
    } else answer({});
    if (kind === "close") parentPort?.close();
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    answer({ error: { message, code } });
  }
});

// Statements sent before the engine was open have waited.
parentPort?.postMessage({ id: 0, rows: [] } satisfies ThreadAnswer);
