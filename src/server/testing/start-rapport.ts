import { fileURLToPath } from "node:url";
import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { Started, ThreadAnswer } from "./thread-calls.ts";

/*
 * Rapport inside a test: `import { startRapport } from "rapport-server"`. The server runs in a thread (rapport-thread.ts),
 * and this side of it uses no timer, so that a test may freeze them. The exported types need nothing of the program.
 */

/** A test's options for the Rapport that it starts. */
export interface StartOptions {
  /** A manifest as an object, or the path of a file (YAML or JSON). A workspace `test` without one. */
  readonly manifest?: object | string;
  /** `memory` (the default), or the URL of a PostgreSQL database that the tests own. */
  readonly engine?: "memory" | `postgres://${string}` | `postgresql://${string}`;
  /** Settings by their names in the environment, such as `{ LOG_LEVEL: "info" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * The time that Rapport starts at, and goes on from. By default the clock of this machine, even
   * if a test has frozen its own.
   */
  readonly now?: Date | string | number;
}

/** A received request, in the order of the responses. */
export interface ReceivedRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** The parsed body; undefined if there was none. */
  readonly body: unknown;
  readonly status: number;
  /** The workspace of the caller's key. */
  readonly workspace: string | undefined;
}

/** A public call that Rapport does not serve, in a workspace with `capture_unsupported: true`. */
export interface CapturedCall {
  /** The number of the call in its workspace, from 1. */
  readonly position: number;
  readonly captured_at: string;
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects here
  readonly body: Readonly<Record<string, any>> | null;
  readonly status: number;
  /** The response. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly response: Readonly<Record<string, any>>;
  /** The name of the key. */
  readonly api_key: string | null;
  readonly request_id: string;
}

/** A profile as `POST /users/export/ids` shows it. */
export interface ExportedUser {
  readonly external_id: string | null;
  readonly email: string | null;
  readonly custom_attributes: Readonly<Record<string, unknown>>;
  readonly custom_events: readonly {
    readonly name: string;
    readonly count: number;
    readonly first: string;
    readonly last: string;
  }[];
  readonly [field: string]: unknown;
}

export interface StartedRapport {
  /** The address of the server: `http://127.0.0.1:<a free port>`. */
  readonly url: string;
  /** The first workspace of the manifest. */
  readonly workspace: string;
  /** An API key of that workspace, with every permission. */
  readonly key: string;
  readonly adminToken: string;
  /**
   * Requests since the start or the last reset, at most the last 10,000, without those that these
   * methods send.
   */
  readonly requests: readonly ReceivedRequest[];
  /** The users with these external ids, or those named by a body of `POST /users/export/ids`. */
  users(
    wanted: string | readonly string[] | Readonly<Record<string, unknown>>,
  ): Promise<ExportedUser[]>;
  /** The captured calls of a path and the paths below it (of all without one), newest first. */
  captured(path?: string): Promise<CapturedCall[]>;
  /** Sets Rapport's time, which goes on from there: `setNow("2026-03-01")`. It may go back as well. */
  setNow(time: Date | string | number): Promise<void>;
  /** Deletes user data and captured calls, which needs `allow_reset: true`, and forgets the requests. */
  reset(): Promise<void>;
  /** Completes in-flight requests and releases everything. */
  stop(): Promise<void>;
}

const DEFAULT_MANIFEST = {
  company: { name: "Test" },
  workspaces: [{ name: "test", allow_reset: true }],
};

/** How long the thread may take to return its received requests. */
const REQUESTS_TIMEOUT_MS = 30_000;

/**
 * Starts Rapport in a thread of this process, on a free port.
 *
 * @throws if the manifest is not valid, with the place and the rule.
 */
export async function startRapport(options: StartOptions = {}): Promise<StartedRapport> {
  const { manifest = DEFAULT_MANIFEST, engine = "memory", settings = {}, now } = options;
  const workerData = { manifest, engine, settings, now: now === undefined ? now : msOf(now) };
  const file = fileURLToPath(new URL("./rapport-thread.js", import.meta.url));
  const thread = new Worker(file, { workerData, execArgv: [] });
  const { started, ask } = await startedIn(thread);
  let requestsAtStop: readonly ReceivedRequest[] | undefined;
  return {
    ...started,
    get requests() {
      return requestsAtStop ?? readRequests(thread);
    },
    users: (wanted) => ask("users", bodyOf(wanted)) as Promise<ExportedUser[]>,
    captured: (path) => ask("captured", path) as Promise<CapturedCall[]>,
    async setNow(time) {
      await ask("setNow", msOf(time));
    },
    async reset() {
      await ask("reset");
    },
    async stop() {
      if (requestsAtStop) return;
      requestsAtStop = readRequests(thread);
      await ask("stop");
      await thread.terminate();
    },
  };
}

/**
 * Waits until the server of a thread is ready. Returns the address, and a way to ask the thread.
 */
async function startedIn(thread: Worker) {
  const waiting = new Map<number | undefined, (answer: ThreadAnswer) => void>();
  let ended: string | undefined;
  thread.on("message", (answer: ThreadAnswer) => {
    const settle = waiting.get(answer.id);
    waiting.delete(answer.id);
    settle?.(answer);
  });
  const end = (reason: string) => {
    ended ??= reason;
    for (const settle of waiting.values()) settle({ error: ended });
    waiting.clear();
  };
  thread.on("error", (error) => end(`Rapport ended: ${error}`));
  thread.on("exit", () => end("Rapport has stopped."));

  const answerTo = async (id: number | undefined): Promise<unknown> => {
    const { error, result } = await new Promise<ThreadAnswer>((resolve) => {
      if (ended === undefined) waiting.set(id, resolve);
      else resolve({ error: ended });
    });
    if (error !== undefined) throw new Error(error);
    return result;
  };
  let lastId = 0;
  const ask = (call: string, input?: unknown): Promise<unknown> => {
    const id = ++lastId;
    const answer = answerTo(id);
    thread.postMessage({ id, call, input });
    return answer;
  };
  try {
    return { started: (await answerTo(undefined)) as Started, ask };
  } catch (error) {
    await thread.terminate();
    throw error;
  }
}

/** The requests that the thread received. Waits for them, because a test reads them as a value, after the response. */
function readRequests(thread: Worker): ReceivedRequest[] {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const { port1, port2 } = new MessageChannel();
  thread.postMessage({ call: "requests", port: port2, answered }, [port2]);
  const outcome = Atomics.wait(answered, 0, 0, REQUESTS_TIMEOUT_MS);
  const received = receiveMessageOnPort(port1);
  port1.close();
  if (outcome === "timed-out" || !received) throw new Error("Rapport does not respond.");
  return received.message;
}

function msOf(time: Date | string | number): number {
  const ms = new Date(time).getTime();
  if (Number.isNaN(ms)) throw new Error(`'now' is not a time: ${time}`);
  return ms;
}

function bodyOf(wanted: Parameters<StartedRapport["users"]>[0]): object {
  if (typeof wanted === "string") return { external_ids: [wanted] };
  return Array.isArray(wanted) ? { external_ids: wanted } : (wanted as object);
}
