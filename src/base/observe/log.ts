import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";

export type LogFormat = "auto" | "json" | "pretty";

export interface LogOptions {
  readonly logLevel: string;
  readonly logFormat: LogFormat;
}

/**
 * Lines are written several at a time, a moment later, and before the process ends: a write for each took 5 % of a
 * small request, and one to a reader that stands still would stop the server. No write is larger than what a pipe takes
 * whole, so that lines of several processes never mix.
 */
const STANDARD_ERROR = {
  dest: 2,
  sync: false,
  minLength: 3_072,
  maxWrite: 4_096,
  periodicFlush: 100,
  /** Lines beyond are dropped: they wait for a reader that may never come. */
  maxLength: 16 * 1_048_576,
};

/** What the log may hold of an error: its message may quote data. */
export function describeError(error: unknown) {
  const { name, code, stack } = error as Error & { code?: string };
  return { error: name, code, stack: stack?.split("\n").filter((line) => /^\s+at /.test(line)) };
}

/**
 * The server's log: a short line for people on a terminal, JSON with level names and ISO 8601 times
 * for programs. It never holds a person's data or a secret: `test/system/log.test.ts`.
 *
 * @param to where it goes; by default standard error.
 */
export async function createLog(
  { logLevel, logFormat }: LogOptions,
  to?: DestinationStream,
): Promise<Logger> {
  const options = {
    level: logLevel,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const isPretty = logFormat === "pretty" || (logFormat === "auto" && !to && process.stderr.isTTY);
  if (!isPretty) return pino(options, to ?? pino.destination(STANDARD_ERROR));
  const { default: pretty } = await import("pino-pretty");
  return pino(
    options,
    pretty({
      destination: to ?? 2,
      sync: true,
      singleLine: true,
      translateTime: "SYS:HH:MM:ss",
    }),
  );
}

/** How long the end of a process waits for a reader of the log. */
const FLUSH_WITHIN_MS = 2_000;

/** Resolves when every line is written, or its reader has had its time. */
export const flushLog = (log: Logger): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, FLUSH_WITHIN_MS).unref();
    log.flush(() => resolve());
  });
