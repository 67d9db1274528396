import { Problem } from "./problem.ts";

/*
 * Lists that are read in pages. A cursor names a row and a direction, so concurrent additions and
 * removals of rows neither hide others nor show them twice. Cursors are opaque to clients.
 */

export interface Listing<Row> {
  /** The list's own path and query, which its links repeat with another cursor. */
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly pageSize: number;
  /** A row's place in the order. */
  keyOf(row: Row): string;
  isKey(text: string): boolean;
  /** The rows beyond a key, nearest first; from the beginning without one. */
  select(beyond: string | undefined, isForward: boolean, atMost: number): Promise<Row[]>;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** `Link`; empty if there are no other pages. spec: GET /cdi/integrations */
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws Problem INVALID_REQUEST `Invalid cursor` */
export async function readPage<Row>(
  listing: Listing<Row>,
  cursor: string | undefined,
): Promise<Page<Row>> {
  const { select, keyOf, pageSize } = listing;
  const { key, isForward } = readCursor(listing, cursor);
  const found = await select(key, isForward, pageSize + 1);
  const goesOn = found.length > pageSize;
  const rows = found.slice(0, pageSize);
  if (!isForward) rows.reverse();
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return { rows, headers: {} };

  const begunAt = keyOf(isForward ? first : last);
  const hasOthersBehind = key !== undefined && (await select(begunAt, !isForward, 1)).length > 0;
  const [hasPrevious, hasNext] = isForward ? [hasOthersBehind, goesOn] : [goesOn, hasOthersBehind];
  const links = [
    ...(hasPrevious ? [linkTo(listing, "prev", cursorOf("before", keyOf(first)))] : []),
    ...(hasNext ? [linkTo(listing, "next", cursorOf("after", keyOf(last)))] : []),
  ];
  return { rows, headers: links.length > 0 ? { link: links.join(",") } : {} };
}

function linkTo(
  { path, query = {} }: Pick<Listing<never>, "path" | "query">,
  rel: "prev" | "next",
  cursor: string,
): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...query, cursor })) {
    for (const each of [value].flat()) {
      if (each !== undefined) parameters.append(name, String(each));
    }
  }
  return `<${path}?${parameters}>; rel="${rel}"`;
}

const cursorOf = (side: "before" | "after", key: string): string => opaqueCursor(`${side} ${key}`);

function readCursor(
  { isKey }: Pick<Listing<unknown>, "isKey">,
  cursor: string | undefined,
): { key: string | undefined; isForward: boolean } {
  if (cursor === undefined) return { key: undefined, isForward: true };
  const [side, key = ""] = readOpaque(cursor, /^(before|after) (.+)$/s);
  if (!isKey(key)) throw invalidCursor();
  return { key, isForward: side === "after" };
}

export const invalidCursor = (): Problem => new Problem("INVALID_REQUEST", "Invalid cursor");

export const opaqueCursor = (text: string): string => Buffer.from(text).toString("base64url");

/**
 * The groups of a pattern in the text of a cursor that `opaqueCursor` wrote. No text holds NUL.
 *
 * @throws Problem INVALID_REQUEST `Invalid cursor`
 */
export function readOpaque(cursor: string, pattern: RegExp): string[] {
  const text = Buffer.from(cursor, "base64url").toString();
  const found = pattern.exec(text);
  if (!found || text.includes("\0") || opaqueCursor(text) !== cursor) throw invalidCursor();
  return found.slice(1);
}

/**
 * A page of a list that is read forwards only.
 *
 * @param found one row more than `limit`, if there are that many: it shows that another page follows.
 * @returns the rows, and the cursor of the next page as a member of the response body.
 */
export function forwardPage<Row>(
  found: readonly Row[],
  limit: number,
  cursorOf: (row: Row) => string,
): { readonly rows: readonly Row[]; readonly next: { readonly next_cursor?: string } } {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const hasMore = found.length > limit && last !== undefined;
  return { rows, next: hasMore ? { next_cursor: cursorOf(last) } : {} };
}
