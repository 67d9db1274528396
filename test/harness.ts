/*
 * How tests talk to Rapport: over HTTP, to the real server, on a real engine.
 *
 * `startServer()` returns a server: on the embedded engine in memory or, if TEST_DATABASE_URL names
 * a PostgreSQL, in a fresh database there. Nothing below HTTP is replaced. All test files that run
 * in one process share it, and every test takes a separate workspace from `server.workspace()`:
 * leaks from one workspace into another therefore show.
 *
 * Workspaces share the company, the metrics, the audit list and the limits of the process. A file that
 * changes or counts those, or stops its server, calls `startOwnServer()`.
 *
 * Every answer is checked against the endpoint's own declaration: a status or a body that is not
 * declared fails the test that got it.
 */
import { after } from "node:test";
import type { DestinationStream } from "pino";
import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { request as sendHttp } from "undici";
import type { Database } from "../src/core/database/database.ts";
import { pathsOf } from "../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../src/server/assembled.ts";
import type { Config } from "../src/server/config.ts";
import { refusalsByStatus } from "../src/server/reference/refusals.ts";
import { type RunningServer, serve } from "../src/server/serve.ts";
import { closeEngines, type LastingDatabase, openPrepared, preparedConfig } from "./databases.ts";

export { shareEngines, TEST_SECRET_KEY, testConfig } from "./databases.ts";

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface CallOptions {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent unchanged instead of a JSON body. */
  readonly raw?: string | Uint8Array;
}

export interface TestWorkspace {
  readonly name: string;
  readonly key: string;
  /** Sends a request with the workspace's key. */
  call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    options?: CallOptions,
  ): Promise<Answer<Body>>;
  track(body: unknown, options?: CallOptions): Promise<Answer<TrackAnswer>>;
  /** The one exported profile that an identifier names. */
  profile(request: Record<string, unknown>): Promise<Record<string, any>>;
  profiles(request: Record<string, unknown>): Promise<Record<string, any>[]>;
}

export interface TrackAnswer {
  readonly message: string;
  readonly attributes_processed?: number;
  readonly events_processed?: number;
  readonly purchases_processed?: number;
  readonly errors?: readonly ItemNote[];
  readonly skipped?: readonly ItemNote[];
}

export interface ItemNote {
  readonly type?: string;
  readonly message: string;
  readonly code: string;
  readonly input_array: string;
  readonly index: number;
}

