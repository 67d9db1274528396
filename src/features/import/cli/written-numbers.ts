/* Numbers as people write them: 1.234,56 or 1,234.56, by the mark that is said to stand before the fraction. */

export type Decimal = "." | ",";

export const DECIMALS: readonly Decimal[] = [",", "."];

/** Thousands may be separated by blanks, apostrophes, or the mark that is not the decimal one. */
const FORMS: Readonly<Record<Decimal, RegExp>> = {
  ",": /^\s*([-+]?(?:\d{1,3}(?:[. '’\u00a0\u202f]\d{3})+|\d+))(?:,(\d+))?\s*$/,
  ".": /^\s*([-+]?(?:\d{1,3}(?:[, '’\u00a0\u202f]\d{3})+|\d+))(?:\.(\d+))?\s*$/,
};

/** A number as JSON has it; undefined if a mark is given and the number is not written with it. */
export function plainNumber(text: string, decimal: Decimal | undefined): string | undefined {
  if (decimal === undefined) return text;
  const [, whole, fraction] = FORMS[decimal].exec(text) ?? [];
  if (whole === undefined) return undefined;
  return whole.replaceAll(/[^\d+-]/g, "") + (fraction === undefined ? "" : `.${fraction}`);
}
