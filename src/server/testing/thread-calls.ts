import type { MessagePort } from "node:worker_threads";

/* The messages between a test and the thread of its Rapport. */

/** The options of the thread. */
export interface ThreadOptions {
  readonly manifest: object | string;
  readonly engine: string;
  readonly settings: Readonly<Record<string, string>>;
  /** Milliseconds since 1970; undefined for the time of this machine. */
  readonly now: number | undefined;
}

/** The calls of the test. `requests` is answered while the test waits: through a port, with a signal. */
export type ThreadCall =
  | { readonly id: number; readonly call: "users"; readonly input: object }
  | { readonly id: number; readonly call: "captured"; readonly input: string | undefined }
  | { readonly id: number; readonly call: "setNow"; readonly input: number }
  | { readonly id: number; readonly call: "reset" | "stop" }
  | { readonly call: "requests"; readonly port: MessagePort; readonly answered: Int32Array };

/** The first message has no id: the started server, or the reason it did not start. */
export interface ThreadAnswer {
  readonly id?: number;
  readonly result?: unknown;
  /** The sentence of an error. */
  readonly error?: string;
}

/** The started server. */
export interface Started {
  readonly url: string;
  readonly workspace: string;
  readonly key: string;
  readonly adminToken: string;
}
