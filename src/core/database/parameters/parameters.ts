import { arrayLiteral } from "./array-literal.ts";
import { isTypedList } from "./typed-list.ts";

/**
 * Statement parameters in the form that every driver passes on untouched: a list becomes an array
 * literal, a time ISO 8601. The drivers' own conversions guess the type from the first element and
 * disagree on dates, booleans and JSON; the engine knows the type from the statement.
 *
 * @param wrap how the driver takes the bytes of a list with a declared type.
 */
export const encodeParameters = (
  parameters: readonly unknown[],
  wrap: (bytes: Uint8Array) => unknown = (bytes) => bytes,
): unknown[] =>
  parameters.map((value) => {
    if (Array.isArray(value)) return arrayLiteral(value);
    if (value instanceof Date) return value.toISOString();
    return isTypedList(value) ? wrap(value.asBinary()) : value;
  });

/**
 * A `timestamptz` as every engine writes it where the session's time zone is UTC, such as
 * `2026-01-01 12:00:00.123456+00`. The drivers read it with `new Date`, which takes the years 1 to 99
 * for recent years unless the text is ISO 8601.
 */
export const readTimestamp = (text: string): Date =>
  text.charCodeAt(10) === SPACE && text.endsWith("+00")
    ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
    : new Date(text.replace(" ", "T").replace(/\+00(?::00)?$/, "Z"));

const SPACE = 32;
