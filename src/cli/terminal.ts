import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline/promises";
import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/*
 * The only place of the command line that writes to a terminal. Names of users and administrators
 * come from outside, and a terminal executes what it is sent: control characters clear the screen,
 * fake lines and write the clipboard; bidirectional controls reverse parts of a line. All of them
 * are shown as escapes.
 */

/** C0, DEL and C1; bidirectional controls; line and paragraph separators; halves of surrogate pairs. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\p{Cs}]/gu;

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Text from outside as a part of one line. */
export const plain = (text: string): string => text.replace(CONTROLS, escaped);

/** Replaces the escape character of our own colours: no text from outside can contain it. */
const OWN_ESCAPE = `<${randomUUID()}>`;

const shown = (text: string, escapeAll: (part: string) => string): string =>
  escapeAll(text).replaceAll(OWN_ESCAPE, "\u001b");

/** Text of several lines: everything but their ends is escaped. */
export const plainLines = (text: string): string => text.split("\n").map(plain).join("\n");

/** Prints text of several lines as the result of a command, each with its end. */
export const printText = (text: string): void => void process.stdout.write(shown(text, plainLines));

/** Prints a note beside the result, on standard error. It may have several lines. */
export const printNote = (text: string): void =>
  void process.stderr.write(shown(`${text}\n`, plainLines));

/** Colours a text if the stream is a terminal and `NO_COLOR` is not set (https://no-color.org). */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout) {
  const { NO_COLOR, TERM } = process.env;
  const isColoured = stream.isTTY && !NO_COLOR && TERM !== "dumb";
  return isColoured ? styleText(style, text).replaceAll("\u001b", OWN_ESCAPE) : text;
}

/**
 * Prints the result of a command with `--json`: the only thing on standard output. In JSON an
 * escape denotes its character.
 */
export const printJson = (value: unknown): void =>
  void process.stdout.write(`${plainLines(JSON.stringify(value, null, 2))}\n`);

/** Prints the result of a command: as JSON with `--json`, otherwise as lines. */
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
  void process.stdout.write(lines.map((line) => `${shown(line, plain)}\n`).join(""));

export interface ConfirmOptions {
  /** Given by `--yes`: proceeds without asking. */
  readonly yes?: boolean | undefined;
  /** The option that says so, if it is another one. */
  readonly option?: string;
}

/**
 * Asks before something that cannot be undone.
 *
 * @param consequence what will happen, as a sentence: `This deletes all users of 'demo'.`
 * @throws unless the user confirms; without a terminal, unless `--yes` is given.
 */
export async function confirm(
  consequence: string,
  { yes, option = "--yes" }: ConfirmOptions,
): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new Error(`${consequence} To proceed without being asked, pass ${option}.`);
  }
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question(`${plain(consequence)} Continue? [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new Error("Nothing was changed.");
  } finally {
    prompt.close();
  }
}
