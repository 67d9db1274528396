/**
 * A list as an array literal: `{"one","with \\"quotes\\"",NULL}`.
 */
export function arrayLiteral(values: readonly unknown[]): string {
  if (values.length === 0) return "{}";
  const plain = plainTexts(values);
  if (plain) return `{"${plain.join('","')}"}`;
  return `{${values.map(elementLiteral).join()}}`;
}

const NEEDS_ESCAPE = /["\\]/;

/** The list if no text in it needs escaping, as in nearly all. */
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
