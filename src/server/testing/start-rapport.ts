import { randomBytes } from "node:crypto";
import type { Config } from "../config.ts";

/*
 * Rapport inside a test: `import { startRapport } from "rapport-server"`. The program itself is loaded when it starts, so
 * that this file's types need nothing of it.
 */

/** What a test says about the Rapport that it starts. */
export interface StartOptions {
  /** A manifest as an object, or the path of a file (YAML or JSON). A workspace `test` without one. */
  readonly manifest?: object | string;
  /** `memory` (the default), or the URL of a PostgreSQL database that the tests own. */
  readonly engine?: "memory" | `postgres://${string}` | `postgresql://${string}`;
  /** Settings by their names in the environment, such as `{ LOG_LEVEL: "info" }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A request that came in, in the order of the responses. */
export interface ReceivedRequest {
  readonly method: string;
  /** Without the query. */
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
  /** What it got. */
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
  readonly custom_events: readonly { readonly name: string; readonly count: number }[];
  readonly [field: string]: unknown;
}

export interface StartedRapport {
  /** Where it listens: `http://127.0.0.1:<a free port>`. */
  readonly url: string;
  /** The first workspace of the manifest. */
  readonly workspace: string;
  /** An API key of that workspace, with every permission. */
  readonly key: string;
  readonly adminToken: string;
  /** What was received since the start or the last reset, at most the last 10,000; not what these methods send. */
  readonly requests: readonly ReceivedRequest[];
  /** The users with these external ids, or those that a body of `POST /users/export/ids` names. */
  users(
    wanted: string | readonly string[] | Readonly<Record<string, unknown>>,
  ): Promise<ExportedUser[]>;
  /** What was captured of a path and those below it (of all without one), newest first. */
  captured(path?: string): Promise<CapturedCall[]>;
  /** Deletes user data and captured calls, which needs `allow_reset: true`, and forgets the requests. */
  reset(): Promise<void>;
  /** Ends what is in flight and releases everything. */
  stop(): Promise<void>;
}

const WORKSPACE = "test";

const DEFAULT_MANIFEST = {
  company: { name: "Test" },
  workspaces: [{ name: WORKSPACE, allow_reset: true }],
};

const MOST_REQUESTS = 10_000;

/** Marks what these methods send, so that a test sees its own requests alone. */
const OWN_REQUEST = "start-rapport";

/**
 * Starts Rapport in this process, on a free port.
 *
 * @throws if the manifest is not valid, with the place and the rule.
 */
export async function startRapport(options: StartOptions = {}): Promise<StartedRapport> {
  const { readConfig } = await import("../config.ts");
  const { openDatabase } = await import("../open-database.ts");
  const { manifest = DEFAULT_MANIFEST } = options;
  const requests: ReceivedRequest[] = [];
  const config = readConfig(environmentOf(options));
  // The engine opens on its thread while the server is loaded.
  const opening = openDatabase(config);
  opening.catch(() => {});
  const { serve } = await import("../serve.ts");
  const observed: Config = {
    ...config,
    onReceived({ id, ...received }) {
      if (id.startsWith(OWN_REQUEST)) return;
      if (requests.length >= MOST_REQUESTS) requests.shift();
      requests.push(received);
    },
  };
  const server = await serve(observed, undefined, opening);
  const { url } = server.welcome;
  const adminToken = server.welcome.adminToken.secret as string;
  const send = (method: string, path: string, token: string, body?: unknown) =>
    sendOwn(url, method, path, token, body);
  try {
    if (typeof manifest === "object") await send("POST", "/admin/v1/apply", adminToken, manifest);
    const workspace = await findWorkspace(manifest, () =>
      send("GET", "/admin/v1/workspaces", adminToken),
    );
    const ofWorkspace = `/admin/v1/workspaces/${encodeURIComponent(workspace)}`;
    const { key } = (await send("POST", `${ofWorkspace}/api-keys`, adminToken, {
      name: `start-rapport-${randomBytes(6).toString("hex")}`,
      permissions: ["all"],
    })) as { key: string };
    return {
      url,
      workspace,
      key,
      adminToken,
      requests,
      async users(wanted) {
        const body = bodyOf(wanted);
        const answer = await send("POST", "/users/export/ids", key, body);
        return (answer as { users: ExportedUser[] }).users;
      },
      captured: (path) =>
        readCaptured((query) => send("GET", ofWorkspace + query, adminToken), path),
      async reset() {
        await send("POST", `${ofWorkspace}/reset`, adminToken);
        requests.length = 0;
      },
      stop: () => server.stop(),
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const environmentOf = ({ manifest, engine = "memory", settings }: StartOptions) => ({
  PORT: "0",
  DATA_DIR: "memory:",
  LOG_LEVEL: "silent",
  DEMO: "false",
  ADMIN_TOKEN: randomBytes(18).toString("base64url"),
  // The same at every start, so that a later one reads what an earlier one sealed in the tests' database.
  SECRET_KEY: "the-secret-key-of-every-start-in-tests",
  // A test shares the event loop with Rapport and may block it.
  MAX_EVENT_LOOP_DELAY: "3600",
  WEB_CONCURRENCY: "1",
  ...(engine !== "memory" && { DATABASE_URL: engine }),
  ...(typeof manifest === "string" && { MANIFEST: manifest }),
  ...settings,
});

/** The first that the manifest declares; of a file, the first that there is. */
async function findWorkspace(
  manifest: object | string,
  readWorkspaces: () => Promise<unknown>,
): Promise<string> {
  const source = typeof manifest === "string" ? await readWorkspaces() : manifest;
  const [first] = (source as { workspaces?: { name: string }[] }).workspaces ?? [];
  if (!first) throw new Error("The manifest declares no workspace.");
  return first.name;
}

/** All pages of a list. */
async function readCaptured(
  read: (pathAndQuery: string) => Promise<unknown>,
  path: string | undefined,
): Promise<CapturedCall[]> {
  const calls: CapturedCall[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
    const query = new URLSearchParams({ limit: "1000" });
    if (path !== undefined) query.set("path", path);
    if (cursor !== undefined) query.set("cursor", cursor);
    const page = (await read(`/captured?${query}`)) as {
      captured: CapturedCall[];
      next_cursor?: string;
    };
    calls.push(...page.captured);
    cursor = page.next_cursor;
  }
  return calls;
}

function bodyOf(wanted: Parameters<StartedRapport["users"]>[0]): object {
  if (typeof wanted === "string") return { external_ids: [wanted] };
  return Array.isArray(wanted) ? { external_ids: wanted } : (wanted as object);
}

/** @throws Error with the sentence of a refusal. */
async function sendOwn(
  url: string,
  method: string,
  path: string,
  token: string,
  body: unknown,
): Promise<unknown> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "x-request-id": `${OWN_REQUEST}.${randomBytes(6).toString("hex")}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { message: string };
  if (response.ok) return answer;
  throw new Error(`${method} ${path}: ${answer.message}`);
}