export interface TestServer {
  readonly url: string;
  readonly adminToken: string;
  readonly config: Config;
  /**
   * The server's database: for stored data that no endpoint shows, and for the changes of an
   * intruder.
   */
  readonly database: Database;
  /** Makes a workspace; `declared` is laid over what every test workspace has. */
  workspace(declared?: Record<string, unknown>): Promise<TestWorkspace>;
  /** Makes some workspaces with what every test workspace has. */
  workspaces(count: number): Promise<TestWorkspace[]>;
  /** Sends a request with the administrator's token. */
  admin(method: string, path: string, body?: unknown): Promise<Answer<any>>;
  send(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer<any>>;
  stop(): Promise<void>;
}

export const NEWSLETTER = "ed06e19a-51bb-4c4e-8a3d-9b4a7d3a1c20";
export const ALERTS = "1f6a0f0b-43d4-4b1c-8f43-5a3c6e0d7b9e";
export const WEB_APP = "7f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11";

/** The engine that the suite runs on. */
export const ENGINE = process.env.TEST_DATABASE_URL ? "postgres" : "embedded";

let shared: Promise<TestServer> | undefined;
let stopSharedServer: (() => Promise<void>) | undefined;

/** Returns the server that all test files of this process share; the first call starts it. */
export async function startServer(): Promise<TestServer> {
  shared ??= startOwnServer().then((server) => {
    stopSharedServer = server.stop;
    return { ...server, workspace: stockedWith(server), stop: refuseToStop };
  });
  return shared;
}

/** A plain workspace takes half as long if so many are declared at a time. */
const STOCK = 25;

/** Hands out plain workspaces from a stock. A server that only one file uses has none: it may count its workspaces. */
function stockedWith({ workspaces, workspace }: TestServer): TestServer["workspace"] {
  const stock: TestWorkspace[] = [];
  let filling: Promise<unknown> | undefined;
  return async (declared) => {
    if (declared) return workspace(declared);
    for (;;) {
      const next = stock.pop();
      if (next) return next;
      filling ??= workspaces(STOCK).then((made) => {
        stock.push(...made);
        filling = undefined;
      });
      await filling;
    }
  };
}

/** Stops what the files of a process share once the last of them has ended, so that the process can end. */
export async function stopShared(): Promise<void> {
  await stopSharedServer?.();
  await closeEngines();
}

async function refuseToStop(): Promise<never> {
  throw new Error("Other test files use this server: stop one from startOwnServer().");
}

/**
 * Starts a server that no other file uses and that stops when the file ends: for tests of the company,
 * of the process, and of starting and stopping.
 *
 * @param on a database that an earlier server of the test may have used.
 */
export async function startOwnServer(
  settings: Partial<Config> = {},
  logTo?: DestinationStream,
  on?: LastingDatabase,
): Promise<TestServer> {
  let running: RunningServer | undefined;
  const stop = async () => {
    const server = running;
    running = undefined;
    await server?.stop();
  };
  // Registered before the database is created, because hooks run in order: it is dropped then.
  after(stop);
  const config = await preparedConfig({ ...settings, ...on?.settings });
  const database = on?.forServer() ?? (await openPrepared(config));
  const server = await serve(config, logTo, Promise.resolve(database));
  running = server;
  return testServer(server, config, database, stop);
}

function testServer(
  server: RunningServer,
  config: Config,
  database: Database,
  stop: () => Promise<void>,
): TestServer {
  const send: TestServer["send"] = (method, path, body, options) =>
    request(server.welcome.url, method, path, body, options);
  const adminToken = server.welcome.adminToken.secret ?? "";
  const admin: TestServer["admin"] = (method, path, body) =>
    send(method, path, body, { key: adminToken });
  let last = 0;
  async function declare(count: number, declared: Record<string, unknown>) {
    const names = Array.from({ length: count }, () => `w${process.pid}-${++last}`);
    const answer = await admin("POST", "/admin/v1/apply", {
      company: { name: "Test" },
      workspaces: names.map((name) => ({ ...testWorkspace(name, keyOf(name)), ...declared })),
    });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    return names.map((name) => workspaceClient(send, name, keyOf(name)));
  }
  return {
    url: server.welcome.url,
    adminToken,
    config,
    database,
    send,
    admin,
    stop,
    workspaces: (count) => declare(count, {}),
    async workspace(declared = {}) {
      const [made] = await declare(1, declared);
      return made as TestWorkspace;
    },
  };
}

const keyOf = (workspace: string): string => `key-of-${workspace}`;

const testWorkspace = (name: string, key: string) => ({
  name,
  allow_reset: true,
  api_keys: [{ name: "test", key, permissions: ["all"] }],
  settings: { rate_limits: { "users.track": "off" } },
  apps: [{ id: WEB_APP, name: "Web", platform: "web" }],
  subscription_groups: [
    { id: NEWSLETTER, name: "Newsletter", channel: "email" },
    { id: ALERTS, name: "Alerts", channel: "sms" },
  ],
});

/** A workspace as another server on the same database gives it. */
export const workspaceAt = (url: string, { name, key }: TestWorkspace): TestWorkspace =>
  workspaceClient(
    (method, path, body, options) => request(url, method, path, body, options),
    name,
    key,
  );

function workspaceClient(send: TestServer["send"], name: string, key: string): TestWorkspace {
  const call: TestWorkspace["call"] = (method, path, body, options) =>
    send(method, path, body, { key, ...options });
  const profiles: TestWorkspace["profiles"] = async (wanted) => {
    const answer = await call<{ users: Record<string, any>[] }>(
      "POST",
      "/users/export/ids",
      wanted,
    );
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body.users;
  };
  return {
    name,
    key,
    call,
    profiles,
    track: (body, options) => call("POST", "/users/track", body, options),
    async profile(wanted) {
      const users = await profiles(wanted);
      if (users.length !== 1) throw new Error(`${users.length} profiles, not one`);
      return users[0] as Record<string, any>;
    },
  };
}

/** With a third of the processor time of `fetch`, which is a large part of what a test takes. It follows no redirect. */
async function request(
  url: string,
  method: string,
  path: string,
  body: unknown,
  options: CallOptions = {},
): Promise<Answer<any>> {
  const hasBody = body !== undefined || options.raw !== undefined;
  const response = await sendHttp(url + path, {
    method: method as "GET",
    headers: {
      ...(options.key && { authorization: `Bearer ${options.key}` }),
      ...(hasBody && { "content-type": "application/json" }),
      ...options.headers,
    },
    ...(hasBody && { body: options.raw ?? JSON.stringify(body) }),
  });
  const text = await response.body.text();
  const headers = headersOf(response.headers);
  const answer = {
    status: response.statusCode,
    headers,
    body: isJson(headers) && text ? JSON.parse(text) : text,
  };
  refuseUndeclared(method, path, answer);
  return answer;
}

function headersOf(received: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(received)) {
    for (const value of [values].flat()) headers.append(name, value);
  }
  return headers;
}

const isJson = (headers: Headers): boolean =>
  /^application\/(?:[\w.]+\+)?json\b/.test(headers.get("content-type") ?? "");

/** A reply that an endpoint declares; most of them no test gets, so its check is compiled for the first one. */
interface DeclaredReply {
  readonly schema: TSchema;
  validator?: ReturnType<typeof Compile>;
}

const DECLARED = ENDPOINTS.flatMap(({ contract }) =>
  pathsOf(contract).map((path) => ({
    method: contract.method,
    pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/?]+")}(\\?.*)?$`),
    replies: new Map<number, DeclaredReply>(
      Object.entries(contract.replies).map(([status, schema]) => [
        Number(status),
        { schema: schema as TSchema },
      ]),
    ),
    refusals: new Set(refusalsByStatus(contract).keys()),
  })),
);

/** A status that the endpoint does not declare, or a success with another body, is a fault of the endpoint. */
function refuseUndeclared(method: string, path: string, answer: Answer<unknown>): void {
  const declared = DECLARED.find((each) => each.method === method && each.pattern.test(path));
  if (!declared) return;
  if (answer.status >= 400 && declared.refusals.has(answer.status)) return;
  const reply = declared.replies.get(answer.status);
  if (!reply)
    throw new Error(`${method} ${path} answered ${answer.status}, which it does not declare`);
  reply.validator ??= Compile(reply.schema);
  const { validator } = reply;
  const isEmpty = answer.body === "" && !validator.Check("");
  const body = isEmpty ? undefined : answer.body;
  if (!validator.Check(body)) {
    const [error] = validator.Errors(body);
    throw new Error(`${method} ${path} did not respond as declared: ${JSON.stringify(error)}`);
  }
}
