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
  end(): void;
}

/**
 * A bar in a terminal, plain lines elsewhere; with how many a second since it was made.
 *
 * @param unit what is counted, in the plural, such as `rows`.
 * @param done what has happened to those counted, such as `read`.
 */
export function displayProgress(output: WriteStream, unit: string, done: string): ProgressDisplay {
  const startedAt = performance.now();
  const rateOf = (progress: Progress) => (progress.done * 1_000) / (performance.now() - startedAt);
  return output.isTTY ? bar(output, unit, rateOf) : lines(output, `${unit} ${done}`, unit, rateOf);
}

type RateOf = (progress: Progress) => number;

/** A number as people read it. */
export const count = (number: number): string => Math.round(number).toLocaleString("en");

const ofTotal = (total: number | null): string => (total === null ? "" : ` of ${count(total)}`);

function bar(output: WriteStream, unit: string, rateOf: RateOf): ProgressDisplay {
  const format = `{bar} {done} ${unit} | {rate} ${unit}/s | {failed} errors`;
  const single = new SingleBar(
    { stream: output, format, hideCursor: true },
    Presets.shades_classic,
  );
  single.start(1, 0, { done: "0", rate: "0", failed: "0" });
  return {
    show(progress) {
      const { done, total, failed } = progress;
      single.setTotal(Math.max(total ?? 1, done, 1));
      single.update(done, {
        done: `${count(done)}${ofTotal(total)}`,
        rate: count(rateOf(progress)),
        failed: count(failed),
      });
    },
    end: () => single.stop(),
  };
}

const LINE_EVERY_MS = 2_000;

/** A line now and then, for logs. */
function lines(output: WriteStream, what: string, unit: string, rateOf: RateOf): ProgressDisplay {
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    show(progress) {
      if (performance.now() - lastAt < LINE_EVERY_MS) return;
      lastAt = performance.now();
      const { done, total, failed } = progress;
      output.write(
        `${count(done)}${ofTotal(total)} ${what}, ${count(rateOf(progress))} ${unit}/s, ` +
          `${count(failed)} errors\n`,
      );
    },
    end: () => {},
  };
}
