import { open, stat } from "node:fs/promises";

/*
 * Reads the durations that PostgreSQL logs: of every statement how long it was parsed, how long its
 * parameters were read and planned with, and how long it ran.
 */

/** The settings that PostgreSQL must be started with. */
export const LOG_SETTINGS = {
  log_min_duration_statement: "0",
  log_parameter_max_length: "0",
  log_line_prefix: "%m ",
} as const;

type Step = "parse" | "bind" | "execute";

export interface StatementTimes {
  /** The beginning of its text. */
  readonly statement: string;
  readonly calls: number;
  readonly parseMs: number;
  /** Reading the parameters, and planning. */
  readonly bindMs: number;
  readonly executeMs: number;
}

/** How much has been logged so far, to read from there later. */
export const lengthOfLog = async (path: string): Promise<number> => (await stat(path)).size;

/** One entry: it goes on until a line that begins with a date. */
const ENTRY =
  /duration: ([\d.]+) ms {2}(parse|bind|execute|statement)[^:]*: ([\s\S]*?)(?=\n\d{4}-|$)/g;

/** The times of every statement in a part of the log, the dearest first. */
export async function readStatements(
  path: string,
  from: number,
  to: number,
): Promise<StatementTimes[]> {
  const file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
  await file.close();
  const sums = new Map<string, Record<Step | "calls", number>>();
  for (const [, ms, kind, text] of buffer.toString("utf8").matchAll(ENTRY)) {
    const statement = beginningOf(text ?? "");
    const sum = sums.get(statement) ?? { parse: 0, bind: 0, execute: 0, calls: 0 };
    const step = kind === "statement" ? "execute" : (kind as Step);
    sum[step] += Number(ms);
    if (step === "execute") sum.calls++;
    sums.set(statement, sum);
  }
  const times = [...sums].map(([statement, { parse, bind, execute, calls }]) => ({
    statement,
    calls,
    parseMs: parse,
    bindMs: bind,
    executeMs: execute,
  }));
  const total = (each: StatementTimes) => each.parseMs + each.bindMs + each.executeMs;
  return times.sort((one, other) => total(other) - total(one));
}

const beginningOf = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, 60);
