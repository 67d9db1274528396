/*
 * Spreadsheets evaluate a cell that begins like a formula. Such a text is exported with a leading apostrophe, which they
 * hide, and imported without it.
 */

const RUN_BY_SPREADSHEETS = /^'*[=+\-@\t\r]/;

/** The text as a cell that no spreadsheet evaluates. */
export const disarm = (text: string): string =>
  RUN_BY_SPREADSHEETS.test(text) ? `'${text}` : text;

/** The text of a cell that `disarm` wrote. */
export const rearm = (text: string): string =>
  text.startsWith("'") && RUN_BY_SPREADSHEETS.test(text) ? text.slice(1) : text;
