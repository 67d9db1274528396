import type { WriteStream } from "node:tty";
import { Presets, SingleBar } from "cli-progress";
import { plain } from "./terminal.ts";

/** How far a long task is. */
export interface Progress {
  readonly done: number;
  /** Null if it is unknown. */
  readonly total: number | null;
  readonly failed: number;
  /**
   * The finished part of the whole, from 0 to 1, if it is known from something other than the
   * total.
   */
  readonly share?: number;
  /** How many were done before this run, which the rate does not count. */
  readonly before?: number;
}

/** Shows a long task while it runs. */
export interface ProgressDisplay {
  show(progress: Progress): void;
  /** Prints a sentence on a separate line. */
  say(sentence: string): void;
  end(): void;
}

/**
 * A progress bar in a terminal, plain lines elsewhere, with the rate since it was created.
 *
 * @param thing the counted thing in the singular, such as `row`.
 * @param done the action, such as `read`.
 */
export function displayProgress(output: WriteStream, thing: string, done: string): ProgressDisplay {
  const startedAt = performance.now();
  const rateOf: RateOf = ({ done, before = 0 }) => {
    const rate = ((done - before) * 1_000) / (performance.now() - startedAt);
    return `${count(rate)} ${thing}s/s`;
  };
  return output.isTTY ? bar(output, thing, rateOf) : lines(output, thing, done, rateOf);
}

type RateOf = (progress: Progress) => string;

/** A number with thousands separators. */
export const count = (number: number): string => Math.round(number).toLocaleString("en");

/** The number of things, with a plural in s: `1 user`, `1,200 users`. */
export const counted = (number: number, thing: string): string =>
  `${count(number)} ${thing}${number === 1 ? "" : "s"}`;

export const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** `3 rows`, or `3 of 1,200 rows` if the total is known. */
const soFar = ({ done, total }: Progress, thing: string): string =>
  total === null ? counted(done, thing) : `${count(done)} of ${counted(total, thing)}`;

function bar(output: WriteStream, thing: string, rateOf: RateOf): ProgressDisplay {
  const timeLeft = estimateTimeLeft();
  const single = new SingleBar(
    { stream: output, format: "{bar} {done} | {rate} | {failed}{left}", hideCursor: true },
    Presets.shades_classic,
  );
  const textsOf = (progress: Progress) => ({
    done: soFar(progress, thing),
    rate: rateOf(progress),
    failed: counted(progress.failed, "error"),
    left: timeLeft(progress),
  });
  const start = () => single.start(1, 0, textsOf({ done: 0, total: null, failed: 0 }));
  start();
  return {
    show(progress) {
      const { done, total, share } = progress;
      single.setTotal(share === undefined ? Math.max(total ?? 1, done, 1) : 1);
      single.update(share ?? done, textsOf(progress));
    },
    say(sentence) {
      single.stop();
      output.write(`${plain(sentence)}\n`);
      start();
    },
    end: () => single.stop(),
  };
}

/** ` | 3 min left`, by the share that was done since the first time; empty if the share is unknown. */
function estimateTimeLeft(): (progress: Progress) => string {
  let first: { readonly share: number; readonly at: number } | undefined;
  return ({ share, done, total }) => {
    const part = share ?? (total ? done / total : undefined);
    if (part === undefined) return "";
    const now = performance.now();
    first ??= { share: part, at: now };
    if (part <= first.share || part >= 1) return "";
    const seconds = ((now - first.at) / 1_000) * ((1 - part) / (part - first.share));
    return ` | ${durationOf(seconds)} left`;
  };
}

const durationOf = (seconds: number): string =>
  seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`;

const LINE_EVERY_MS = 2_000;

/** An occasional line, for logs; the last one has the final counts. */
function lines(
  output: WriteStream,
  thing: string,
  doneTo: string,
  rateOf: RateOf,
): ProgressDisplay {
  const timeLeft = estimateTimeLeft();
  let writtenAt = Number.NEGATIVE_INFINITY;
  /** The latest progress, if no line has shown it yet. */
  let unwritten: Progress | undefined;
  const write = (progress: Progress) => {
    writtenAt = performance.now();
    unwritten = undefined;
    const failed = counted(progress.failed, "error");
    const { share } = progress;
    const part = share === undefined ? "" : ` (${Math.floor(share * 100)} %)`;
    const left = timeLeft(progress).replace(" |", ",");
    output.write(
      `${soFar(progress, thing)} ${doneTo}${part}, ${rateOf(progress)}, ${failed}${left}\n`,
    );
  };
  return {
    show(progress) {
      unwritten = progress;
      if (performance.now() - writtenAt >= LINE_EVERY_MS) write(progress);
    },
    say: (sentence) => void output.write(`${plain(sentence)}\n`),
    // The final counts, however soon they followed the last line.
    end: () => void (unwritten && write(unwritten)),
  };
}
