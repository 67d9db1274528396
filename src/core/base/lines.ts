/*
 * Lines end at `\n`, and nowhere else. Node's readline also ends them at a single `\r` and, from
 * Node 24 on, at U+2028 and U+2029, which JSON and CSV may contain unescaped.
 */

const NEWLINE = 0x0a;

/** Longer than any row of a backup or an export; a longer line is no such row. */
export const LONGEST_LINE_BYTES = 64 * 1_048_576;

export interface Line {
  /** From 1. */
  readonly number: number;
  /** How many bytes of the stream it ends after, with its `\n`. */
  readonly endsAt: number;
  /** Without the `\n`; undefined if it is too long. */
  readonly bytes: Buffer | undefined;
}

/**
 * Cuts a stream of bytes into lines. A line that is too long is never held in memory as a whole.
 *
 * @param longest how many bytes a line may have.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  longest = LONGEST_LINE_BYTES,
): AsyncGenerator<Line> {
  let number = 0;
  let offset = 0;
  let parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer) => {
    length += part.length;
    if (length <= longest) parts.push(part);
    else parts = [];
  };
  const end = (): Line => {
    number += 1;
    const [only = Buffer.alloc(0)] = parts;
    const bytes = parts.length > 1 ? Buffer.concat(parts, length) : only;
    const line = { number, endsAt: offset, bytes: length > longest ? undefined : bytes };
    parts = [];
    length = 0;
    return line;
  };
  for await (const each of chunks) {
    const chunk = Buffer.from(each.buffer, each.byteOffset, each.byteLength);
    let start = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, at));
      offset += at + 1 - start;
      start = at + 1;
      yield end();
    }
    add(chunk.subarray(start));
    offset += chunk.length - start;
  }
  if (length > 0) yield end();
}

/**
 * Cuts a stream into lines of text (UTF-8).
 *
 * @param name of the stream, for the error.
 * @throws in words if a line is longer than LONGEST_LINE_BYTES.
 */
export async function* textLinesOf(
  name: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string> {
  for await (const { number, bytes } of linesOf(chunks)) {
    if (!bytes) throw new Error(`Line ${number} of ${name} is ${TOO_LONG}.`);
    yield bytes.toString("utf8");
  }
}

/** Why a line comes without its bytes. */
export const TOO_LONG = `longer than ${LONGEST_LINE_BYTES / 1_048_576} MiB`;

/**
 * The row ending of a CSV file, found at its beginning. Files of old Macs end rows with only `\r`;
 * in any other file that is a part of a value, and `\r\n` and `\n` may alternate.
 */
export function csvLineEnds(beginning: string): string[] {
  const [, end] = /^(?:[^"\r\n]|"[^"]*")*(\r\n?|\n)/.exec(beginning) ?? [];
  return end === "\r" ? ["\r"] : ["\r\n", "\n"];
}
