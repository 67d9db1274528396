import type { WriteStream } from "node:tty";
import { Presets, SingleBar } from "cli-progress";

/** How far a long task is. */
export interface Progress {
  readonly done: number;
  /** Null where it is unknown. */
  readonly total: number | null;
  readonly failed: number;
}

/** Shows a long task while it runs. */
export interface ProgressDisplay {
  show(progress: Progress): void;
  /** Prints a sentence on a line of its own. */
  say(sentence: string): void;
  end(): void;
}

/**
 * A progress bar in a terminal, plain lines elsewhere, with the rate since it was created.
 *
 * @param thing what is counted, in the singular, such as `row`.
 * @param done what has happened to those counted, such as `read`.
 */
export function displayProgress(output: WriteStream, thing: string, done: string): ProgressDisplay {
  const startedAt = performance.now();
  const rateOf: RateOf = (progress) => {
    const rate = (progress.done * 1_000) / (performance.now() - startedAt);
    return `${count(rate)} ${thing}s/s`;
  };
  return output.isTTY ? bar(output, thing, rateOf) : lines(output, thing, done, rateOf);
}

type RateOf = (progress: Progress) => string;

/** A number with thousands separators. */
export const count = (number: number): string => Math.round(number).toLocaleString("en");

/** How many there are of a thing, whose plural ends in s: `1 user`, `1,200 users`. */
export const counted = (number: number, thing: string): string =>
  `${count(number)} ${thing}${number === 1 ? "" : "s"}`;

/** `3 rows`, or `3 of 1,200 rows` where the total is known. */
const soFar = ({ done, total }: Progress, thing: string): string =>
  total === null ? counted(done, thing) : `${count(done)} of ${counted(total, thing)}`;

function bar(output: WriteStream, thing: string, rateOf: RateOf): ProgressDisplay {
  const single = new SingleBar(
    { stream: output, format: "{bar} {done} | {rate} | {failed}", hideCursor: true },
    Presets.shades_classic,
  );
  const textsOf = (progress: Progress) => ({
    done: soFar(progress, thing),
    rate: rateOf(progress),
    failed: counted(progress.failed, "error"),
  });
  const start = () => single.start(1, 0, textsOf({ done: 0, total: null, failed: 0 }));
  start();
  return {
    show(progress) {
      const { done, total } = progress;
      single.setTotal(Math.max(total ?? 1, done, 1));
      single.update(done, textsOf(progress));
    },
    say(sentence) {
      single.stop();
      output.write(`${sentence}\n`);
      start();
    },
    end: () => single.stop(),
  };
}

const LINE_EVERY_MS = 2_000;

/** An occasional line, for logs; the last one has the final counts. */
function lines(
  output: WriteStream,
  thing: string,
  doneTo: string,
  rateOf: RateOf,
): ProgressDisplay {
  let writtenAt = Number.NEGATIVE_INFINITY;
  /** What was shown since the last line. */
  let unwritten: Progress | undefined;
  const write = (progress: Progress) => {
    writtenAt = performance.now();
    unwritten = undefined;
    const failed = counted(progress.failed, "error");
    output.write(`${soFar(progress, thing)} ${doneTo}, ${rateOf(progress)}, ${failed}\n`);
  };
  return {
    show(progress) {
      unwritten = progress;
      if (performance.now() - writtenAt >= LINE_EVERY_MS) write(progress);
    },
    say: (sentence) => void output.write(`${sentence}\n`),
    // The final counts, however soon they followed the last line.
    end: () => void (unwritten && write(unwritten)),
  };
}
