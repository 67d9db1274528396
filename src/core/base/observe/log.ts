import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from "pino";
import { packageRoot } from "../package-root.ts";

export type LogFormat = "auto" | "json" | "pretty";

export interface LogOptions {
  readonly logLevel: string;
  readonly logFormat: LogFormat;
}

/**
 * Lines are written together, a moment later, and before the process ends: one write for each took
 * 5 % of a small request, and a write to a reader that has stopped would stop the server. No write
 * is larger than a pipe takes at once, so that lines of several processes never mix.
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

let standardError: DestinationStream | undefined;

/** One for the process, because it flushes again and again until the process ends. */
const toStandardError = (): DestinationStream => {
  standardError ??= pino.destination(STANDARD_ERROR);
  return standardError;
};

/** The part of an error that the log holds. @returns its message without data, and its frames in the source files. */
export function describeError(error: unknown) {
  const { name, code, message, stack } = error as Error & { code?: string };
  return { error: name, code, message: withoutData(message ?? "", code), stack: framesOf(stack) };
}

/** Errors of connections, resources and the schema: their messages name hosts, tables and limits, and no data. */
const QUOTES_NO_DATA = /^(?:E[A-Z]+|CONN\w+|(?:08|23|25|28|2D|3D|40|42|53|54|55|57|58|XX)\w{3})$/;

const QUOTED = /"[^"]*"|'[^']*'|`[^`]*`|"[^"]*$/g;

/**
 * Addresses, telephone numbers, keys: long enough to identify a person; not the addresses of
 * machines.
 */
const TELLING = /\S+@\S+|\+\d[\d ().-]{5,}\d|\b\d{7,}\b|\b[\w-]{24,}\b/g;

/** Other messages may quote a user's data: a value that cannot be parsed, for example. */
function withoutData(message: string, code: string | undefined): string {
  const plain =
    code !== undefined && QUOTES_NO_DATA.test(code) ? message : message.replace(QUOTED, "…");
  return plain.replace(TELLING, "…").slice(0, LONGEST_MESSAGE);
}

const LONGEST_MESSAGE = 500;

/**
 * The server's log: a short line for people on a terminal, JSON with level names and ISO 8601 times
 * for programs. It never contains a person's data or a secret: `test/system/log.test.ts`.
 *
 * @param to the destination; by default standard error.
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
  if (!isPretty) return pino(options, to ?? toStandardError());
  const { default: pretty } = await import("pino-pretty");
  return pino(
    options,
    pretty({ destination: to ?? 2, sync: true, singleLine: true, translateTime: "SYS:HH:MM:ss" }),
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

/** `at name (file:///…/part-app.js:12:34)`, or without the name. */
const FRAME = /^(\s+at .*?)((?:file:\/\/)?\/[^():]+\.js):(\d+):(\d+)(\)?)$/;

const maps = new Map<string, SourceMap | undefined>();

/**
 * The frames of a stack as the source files have them: a bundled file has thousands of lines. The map of a file is
 * read when an error first needs it.
 */
const framesOf = (stack: string | undefined): string[] | undefined =>
  stack
    ?.split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map(inSource);

function inSource(line: string): string {
  const [, before, file = "", row, column, after] = FRAME.exec(line) ?? [];
  if (before === undefined) return line;
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  const found = mapOf(path)?.findEntry(Number(row) - 1, Number(column) - 1);
  if (!found || !("originalSource" in found)) return line;
  const source = found.originalSource.replace(/^(?:\.\.?\/)+/, "");
  return `${before}${source}:${found.originalLine + 1}:${found.originalColumn + 1}${after}`;
}

function mapOf(path: string): SourceMap | undefined {
  if (!maps.has(path)) maps.set(path, readMap(path));
  return maps.get(path);
}

/** Undefined for a file without a map, and for one outside the package. */
function readMap(path: string): SourceMap | undefined {
  if (relative(packageRoot(), path).startsWith("..")) return undefined;
  try {
    return new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8")));
  } catch {
    return undefined;
  }
}
