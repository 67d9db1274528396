import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";

export type LogFormat = "auto" | "json" | "pretty";

export interface LogOptions {
  readonly logLevel: string;
  readonly logFormat: LogFormat;
}

/** What the log may hold of an error: its message may quote data. */
export function describeError(error: unknown) {
  const { name, code, stack } = error as Error & { code?: string };
  return { error: name, code, stack: stack?.split("\n").filter((line) => /^\s+at /.test(line)) };
}

/**
 * The server's log: a short line for people on a terminal, JSON with level names and ISO 8601 times
 * for programs. It never holds a person's data or a secret: `test/log.test.ts`.
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
  if (!isPretty) return pino(options, to ?? pino.destination(2));
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
