import { type Fault, Problem } from "../problem.ts";
import { type Finding, faultAt, finding, foundAt } from "./findings.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export type JsonObject = { readonly [key: string]: Json };

/**
 * A value that has been written as JSON and is stored so: what is measured is written once, and takes no more
 * memory than its text.
 */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export const jsonList = (values: readonly (Json | JsonText)[]): string =>
  values.some((value) => value instanceof JsonText)
    ? `[${values.map(jsonOf).join(",")}]`
    : JSON.stringify(values);

export const jsonOf = (value: Json | JsonText): string =>
  value instanceof JsonText ? value.text : JSON.stringify(value);

/** How deep objects and arrays may be nested. docs/decisions/values.md */
const maxLevels = 100;

/**
 * Finds what no engine could store unchanged: NUL characters and lone surrogates
 * (`INVALID_TEXT`), the key `__proto__` (`INVALID_KEY`), more than 100 levels (`NESTED_TOO_DEEP`)
 * and numbers beyond ±(2^53 − 1) (`NUMBER_NOT_EXACT`).
 *
 * Takes any JSON value of any depth and the name it goes by in sentences (`properties`, or empty
 * for a whole item); returns the first fault, which names the place (`properties.items[3].name`),
 * or undefined. Never throws. docs/conformance.md#bodies
 */
export function findUnstorable(value: unknown, path: string): Fault | undefined {
  const found = findIn(value, 0);
  return found && faultAt(path, found);
}

/** The same, with the place as keys and indexes. */
export function findUnstorablePlace(
  value: unknown,
): { readonly fault: Fault; readonly place: (string | number)[] } | undefined {
  const found = findIn(value, 0);
  return found && { fault: faultAt("", found), place: found.steps.toReversed() };
}

/**
 * Refuses a part of a request with text that no engine could store unchanged, in a value or in a key, or nested so
 * deep that an engine could not read it. Endpoints whose requests have items check each item instead.
 *
 * @throws Problem INVALID_REQUEST with the code INVALID_TEXT or NESTED_TOO_DEEP, naming the nearest key.
 */
export function refuseUnstorableText(value: unknown, part: string): void {
  const waiting: [name: string, value: unknown, level: number][] = [["", value, 0]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [name, found, level] = next;
    if (typeof found === "string") refuseNoText(name, found, part);
    if (found === null || typeof found !== "object") continue;
    if (level === maxLevels) refuse(name, part, `: ${tooDeepReason}`, "NESTED_TOO_DEEP");
    for (const [key, member] of Object.entries(found)) {
      if (!Array.isArray(found)) refuseNoText(name, key, part);
      waiting.push([Array.isArray(found) ? name : key, member, level + 1]);
    }
  }
}

function refuseNoText(name: string, text: string, part: string): void {
  if (isText(text)) return;
  const what = text.includes("\0") ? "a NUL character" : "a lone surrogate";
  refuse(name, part, ` holds ${what}`, "INVALID_TEXT");
}

function refuse(name: string, part: string, why: string, code: string): never {
  const place = name ? `'${name}' in the ${part}` : `The ${part}`;
  throw new Problem("INVALID_REQUEST", `${place}${why}`, { body: { code } });
}

/**
 * Refuses a body that no engine could store unchanged; for requests without verdicts on single items.
 *
 * @throws Problem INVALID_REQUEST with the place, and the code in the body.
 */
export function refuseUnstorable(body: unknown): void {
  const fault = findUnstorable(body, "");
  if (fault) throw new Problem("INVALID_REQUEST", fault.message, { body: { code: fault.code } });
}

function findIn(value: unknown, level: number): Finding | undefined {
  switch (typeof value) {
    case "string":
      return isText(value) ? undefined : finding("INVALID_TEXT", `the text holds ${whyNot(value)}`);
    case "number":
      return isExact(value) ? undefined : finding("NUMBER_NOT_EXACT", inexactReason);
    case "object":
      if (value === null) return undefined;
      if (level === maxLevels) return finding("NESTED_TOO_DEEP", tooDeepReason);
      return Array.isArray(value) ? findInArray(value, level + 1) : findInObject(value, level + 1);
    default:
      return undefined;
  }
}

function findInArray(array: readonly unknown[], level: number): Finding | undefined {
  for (let index = 0; index < array.length; index++) {
    const found = findIn(array[index], level);
    if (found) return foundAt(index, found);
  }
  return undefined;
}

function findInObject(object: object, level: number): Finding | undefined {
  // for…in makes no list of the keys; JSON.parse gives objects without enumerable inherited keys.
  for (const key in object) {
    const found = findInKey(key) ?? findIn((object as Record<string, unknown>)[key], level);
    if (found) return foundAt(key, found);
  }
  return undefined;
}

function findInKey(key: string): Finding | undefined {
  if (key === "__proto__") return finding("INVALID_KEY", "'__proto__' is not allowed as a key");
  return isText(key) ? undefined : finding("INVALID_TEXT", `the key holds ${whyNot(key)}`);
}

const tooDeepReason = `objects and arrays may be nested at most ${maxLevels} levels deep`;

export const inexactReason =
  `beyond ±${Number.MAX_SAFE_INTEGER} no number is exact; ` +
  "send a smaller one, or an id as a string";

/**
 * Whether every JSON reader returns the number as written: at most 2^53 − 1 in magnitude, and
 * finite. docs/decisions/values.md
 */
export const isExact = (value: number): boolean => Math.abs(value) <= Number.MAX_SAFE_INTEGER;

const isText = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

/** A text with everything replaced that no engine stores. */
export const storableText = (text: string): string =>
  text.toWellFormed().replaceAll("\0", "\u{FFFD}");

const whyNot = (text: string): string =>
  text.includes("\0") ? "a NUL character" : "a lone surrogate, which is no Unicode character";

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The same for what came as JSON. */
export const isJsonObject = (value: unknown): value is JsonObject => isObject(value);

/** The object without its members that are null; the same object if there are none. */
export function withoutNulls(object: JsonObject): JsonObject {
  const members = Object.entries(object);
  const given = members.filter(([, value]) => value !== null);
  return given.length === members.length ? object : Object.fromEntries(given);
}

/** The size of a value that has passed `findUnstorable`: bytes of compact JSON in UTF-8. */
export const jsonByteLength = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

/**
 * Whether a text has more than `most` characters. A character is a Unicode code point,
 * as PostgreSQL counts too, so that an emoji counts once.
 */
export function isLongerThan(text: string, characters: number): boolean {
  if (text.length <= characters) return false;
  return text.length > 2 * characters || [...text].length > characters;
}
