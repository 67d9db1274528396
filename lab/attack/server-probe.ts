/*
 * Runs inside the attacked server (`node --import`): measures how long its event loop is held, and moves its
 * clock. It speaks over file descriptor 3, one line of JSON for each command.
 *
 * A stall is measured in processor time of the main thread between two turns of a timer, not in wall time: other
 * processes on the machine take time from a server too, and only what its own code does is its fault.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

export interface ProbeReading {
  /** The longest processor time that the main thread took between two turns of the event loop. */
  readonly longestStallMs: number;
  /** How many such times were over 50 ms. */
  readonly stalls: number;
  /** The longest delay of the event loop in wall time. */
  readonly longestDelayMs: number;
  /** Processor time of the main thread, and of all threads, since the last reading. */
  readonly mainThreadMs: number;
  readonly processMs: number;
}

export type ProbeCommand =
  | { readonly read: true }
  /** Moves the clock so far from the real one. */
  | { readonly clockAheadMs: number };

const LISTENS_ON = 3;
const TICK_MS = 1;
const STALL_MS = 50;

if (isMainThread) start();

function start(): void {
  const threadMs = processorTimeOfThread();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let longest = 0;
  let stalls = 0;
  let lastTick = threadMs();
  let thread = lastTick;
  let whole = process.cpuUsage();
  const timer = setInterval(() => {
    const now = threadMs();
    if (now - lastTick > longest) longest = now - lastTick;
    if (now - lastTick > STALL_MS) stalls++;
    lastTick = now;
  }, TICK_MS);
  timer.unref();

  function read(): ProbeReading {
    const { user, system } = process.cpuUsage(whole);
    const reading = {
      longestStallMs: longest,
      stalls,
      longestDelayMs: delay.max / 1e6,
      mainThreadMs: threadMs() - thread,
      processMs: (user + system) / 1_000,
    };
    longest = stalls = 0;
    thread = threadMs();
    whole = process.cpuUsage();
    delay.reset();
    return reading;
  }

  answerCommands(read);
}

function answerCommands(read: () => ProbeReading): void {
  const channel = new Socket({ fd: LISTENS_ON });
  channel.unref();
  let heard = "";
  channel.setEncoding("utf8").on("data", (text) => {
    heard += text;
    const lines = heard.split("\n");
    heard = lines.pop() ?? "";
    for (const line of lines) {
      const command = JSON.parse(line) as ProbeCommand;
      if ("clockAheadMs" in command) moveClock(command.clockAheadMs);
      channel.write(`${JSON.stringify("read" in command ? read() : {})}\n`);
    }
  });
  channel.on("error", () => {});
}

/** Processor time of the main thread in milliseconds; of the whole process without /proc. */
function processorTimeOfThread(): () => number {
  const bytes = Buffer.alloc(64);
  try {
    const file = openSync("/proc/self/schedstat", "r");
    process.once("exit", () => closeSync(file));
    return () => {
      const length = readSync(file, bytes, 0, bytes.length, 0);
      return Number.parseInt(bytes.toString("latin1", 0, length), 10) / 1e6;
    };
  } catch {
    return () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000;
    };
  }
}

const RealDate = Date;

function moveClock(aheadMs: number): void {
  globalThis.Date = class extends RealDate {
    constructor(...values: unknown[]) {
      if (values.length === 0) super(RealDate.now() + aheadMs);
      else super(...(values as [number]));
    }

    static override now(): number {
      return RealDate.now() + aheadMs;
    }
  } as DateConstructor;
}
