import type { WriteStream } from "node:tty";
import { Presets, SingleBar } from "cli-progress";

/** How far something long has come. */
export interface Progress {
  readonly done: number;
  /** Null where nobody knows. */
  readonly total: number | null;
  readonly failed: number;
}

/** Shows something long while it goes on. */
export interface ProgressDisplay {
  show(progress: Progress): void;
  /** Puts a sentence between, on a line of its own. */
  say(sentence: string): void;
  end(): void;
}

/**
 * A bar in a terminal, plain lines elsewhere; with how many a second since it was made.
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

/** A number as people read it. */
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

/** A line now and then, for logs. */
function lines(
  output: WriteStream,
  thing: string,
  doneTo: string,
  rateOf: RateOf,
): ProgressDisplay {
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    show(progress) {
      if (performance.now() - lastAt < LINE_EVERY_MS) return;
      lastAt = performance.now();
      const failed = counted(progress.failed, "error");
      output.write(`${soFar(progress, thing)} ${doneTo}, ${rateOf(progress)}, ${failed}\n`);
    },
    say: (sentence) => void output.write(`${sentence}\n`),
    end: () => {},
  };
}
