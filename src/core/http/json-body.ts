import { isUtf8 } from "node:buffer";
import { Problem } from "../base/problem.ts";

const BYTE_ORDER_MARK = 0xfeff;

/** The bytes that structure JSON. */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const OPENS_LIST = 0x5b;
const BACKSLASH = 0x5c;
export const CLOSES_LIST = 0x5d;
export const OPENS_OBJECT = 0x7b;
export const CLOSES_OBJECT = 0x7d;

/**
 * Reads a JSON body. Keys such as `__proto__` stay plain data; bytes that are not UTF-8 are refused,
 * because decoding would put other characters in their place. A byte order mark is ignored.
 *
 * @throws Problem INVALID_REQUEST with the sentence in `message` and in `error`.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw unreadable("it is not UTF-8");
  try {
    const text = bytes.toString("utf8");
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch (error) {
    throw unreadable(positionOf(error));
  }
}

/**
 * Whether a body has no more values than a budget allows: 4 MB of `{},` are 1.4 million objects, and
 * parsing them would block the event loop for a quarter of a second. A large body is read once for
 * that, a millisecond for each MB.
 */
export const hasAtMost = (most: number, bytes: Buffer): boolean =>
  // A value takes two bytes at least, with its comma.
  bytes.length <= 2 * most || countValues(bytes) <= most;

export function tooManyValues(most: number): Problem {
  const sentence = `The body has more than ${most} JSON values. Split it into smaller requests.`;
  return new Problem("TOO_MANY_VALUES", sentence, { body: { code: "TOO_MANY_VALUES" } });
}

/** Commas and opening brackets outside of strings: as many as there are values, or a few more. */
export function countValues(bytes: Buffer): number {
  const { length } = bytes;
  let count = 0;
  for (let index = 0; index < length; index++) {
    const byte = bytes[index];
    if (byte === QUOTE) index = endOfString(bytes, index);
    else if (byte === COMMA || byte === OPENS_LIST || byte === OPENS_OBJECT) count++;
  }
  return count;
}

/** @returns the place of the quote that ends the string, or one behind the text. */
export function endOfString(bytes: Buffer, from: number): number {
  const { length } = bytes;
  let index = from + 1;
  while (index < length && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1;
  return index;
}

/** Where the parser stopped, without the text around it: that may be personal. */
function positionOf(error: unknown): string {
  const position = /at position \d+( \(line \d+ column \d+\))?/.exec(String(error))?.[0];
  return position ? `${NOT_JSON} ${position}` : NOT_JSON;
}

export const NOT_JSON = "it is not valid JSON";

export function unreadable(reason: string): Problem {
  const sentence = `Error while parsing request body: ${reason}. Please check your syntax.`;
  return new Problem("INVALID_REQUEST", sentence, { body: { error: sentence } });
}
