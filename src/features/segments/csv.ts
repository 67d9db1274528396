/*
 * Users of a segment as CSV (RFC 4180), for the command line and the dashboard. Nothing here needs Node, and `textCell` alone decides
 * how a text becomes a cell.
 */

/** The members of an exported user that make a column, in their order. */
export const STANDARD_COLUMNS = [
  "external_id",
  "first_name",
  "last_name",
  "email",
  "phone",
  "country",
  "home_city",
  "language",
  "gender",
  "dob",
  "time_zone",
  "created_at",
  "email_subscribe",
  "push_subscribe",
  "total_revenue",
] as const;

const CUSTOM = "custom_attributes.";

export const columnOfAttribute = (name: string): string => CUSTOM + name;

/** Spreadsheets evaluate a cell that begins like this (OWASP, CSV injection). */
const RUN_BY_SPREADSHEETS = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;

const textCell = (text: string): string => (RUN_BY_SPREADSHEETS.test(text) ? `'${text}` : text);

const quoted = (text: string): string =>
  /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

const line = (cells: readonly string[]): string => `${cells.map(quoted).join(",")}\n`;

/** The first line. */
export const headerLine = (columns: readonly string[]): string => line(columns.map(textCell));

/** A user as a line; what the user does not have is an empty cell, a list or an object is JSON. */
export const userLine = (
  user: Readonly<Record<string, unknown>>,
  columns: readonly string[],
): string => line(columns.map((column) => cellOf(memberOf(user, column))));

function memberOf(user: Readonly<Record<string, unknown>>, column: string): unknown {
  if (!column.startsWith(CUSTOM)) return user[column];
  const custom = user.custom_attributes as Readonly<Record<string, unknown>> | null | undefined;
  return custom?.[column.slice(CUSTOM.length)];
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return textCell(value);
  return typeof value === "object" ? textCell(JSON.stringify(value)) : String(value);
}
