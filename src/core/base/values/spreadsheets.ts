import { type Options, stringify } from "csv-stringify/sync";

/*
 * CSV as Rapport writes it, everywhere. Spreadsheets evaluate a cell that begins like a formula (OWASP, CSV injection). Such a text
 * is written with a leading apostrophe, and read without it. Numbers are written as they are: -5 is a number, not a formula.
 */

/** The signs of formulas, also as East Asian spreadsheets type them, and blanks that some readers skip before them. */
const RUN_BY_SPREADSHEETS = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

/** The text as a cell that no spreadsheet evaluates. */
const disarm = (text: string): string => (RUN_BY_SPREADSHEETS.test(text) ? `'${text}` : text);

/** The text of a cell that `csvText` wrote. */
export const rearm = (text: string): string =>
  text.startsWith("'") && RUN_BY_SPREADSHEETS.test(text) ? text.slice(1) : text;

/** Null is an empty cell. */
export type Cell = string | number | boolean | null;

/** Rows as CSV (RFC 4180). No text of a cell runs as a formula. */
export const csvText = (rows: readonly (readonly Cell[])[], options?: Options): string =>
  stringify(
    rows.map((row) =>
      row.map((cell) => (typeof cell === "string" ? disarm(cell) : String(cell ?? ""))),
    ),
    options,
  );
