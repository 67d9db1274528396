import { randomBytes } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { createSettableClock } from "../../core/base/clock.ts";
import { type Config, readConfig } from "../config.ts";
import { openDatabase } from "../open-database.ts";
import { serve } from "../serve.ts";
import type { CapturedCall, ExportedUser, ReceivedRequest } from "./start-rapport.ts";
import type { Started, ThreadAnswer, ThreadCall, ThreadOptions } from "./thread-calls.ts";

/*
 * The thread of a Rapport inside a test. It has its own timers and `Date`, so it works while the
 * test freezes its own timers, and responds while the test blocks that thread.
 */

const MOST_REQUESTS = 10_000;

/** Marks requests of this thread, so that a test sees only its own requests. */
const OWN_REQUEST = "start-rapport";

const options = workerData as ThreadOptions;
const clock = createSettableClock();
const requests: ReceivedRequest[] = [];

async function start() {
  const config: Config = {
    ...readConfig(environmentOf(options)),
    clock,
    onReceived({ callersId, ...received }) {
      if (callersId?.startsWith(OWN_REQUEST)) return;
      if (requests.length >= MOST_REQUESTS) requests.shift();
      requests.push(received);
    },
  };
  if (options.now !== undefined) clock.set(new Date(options.now));
  const server = await serve(config, undefined, openDatabase(config));
  try {
    return { server, started: await prepare(server.welcome.url, adminTokenOf(server)) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const adminTokenOf = ({ welcome }: Awaited<ReturnType<typeof serve>>): string =>
  welcome.adminToken.secret as string;

/** Applies the manifest, and creates a key of its first workspace. */
async function prepare(url: string, adminToken: string): Promise<Started> {
  const { manifest } = options;
  if (typeof manifest === "object")
    await send(url, "POST", "/admin/v1/apply", adminToken, manifest);
  const source =
    typeof manifest === "string"
      ? await send(url, "GET", "/admin/v1/workspaces", adminToken)
      : manifest;
  const [first] = (source as { workspaces?: { name: string }[] }).workspaces ?? [];
  if (!first) throw new Error("The manifest declares no workspace.");
  const { key } = (await send(url, "POST", `${pathOf(first.name)}/api-keys`, adminToken, {
    name: `start-rapport-${randomBytes(6).toString("hex")}`,
    permissions: ["all"],
  })) as { key: string };
  return { url, workspace: first.name, key, adminToken };
}

const pathOf = (workspace: string): string =>
  `/admin/v1/workspaces/${encodeURIComponent(workspace)}`;

const environmentOf = ({ manifest, engine, settings }: ThreadOptions) => ({
  PORT: "0",
  DATA_DIR: "memory:",
  LOG_LEVEL: "silent",
  DEMO: "false",
  ADMIN_TOKEN: randomBytes(18).toString("base64url"),
  // The same at every start, so that a later start can read secrets that an earlier one sealed in
  // the tests' database.
  SECRET_KEY: "the-secret-key-of-every-start-in-tests",
  // A busy machine of tests must not make a request fail.
  MAX_EVENT_LOOP_DELAY: "3600",
  WEB_CONCURRENCY: "1",
  ...(engine !== "memory" && { DATABASE_URL: engine }),
  ...(typeof manifest === "string" && { MANIFEST: manifest }),
  ...settings,
});

/** All pages of a list. */
async function readCaptured(
  { url, workspace, adminToken }: Started,
  path: string | undefined,
): Promise<CapturedCall[]> {
  const calls: CapturedCall[] = [];
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
    const query = new URLSearchParams({ limit: "1000" });
    if (path !== undefined) query.set("path", path);
    if (cursor !== undefined) query.set("cursor", cursor);
    const page = (await send(url, "GET", `${pathOf(workspace)}/captured?${query}`, adminToken)) as {
      captured: CapturedCall[];
      next_cursor?: string;
    };
    calls.push(...page.captured);
    cursor = page.next_cursor;
  }
  return calls;
}

/** @throws Error with the sentence of a refusal. */
async function send(
  url: string,
  method: string,
  path: string,
  token: string,
  body?: unknown,
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

type Running = Awaited<ReturnType<typeof start>>;

async function carryOut({ server, started }: Running, asked: ThreadCall): Promise<unknown> {
  const { url, workspace, key, adminToken } = started;
  switch (asked.call) {
    case "users": {
      const answer = await send(url, "POST", "/users/export/ids", key, asked.input);
      return (answer as { users: ExportedUser[] }).users;
    }
    case "captured":
      return readCaptured(started, asked.input);
    case "setNow":
      return clock.set(new Date(asked.input));
    case "reset":
      await send(url, "POST", `${pathOf(workspace)}/reset`, adminToken);
      requests.length = 0;
      return undefined;
    case "stop":
      return server.stop();
    case "requests":
      return answerAtOnce(asked);
  }
}

/** The test's thread waits for the signal, so it comes in any case. */
function answerAtOnce({ port, answered }: ThreadCall & { call: "requests" }): void {
  try {
    port.postMessage(requests);
  } finally {
    Atomics.store(answered, 0, 1);
    Atomics.notify(answered, 0);
    port.close();
  }
}

const tell = (answer: ThreadAnswer): void => parentPort?.postMessage(answer);

const sentenceOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

try {
  const running = await start();
  parentPort?.on("message", async (asked: ThreadCall) => {
    const id = "id" in asked ? asked.id : undefined;
    try {
      const result = await carryOut(running, asked);
      if (id !== undefined) tell({ id, result });
    } catch (error) {
      if (id !== undefined) tell({ id, error: sentenceOf(error) });
    }
  });
  tell({ result: running.started });
} catch (error) {
  tell({ error: sentenceOf(error) });
}
