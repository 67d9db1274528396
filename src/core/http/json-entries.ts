import { isUtf8 } from "node:buffer";
import { startTurns } from "../base/turns.ts";
import {
  CLOSES_LIST,
  CLOSES_OBJECT,
  COMMA,
  endOfString,
  NOT_JSON,
  OPENS_LIST,
  OPENS_OBJECT,
  parseJsonBody,
  QUOTE,
  unreadable,
} from "./json-body.ts";

/*
 * Parses a large body entry by entry, so that others get a turn in between. An entry is an element of a list
 * that is a member of the body. The text is split at its brackets and commas without being understood; it is
 * valid exactly if all entries are, and what is left with a number in the place of each (the frame) is, too.
 */

/** More than any request may have; each costs a few microseconds before it is looked at. */
const MOST_ENTRIES = 10_000;

interface Entry {
  readonly from: number;
  readonly to: number;
}

export interface SplitBody {
  readonly entries: readonly Entry[];
  /** The rest, with the index of each entry in its place. */
  readonly frame: Buffer;
  /** How many values the whole body has, about. */
  readonly values: number;
}

/**
 * Takes the bytes of the body; returns undefined if there are too many entries, or one, or the frame, has more than
 * `most` values.
 *
 * @throws Problem INVALID_REQUEST for a body that is cut off.
 */
export function splitEntries(bytes: Buffer, most: number): SplitBody | undefined {
  const entries: Entry[] = [];
  const frame: Buffer[] = [];
  let framedTo = 0;
  let depth = 0;
  let isInList = false;
  let entryFrom = 0;
  let values = 0;
  let valuesBefore = 0;
  let framed = 0;

  /** @returns whether the entry that ends here has few enough values. */
  function end(at: number): boolean {
    const inside = values - valuesBefore;
    // An empty list has no entry, and a missing one is not JSON in the frame either.
    if (!isBlank(bytes, entryFrom, at)) {
      frame.push(bytes.subarray(framedTo, entryFrom), Buffer.from(`${entries.length}`));
      entries.push({ from: entryFrom, to: at });
      framedTo = at;
    }
    return inside <= most && entries.length <= MOST_ENTRIES;
  }

  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === QUOTE) index = endOfString(bytes, index);
    else if (byte === OPENS_LIST || byte === OPENS_OBJECT) {
      depth++;
      values++;
      if (depth === 2) {
        isInList = byte === OPENS_LIST;
        entryFrom = index + 1;
        valuesBefore = values;
      } else if (!isInList) framed++;
    } else if (byte === CLOSES_LIST || byte === CLOSES_OBJECT) {
      if (depth === 2 && isInList) {
        if (!end(index)) return undefined;
        isInList = false;
      }
      depth--;
    } else if (byte === COMMA) {
      values++;
      if (depth === 2 && isInList) {
        if (!end(index)) return undefined;
        entryFrom = index + 1;
        valuesBefore = values;
      } else if (!isInList) framed++;
    }
  }
  if (isInList) throw unreadable(NOT_JSON);
  if (framed > most) return undefined;
  frame.push(bytes.subarray(framedTo));
  return { entries, frame: Buffer.concat(frame), values };
}

/** @throws Problem INVALID_REQUEST, as `parseJsonBody` does. */
export async function parseEntries(bytes: Buffer, { entries, frame }: SplitBody): Promise<unknown> {
  const turns = startTurns();
  if (!isUtf8(bytes)) throw unreadable("it is not UTF-8");
  const body = parseJsonBody(frame);
  const parsed: unknown[] = [];
  for (const { from, to } of entries) {
    parsed.push(parseEntry(bytes, from, to));
    if (turns.isOver()) await turns.next();
  }
  if (entries.length === 0) return body;
  // A key that is there twice has the last of its lists.
  for (const [name, list] of Object.entries(body as Record<string, unknown>)) {
    if (Array.isArray(list)) {
      const values = list.map((index: number) => parsed[index]);
      Object.defineProperty(body, name, { value: values, enumerable: true });
    }
  }
  return body;
}

function parseEntry(bytes: Buffer, from: number, to: number): unknown {
  try {
    return JSON.parse(bytes.toString("utf8", from, to));
  } catch {
    throw unreadable(`${NOT_JSON} in the entry that begins at byte ${from}`);
  }
}

const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

function isBlank(bytes: Buffer, from: number, to: number): boolean {
  let index = from;
  while (index < to && BLANKS.has(bytes[index])) index++;
  return index === to;
}
