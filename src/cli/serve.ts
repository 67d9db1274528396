import cluster from "node:cluster";
import { type Command, InvalidArgumentError } from "commander";
import { RAPPORT } from "../core/base/command.ts";
import type { PreparedServer, Serve } from "../core/feature.ts";
import { type Config, readConfig } from "../server/config.ts";
import { awaitDatabase } from "../server/open-database.ts";
import type { RunningServer } from "../server/serve.ts";
import { type Welcome, welcomeText } from "../server/welcome.ts";
import { announce, startWorkers, type Workers } from "../server/workers.ts";
import { explainError } from "./explain-error.ts";
import { usualSettings } from "./settings.ts";
import { printNote, printText } from "./terminal.ts";

const EXAMPLES = `
Examples:
  ${RAPPORT} serve
  PORT=9000 DATA_DIR=memory: ${RAPPORT} serve
  DATABASE_URL=postgres://localhost/rapport ${RAPPORT} serve --workers 2`;

export function define(command: Command): void {
  command
    .option("--workers <count>", "how many server processes share the port", readWorkers)
    .option("--demo", "create the demo workspace, with a key that has every permission")
    .option("--force", "applies MANIFEST even if a newer one was applied since")
    .addHelpText("after", `${EXAMPLES}\n${usualSettings()}`)
    .action(async ({ workers, demo, force }: ServeOptions) => {
      if (force) process.env.MANIFEST_FORCE = "true";
      if (demo) process.env.DEMO = "true";
      if (workers) process.env.WEB_CONCURRENCY = workers;
      await serveUntilSignal();
    });
}

interface ServeOptions {
  readonly workers?: string;
  readonly demo?: true;
  readonly force?: true;
}

function readWorkers(text: string): string {
  if (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 256) return text;
  throw new InvalidArgumentError("It is a whole number from 1 to 256, such as --workers 2.");
}

/**
 * Serves until a signal ends the process.
 *
 * @param prepare fills a demo: its link that signs in is printed wherever the output goes. See `Serve`.
 */
export async function serveUntilSignal(prepare?: Parameters<Serve>[0]): Promise<void> {
  const config = readConfig();
  // Before anything is awaited: npm may be killed while the server starts.
  const parent = process.ppid;
  const isFirst = cluster.isPrimary;
  const running =
    isFirst && config.workers > 1 ? await startWorkers(config) : await startHere(config);
  stopOnSignal(running.stop, config.shutdownTimeoutSeconds);
  if (config.isChildOfNpm) stopWithParent(parent);
  const about = await prepare?.(preparedFrom(running.welcome));
  const isTerminal = process.stdout.isTTY ?? false;
  const signInLink = await newSignInLink(running, config, isTerminal || about !== undefined);
  const welcome = { ...running.welcome, ...signInLink, ...(about && { about }) };
  if (isFirst) printText(welcomeText(welcome, config, isTerminal));
  else announce(welcome);
}

/** @throws unless the server has both secrets, as one on an empty engine does. */
function preparedFrom({ url, adminToken, demo }: Welcome): PreparedServer {
  if (!adminToken.secret || !demo?.secret) throw new Error("The server has no demo workspace.");
  return { url, adminToken: adminToken.secret, key: demo.secret };
}

/**
 * A link is printed only for a person who tries Rapport: by a demo, on a terminal. Readers of a log
 * could sign in with it. If there are several processes, the first one creates it.
 */
async function newSignInLink(
  running: Workers | RunningServer,
  { demo, manifest }: Config,
  isShown: boolean,
): Promise<{ readonly signInLink?: string }> {
  if (!("createSignInLink" in running) || (cluster.worker?.id ?? 1) !== 1) return {};
  if (!demo || manifest || !isShown) return {};
  const signInLink = await running.createSignInLink();
  return signInLink === undefined ? {} : { signInLink };
}

/**
 * Loaded only by a process that serves: the first of several only watches, and stays half as large. The engine opens
 * on its thread while the server is loaded.
 */
async function startHere(config: Config) {
  const opening = awaitDatabase(config);
  // It may fail before the server is loaded.
  opening.catch(() => {});
  const { serve } = await import("../server/serve.ts");
  return serve(config, undefined, opening);
}

/** A terminal, npm and the first process may each forward the same signal. */
const SAME_SIGNAL_MS = 2_000;

/**
 * The first signal drains requests in flight and exits with 0, or with 1 when the time is up; a later
 * signal exits at once.
 */
function stopOnSignal(stop: () => Promise<void>, timeoutSeconds: number): void {
  let stoppingSince: number | undefined;
  const giveUp = () => fail(new Error(`Requests were still in flight after ${timeoutSeconds} s.`));
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stoppingSince === undefined) {
        stoppingSince = performance.now();
        setTimeout(giveUp, timeoutSeconds * 1_000).unref();
        stop().then(() => process.exit(0), fail);
      } else if (performance.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(1);
    });
  }
}

/** npm that was killed cannot forward a signal: without it, the server stops as on SIGTERM. */
function stopWithParent(parent: number): void {
  setInterval(() => {
    if (process.ppid !== parent) process.kill(process.pid, "SIGTERM");
  }, 500).unref();
}

function fail(error: unknown): void {
  printNote(`rapport: ${explainError(error)}`);
  process.exit(1);
}
