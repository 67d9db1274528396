/*
 * The server as its users start it: `node dist/bundle/main.js serve` as a separate process, to be
 * stopped, killed and started again. Every process started here is killed when its test file ends.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after } from "node:test";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { type Launched, launch } from "./launched.ts";

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ChildServer {
  readonly pid: number;
  readonly url: string;
  /** The key of the demo workspace, from the data folder or, with memory:, from the output. */
  readonly key: string;
  /** All that was printed on the way to readiness. */
  readonly greeting: string;
  /** Sends a signal and waits for the end. */
  end(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<Finished>;
  /** Sends a signal and does not wait; `finished` tells the end. */
  signal(signal: NodeJS.Signals): void;
  /** Standard error is not read until the end, as by a log collector that hangs. */
  leaveLogUnread(): void;
  readonly finished: Promise<Finished>;
}

/** The Node that runs `rapport`: the Node of the tests, or the one in TEST_NODE. */
export const NODE = process.env.TEST_NODE ?? process.execPath;

/** Settings of a child: only those given here, never the test's own. */
export type Environment = Readonly<Record<string, string>>;

/** The executable that users start; for another version that was only compiled, its compiler's output. */
function mainOf(root = packageRoot()): string {
  const [bundled, compiled] = ["bundle", "src"].map((folder) =>
    join(root, "dist", folder, "main.js"),
  ) as [string, string];
  return existsSync(bundled) ? bundled : compiled;
}

/** Where much is tried, and on another Node, processes run as users start them. */
const IS_BRIEF = !process.env.TEST_NODE && !process.env.TEST_THOROUGH;

/** Arguments of Node for a process that does little. */
export const BRIEFLY = IS_BRIEF ? [`--import=${new URL("./briefly.js", import.meta.url)}`] : [];

/** Node 22 and newer keep the compiled code of the bundle there. */
export const KEPT_CODE: Environment = IS_BRIEF
  ? { NODE_COMPILE_CACHE: join(packageRoot(), "dist", "test-code") }
  : {};

interface Running {
  readonly child: Launched;
  readonly output: { stdout: string; stderr: string };
  readonly finished: Promise<Finished>;
}

async function start(
  args: readonly string[],
  environment: Environment,
  input?: string | Uint8Array,
  { root, uid }: ChildOptions = {},
): Promise<Running> {
  const child = await launch(NODE, [...BRIEFLY, mainOf(root), ...args], {
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...KEPT_CODE, ...environment },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    ...(uid !== undefined && { uid }),
  });
  if (input !== undefined) child.stdin?.end(input);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const finished = child.closed.then((code) => ({ code, ...output }));
  after(() => child.kill("SIGKILL"));
  return { child, output, finished };
}

/** Runs `rapport` with arguments, and perhaps with standard input, to its end. */
export async function runCommand(
  args: readonly string[],
  environment: Environment,
  input?: string | Uint8Array,
  options: ChildOptions = {},
): Promise<Finished> {
  const { finished } = await start(args, environment, input, options);
  return finished;
}

/** Runs `rapport` until standard error shows a pattern, and kills or interrupts it then. */
export async function killCommandAt(
  args: readonly string[],
  environment: Environment,
  pattern: RegExp,
  signal: "SIGKILL" | "SIGINT" = "SIGKILL",
  whenSignalled = () => {},
): Promise<Finished> {
  const { child, output, finished } = await start(args, environment);
  let isKilled = false;
  child.stderr.on("data", () => {
    if (isKilled || !pattern.test(output.stderr)) return;
    isKilled = true;
    child.kill(signal);
    whenSignalled();
  });
  return finished;
}

/** Runs `rapport` for a reader that closes standard output after the first piece, as `head` does. */
export async function runCommandForHead(
  args: readonly string[],
  environment: Environment,
): Promise<Finished> {
  const { child, finished } = await start(args, environment);
  child.stdout.once("data", () => child.stdout.destroy());
  return finished;
}

/** Starts a server and kills it after this many milliseconds, ready or not. */
export async function startAndKill(environment: Environment, afterMs: number): Promise<void> {
  const { child, finished } = await start(["serve"], {
    PORT: "0",
    LOG_LEVEL: "silent",
    ...environment,
  });
  setTimeout(() => child.kill("SIGKILL"), afterMs);
  await finished;
}

export interface ChildOptions {
  /** The repository, or another version of it. */
  readonly root?: string;
  /** The user that it runs as. */
  readonly uid?: number;
  /** The command that serves; `serve` by default. */
  readonly args?: readonly string[];
}

/**
 * Starts a server on a free port and waits until it says that it is ready.
 *
 * @throws its output if it ends before.
 */
export async function startChild(
  environment: Environment,
  options: ChildOptions = {},
): Promise<ChildServer> {
  const settings = { PORT: "0", LOG_LEVEL: "silent", DEMO: "true", ...environment };
  const { child, output, finished } = await start(
    options.args ?? ["serve"],
    settings,
    undefined,
    options,
  );
  const ready = new Promise<void>((resolve) => {
    child.stdout.on("data", () => {
      if (/Rapport is ready at .*\n\n$/s.test(output.stdout)) resolve();
    });
  });
  const ended = await Promise.race([ready, finished]);
  if (ended) throw new Error(`The server ended with ${ended.code}: ${ended.stderr}`);
  return {
    pid: child.pid,
    url: /ready at (\S+)/.exec(output.stdout)?.[1] ?? "",
    key: await demoKey(environment.DATA_DIR ?? "./data", output.stdout),
    greeting: output.stdout,
    finished,
    signal: child.kill,
    leaveLogUnread: () => void child.stderr.pause(),
    end(signal) {
      child.stderr.resume();
      child.kill(signal);
      return finished;
    },
  };
}

async function demoKey(dataDir: string, printed: string): Promise<string> {
  if (dataDir === "memory:") return /API key +(\S+)/.exec(printed)?.[1] ?? "";
  const text = await readFile(join(dataDir, "demo-api-key"), "utf8").catch(() => "");
  return text.trim();
}

/** Sends a JSON body with a bearer token; a connection that breaks throws. */
export async function post(
  url: string,
  token: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: any }> {
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}
