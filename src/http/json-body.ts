import { isUtf8 } from "node:buffer";
import { Problem } from "../problem.ts";

/** 4 MB: docs/errors.md. */
export const BODY_LIMIT_BYTES = 4_194_304;

const BYTE_ORDER_MARK = 0xfeff;

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

/** Where the parser stopped, without the text around it: that may be personal. */
function positionOf(error: unknown): string {
  const position = /at position \d+( \(line \d+ column \d+\))?/.exec(String(error))?.[0];
  return position ? `it is not valid JSON ${position}` : "it is not valid JSON";
}

function unreadable(reason: string): Problem {
  const sentence = `Error while parsing request body: ${reason}. Please check your syntax.`;
  return new Problem("INVALID_REQUEST", sentence, { body: { error: sentence } });
}
