/*
 * Starts processes for a test process. To fork takes longer the more memory a process has: 20 to 50 ms for a test process with its
 * engines, 1 ms for the small process that does it here (launcher-process.ts).
 */
import { type ChildProcess, fork, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";

export interface ToLaunch {
  readonly id: number;
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
}

/** What the launcher says of a child: each of its streams, then its pid, and at last its exit code. */
export interface Started {
  readonly id: number;
  readonly stream?: "stdin" | "stdout" | "stderr";
  readonly pid?: number;
  readonly code?: number | null;
  readonly error?: string;
}

export interface Launched {
  readonly pid: number;
  readonly stdin: Socket | undefined;
  readonly stdout: Socket;
  readonly stderr: Socket;
  /** Sends a signal, unless the process has ended. */
  kill(signal: NodeJS.Signals): void;
  /** The exit code, or null after a signal, once its output has ended too. */
  readonly closed: Promise<number | null>;
}

interface Call {
  readonly streams: { stdin?: Socket; stdout?: Socket; stderr?: Socket };
  /** Of its output: an empty one may end before the pid is known. */
  readonly closings: Promise<unknown>[];
  start(pid: number): void;
  fail(error: Error): void;
  end(code: number | null): void;
}

let launcher: ChildProcess | undefined;
let lastId = 0;
const calls = new Map<number, Call>();

function startLauncher(): ChildProcess {
  const started = fork(new URL("./launcher-process.js", import.meta.url), { execArgv: [] });
  started.on("message", ({ id, stream, pid, code, error }: Started, socket: unknown) => {
    const call = calls.get(id);
    if (stream && call) {
      call.streams[stream] = socket as Socket;
      if (stream !== "stdin") call.closings.push(once(socket as Socket, "close"));
    }
    if (pid !== undefined) call?.start(pid);
    if (code === undefined && error === undefined) return;
    if (error === undefined) call?.end(code ?? null);
    else call?.fail(new Error(error));
    calls.delete(id);
    // It keeps this process alive only while a child runs.
    if (calls.size === 0) started.channel?.unref();
  });
  started.unref();
  return started;
}

/** Kills what still runs, and waits: the processor time of what it started then counts as that of this process. */
export async function endLauncher(): Promise<void> {
  if (!launcher) return;
  launcher.ref();
  launcher.disconnect();
  await once(launcher, "exit");
}

/** @throws if the program cannot be started. */
export async function launch(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<Launched> {
  launcher ??= startLauncher();
  launcher.channel?.ref();
  const id = ++lastId;
  const streams: Call["streams"] = {};
  const closings: Promise<unknown>[] = [];
  let hasEnded = false;
  let ended: (code: number | null) => void = () => {};
  const code = new Promise<number | null>((resolve) => {
    ended = (code) => {
      hasEnded = true;
      resolve(code);
    };
  });
  const pid = await new Promise<number>((start, fail) => {
    calls.set(id, { streams, closings, start, fail, end: ended });
    launcher?.send({ id, command, args, options } satisfies ToLaunch);
  });
  const { stdin, stdout, stderr } = streams;
  if (!stdout || !stderr) throw new Error("Its output has to be piped.");
  return {
    pid,
    stdin,
    stdout,
    stderr,
    kill: (signal) => {
      if (!hasEnded) sendSignal(pid, signal);
    },
    closed: Promise.all(closings).then(() => code),
  };
}

/** Its end may be on the way here. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
