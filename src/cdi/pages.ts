import { Problem } from "../problem.ts";

/*
 * Lists that are read in pages. A cursor names a row and a direction, so that rows that come or go
 * in the meantime neither hide others nor show them twice. It is opaque to whoever follows it.
 */

/** A list in its order. */
export interface Listing<Row> {
  /** The path of the list, for the links. */
  readonly path: string;
  readonly pageSize: number;
  /** What tells a row's place in the order. */
  keyOf(row: Row): string;
  /** Whether a text can be such a key. */
  isKey(text: string): boolean;
  /** The rows beyond a key, nearest first; from the beginning where there is none. */
  select(beyond: string | undefined, isForward: boolean, atMost: number): Promise<Row[]>;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** `Link`, or nothing where there are no other pages. spec: GET /cdi/integrations */
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws Problem INVALID_REQUEST `Invalid cursor` */
export async function readPage<Row>(
  listing: Listing<Row>,
  cursor: string | undefined,
): Promise<Page<Row>> {
  const { select, keyOf, pageSize, path } = listing;
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
    ...(hasPrevious ? [`<${path}?cursor=${cursorOf("before", keyOf(first))}>; rel="prev"`] : []),
    ...(hasNext ? [`<${path}?cursor=${cursorOf("after", keyOf(last))}>; rel="next"`] : []),
  ];
  return { rows, headers: links.length > 0 ? { link: links.join(",") } : {} };
}

const cursorOf = (side: "before" | "after", key: string): string =>
  Buffer.from(`${side} ${key}`).toString("base64url");

function readCursor(
  { isKey }: Pick<Listing<unknown>, "isKey">,
  cursor: string | undefined,
): { key: string | undefined; isForward: boolean } {
  if (cursor === undefined) return { key: undefined, isForward: true };
  const text = Buffer.from(cursor, "base64url").toString();
  const [, side, key = ""] = /^(before|after) (.+)$/s.exec(text) ?? [];
  const isOurs = (side === "before" || side === "after") && cursorOf(side, key) === cursor;
  if (!isOurs || !isKey(key)) throw new Problem("INVALID_REQUEST", "Invalid cursor");
  return { key, isForward: side === "after" };
}
