/** About how many characters are one piece. */
const PIECE_CHARACTERS = 65_536;

/**
 * A JSON value as text in pieces, the same in total as `JSON.stringify` gives. The lists in the
 * value are taken apart, so that no piece takes long; a single entry of a list is one piece of any
 * size.
 */
export function* piecesOfJson(value: unknown): Generator<string> {
  let piece = "";
  for (const part of partsOf(value)) {
    piece += part;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = "";
  }
  if (piece) yield piece;
}

function* partsOf(value: unknown): Generator<string> {
  if (Array.isArray(value)) yield* partsOfList(value);
  else if (isPlainObject(value)) yield* partsOfObject(value);
  else yield JSON.stringify(value);
}

function* partsOfList(list: readonly unknown[]): Generator<string> {
  yield "[";
  for (const [index, entry] of list.entries()) {
    yield (index > 0 ? "," : "") + (JSON.stringify(entry) ?? "null");
  }
  yield "]";
}

function* partsOfObject(object: Record<string, unknown>): Generator<string> {
  let separator = "{";
  for (const [key, member] of Object.entries(object)) {
    if (member === undefined) continue;
    yield `${separator}${JSON.stringify(key)}:`;
    if (Array.isArray(member)) yield* partsOfList(member);
    else yield JSON.stringify(member);
    separator = ",";
  }
  yield separator === "{" ? "{}" : "}";
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !("toJSON" in value);
