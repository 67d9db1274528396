/*
 * Rows out of a JSON document while it arrives: the pages of a warehouse have as many megabytes as it likes, and
 * `JSON.parse` would hold one of them twice. Only brackets and quotes are looked at here; each row is parsed by itself.
 */

/** A row is larger than any requested row. */
export class RowTooLarge extends Error {}

/** The document ended before its end, or is no such document. */
export class RowsCut extends Error {}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A payload of 1 MB, its escapes, and the identifiers. */
const LARGEST_ROW_BYTES = 16 * 1_048_576;

/**
 * The elements of an array, grouped by chunk.
 *
 * @param member the member of the document's object with the array; undefined if the document is
 * the array.
 * @throws RowTooLarge, RowsCut
 */
export async function* rowsIn(
  chunks: AsyncIterable<Uint8Array>,
  member: string | undefined,
): AsyncGenerator<unknown[]> {
  const scanner = createScanner(member);
  let rest: Buffer = Buffer.alloc(0);
  let withoutRow = 0;
  for await (const chunk of chunks) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : Buffer.from(chunk);
    const { rows, from } = scanner.scan(bytes, rest.length);
    rest = bytes.subarray(from);
    withoutRow = rows.length > 0 ? 0 : withoutRow + chunk.length;
    // The second is a page of spaces, or of the bytes after its rows.
    if (Math.max(rest.length, withoutRow) > LARGEST_ROW_BYTES)
      throw new RowTooLarge("A row is too large.");
    if (rows.length > 0) yield rows;
  }
  if (!scanner.hasEnded()) throw new RowsCut("The page ends in the middle.");
}

function createScanner(member: string | undefined) {
  /** How deep the rows are: inside the array. */
  const level = member === undefined ? 1 : 2;
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  let isInArray = false;
  let hasEnded = false;
  /** The text that was read last on the level of the members: a name, when an array follows. */
  let name = "";
  let textFrom = -1;
  let rowFrom = -1;

  /**
   * Looks at the bytes after `seen`; returns the complete rows, and from where on bytes are needed
   * again.
   */
  function scan(bytes: Buffer, seen: number): { rows: unknown[]; from: number } {
    const parts: string[] = [];
    if (rowFrom >= 0) rowFrom = 0;
    else if (textFrom >= 0) textFrom = 0;
    for (let at = seen; at < bytes.length; at++) {
      const byte = bytes[at] as number;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) {
          isInText = false;
          if (textFrom >= 0) name = bytes.toString("utf8", textFrom + 1, at);
          textFrom = -1;
        }
      } else if (byte === QUOTE) {
        isInText = true;
        if (depth === 1 && !isInArray) textFrom = at;
      } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        depth++;
        if (isInArray && depth === level + 1) rowFrom = at;
        else if (depth === level && (member === undefined || name === member)) isInArray = true;
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        depth--;
        if (rowFrom >= 0 && depth === level) {
          parts.push(bytes.toString("utf8", rowFrom, at + 1));
          rowFrom = -1;
        } else if (isInArray && depth < level) isInArray = false;
        if (depth === 0) hasEnded = true;
      }
    }
    const needed = rowFrom >= 0 ? rowFrom : textFrom;
    return { rows: parseAll(parts), from: needed >= 0 ? needed : bytes.length };
  }

  return { scan, hasEnded: () => hasEnded };
}

function parseAll(parts: readonly string[]): unknown[] {
  try {
    return JSON.parse(`[${parts.join(",")}]`);
  } catch (error) {
    throw new RowsCut(`The page is no valid JSON: ${(error as Error).name}.`);
  }
}
