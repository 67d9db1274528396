import type { SourceRow, Strays, TableShape } from "./source.ts";

/* Rows as statements give them: texts in a fixed order, the identifiers last. */

type Values = readonly (string | null)[];

/** Builds a row from UPDATED_AT, the size of the payload, the payload, and the identifiers. */
export const readRow = (
  shape: TableShape,
  [updatedAt, payloadBytes, payload, ...identifiers]: Values,
): SourceRow => ({
  updatedAt: updatedAt as string,
  payload: payload ?? null,
  payloadBytes: Number(payloadBytes),
  identifiers: named(shape, identifiers),
});

/**
 * Builds them from two counts and examples. An example begins with 1 if its time is in the future
 * and with 0 if it has none, and has UPDATED_AT as the source writes it.
 */
export const readStrays = (
  shape: TableShape,
  [timeless, future]: Values,
  examples: readonly Values[],
): Strays => ({
  unreadable: Number(timeless),
  future: Number(future),
  examples: examples.map(([isFuture, updatedAt, ...identifiers]) => ({
    why: isFuture === "1" ? "future" : "timeless",
    identity: named(shape, identifiers),
    updatedAt: updatedAt ?? null,
  })),
});

/** The identifiers that a row has, by their names. */
function named({ identifiers }: TableShape, values: Values): SourceRow["identifiers"] {
  const found: { [part: string]: string } = {};
  for (const [index, { part }] of identifiers.entries()) {
    const value = values[index];
    if (value !== null && value !== undefined) found[part] = value;
  }
  return found;
}
