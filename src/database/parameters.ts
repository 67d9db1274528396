/**
 * Statement parameters in the form that every driver passes on untouched: a list becomes an array
 * literal, a time ISO 8601. The drivers' own conversions guess the type from the first element and
 * disagree on dates, booleans and JSON; the engine knows the type from the statement.
 */
export const encodeParameters = (parameters: readonly unknown[]): unknown[] =>
  parameters.map((value) => (Array.isArray(value) ? arrayLiteral(value) : encodeScalar(value)));

const encodeScalar = (value: unknown): unknown =>
  value instanceof Date ? value.toISOString() : value;

/**
 * A list as an array literal: `{"one","with \\"quotes\\"",NULL}`. Passed instead of the list, it saves
 * writing the same list down for two statements.
 */
export function arrayLiteral(values: readonly unknown[]): string {
  if (values.length === 0) return "{}";
  const plain = plainTexts(values);
  if (plain) return `{"${plain.join('","')}"}`;
  return `{${values.map(elementLiteral).join()}}`;
}

const NEEDS_ESCAPE = /["\\]/;

/** The list where all of it are texts that stand for themselves in quotes, as nearly all are. */
function plainTexts(values: readonly unknown[]): readonly string[] | undefined {
  for (const value of values) if (typeof value !== "string") return undefined;
  return NEEDS_ESCAPE.test(values.join("")) ? undefined : (values as readonly string[]);
}

function elementLiteral(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = value instanceof Date ? value.toISOString() : String(value);
  return `"${NEEDS_ESCAPE.test(text) ? text.replaceAll(/["\\]/g, "\\$&") : text}"`;
}

/**
 * A `timestamptz` as every engine writes it where the session's time zone is UTC, such as
 * `2026-01-01 12:00:00.123456+00`. The drivers read it with `new Date`, which takes the years 1 to 99
 * for those of our own time unless the text is ISO 8601.
 */
export const readTimestamp = (text: string): Date =>
  new Date(text.replace(" ", "T").replace(/\+00(?::00)?$/, "Z"));
