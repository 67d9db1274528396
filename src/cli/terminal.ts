import { createInterface } from "node:readline/promises";
import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** Colours a text where the stream is a terminal and `NO_COLOR` is not set (https://no-color.org). */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout) {
  const { NO_COLOR, TERM } = process.env;
  const isColoured = stream.isTTY && !NO_COLOR && TERM !== "dumb";
  return isColoured ? styleText(style, text) : text;
}

/** Prints the result of a command with `--json`: the only thing on standard output. */
export const printJson = (value: unknown): void =>
  void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);

/** Prints the result of a command: as JSON with `--json`, else as lines. */
export function printResult<Result>(
  { json }: { readonly json?: true },
  result: Result,
  describe: (result: Result) => readonly string[],
): void {
  if (json) printJson(result);
  else printLines(describe(result));
}

/** Prints text lines on standard output. */
export const printLines = (lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${line}\n`).join(""));

export interface ConfirmOptions {
  /** Given by `--yes`: proceeds without asking. */
  readonly yes?: boolean | undefined;
}

/**
 * Asks before something that cannot be undone.
 *
 * @param consequence what will happen, as a sentence: `This deletes all users of 'demo'.`
 * @throws unless the user confirms; without a terminal, unless `--yes` is given.
 */
export async function confirm(consequence: string, { yes }: ConfirmOptions): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new Error(`${consequence} To proceed without being asked, pass --yes.`);
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${consequence} Continue? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new Error("Nothing was changed.");
  } finally {
    prompt.close();
  }
}
