import { NUMBERS, TEXTS } from "../../../cli/file-columns.ts";
import type { Fault } from "../../../core/base/problem.ts";
import { parseTime } from "../../../core/base/values/times.ts";
import { standardAttribute } from "../../../core/people/profiles/standard-attributes.ts";
import type { ImportKind } from "../import-kind.ts";

/*
 * How the columns of a CSV or Parquet file become members of an object. A header may say the type of its column (`score:number`),
 * as exports do; the other types are inferred from the whole column.
 */

export const COLUMN_TYPES = ["text", "number", "boolean", "time", "json"] as const;

type ValueType = (typeof COLUMN_TYPES)[number];

/**
 * With a question mark, a cell of another type is left out and reported, and the row is imported.
 */
export type ColumnType = ValueType | `${ValueType}?`;

export const isColumnType = (text: string): text is ColumnType =>
  COLUMN_TYPES.some((type) => text === type || text === `${type}?`);

/** A column and where its values go. */
export interface Column {
  /** The header without its type. */
  readonly name: string;
  /** The member, step by step; undefined if the column is left out. */
  readonly path: readonly string[] | undefined;
  readonly type: ColumnType;
  /** A value, for display. */
  readonly example: string;
}

export interface ColumnOptions {
  /** The field for a column, by its name; empty leaves it out. */
  readonly map: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, ColumnType>;
}

/** Members that hold objects, which a column can name with a dot. */
const NESTED = ["user_alias", "properties", "custom_attributes"];

/** A header and its parts. */
export interface Heading {
  readonly name: string;
  readonly type: ColumnType | undefined;
}

/** @throws if an option names a column that does not exist. */
export function readHeadings(
  header: readonly string[],
  { map, types }: ColumnOptions,
): readonly Heading[] {
  const headings = header.map((text) => {
    const [, name = text, type = ""] = /^(.+):(\w+\??)$/s.exec(text) ?? [];
    return isColumnType(type) ? { name, type } : { name: text, type: undefined };
  });
  refuseUnknown(
    headings.map(({ name }) => name),
    { map, types },
    header,
  );
  return headings.map(({ name, type }) => ({ name, type: types.get(name) ?? type }));
}

/** @throws where an option names a column that does not exist. */
export function refuseUnknown(
  names: readonly string[],
  { map, types }: ColumnOptions,
  shown: readonly string[] = names,
): void {
  for (const name of [...map.keys(), ...types.keys()]) {
    if (names.includes(name)) continue;
    throw new Error(`There is no column '${name}'. The columns are ${shown.join(", ")}.`);
  }
}

/** Facts that hold for all values of a column. */
export interface ColumnFacts {
  example: string;
  isNumber: boolean;
  isBoolean: boolean;
  isJson: boolean;
}

/** The facts about a column before its first value: any type is still possible. */
export const noFacts = (): ColumnFacts => ({
  example: "",
  isNumber: true,
  isBoolean: true,
  isJson: true,
});

/** Adds a value; an empty one says nothing. */
export function addToFacts(evidence: ColumnFacts, text: string): void {
  if (text === "") return;
  if (evidence.example === "") evidence.example = text;
  evidence.isNumber &&= isNumber(text);
  evidence.isBoolean &&= isBoolean(text);
  evidence.isJson &&= isJson(text);
}

/**
 * Decides where columns go and what their values are.
 *
 * @param evidence the types of each column's values; for columns without a type in the heading,
 * from all values.
 * @throws if two columns set one member.
 */
export function inferColumns(
  kind: ImportKind,
  headings: readonly Heading[],
  evidence: readonly ColumnFacts[],
  { map }: ColumnOptions,
): Column[] {
  const targets = headings.map(({ name }) => targetOf(kind, name, map.get(name)));
  const isProfile = kind === "users" && targets.some((path) => path?.[0] === "created_at");
  const columns = headings.map(({ name, type }, index) => {
    const target = wholeOf(targets[index], evidence[index] ?? noFacts());
    // An exported profile has its custom attributes in a separate object.
    const path =
      !isProfile && target?.[0] === "custom_attributes" && target.length > 1
        ? target.slice(1)
        : target;
    const seen = evidence[index] ?? noFacts();
    return { name, path, type: type ?? typeOf(kind, path, seen), example: seen.example };
  });
  refuseTwice(columns);
  return columns;
}

/**
 * A column of JSON named `properties` contains all of them, and one named `user_alias` the whole
 * alias.
 */
const wholeOf = (
  path: readonly string[] | undefined,
  { example, isJson }: ColumnFacts,
): readonly string[] | undefined => {
  const [first, second = "", ...rest] = path ?? [];
  const isWhole = first === "properties" && WHOLE.includes(second) && rest.length === 0;
  return isWhole && isJson && example !== "" ? [second] : path;
};

const WHOLE = ["properties", "user_alias"];

/** Whether rows with these columns are profiles as an export writes them. */
export const areProfiles = (kind: ImportKind, columns: readonly Column[]): boolean =>
  kind === "users" && columns.some(({ path }) => path?.[0] === "created_at");

function refuseTwice(columns: readonly Column[]): void {
  const names = new Map<string, string>();
  for (const { name, path } of columns) {
    if (!path) continue;
    const other = names.get(JSON.stringify(path));
    if (other !== undefined)
      throw new Error(`The columns '${other}' and '${name}' both set '${path.join(".")}'.`);
    names.set(JSON.stringify(path), name);
  }
  for (const { name, path } of columns) {
    for (let length = 1; path && length < path.length; length++) {
      const other = names.get(JSON.stringify(path.slice(0, length)));
      if (other === undefined) continue;
      throw new Error(`The column '${name}' sets a part of what the column '${other}' sets.`);
    }
  }
}

const targetOf = (kind: ImportKind, name: string, mapped: string | undefined) =>
  mapped === undefined ? pathOf(kind, knownName(kind, name)) : mappedPathOf(kind, mapped);

/** A field given with --map: its dots lead into nested objects (`address.city`). */
function mappedPathOf(kind: ImportKind, field: string): readonly string[] | undefined {
  const [first = "", ...rest] = pathOf(kind, field) ?? [];
  if (first === "") return undefined;
  if (rest.length === 0) return first.split(".");
  return first === "user_alias" ? [first, ...rest] : [first, ...rest.join(".").split(".")];
}

/** `First Name` is first_name; any other name stays as it is. */
function knownName(kind: ImportKind, name: string): string {
  const likely = name.toLowerCase().replaceAll(/[ -]+/g, "_");
  return isOwnField(kind, likely) ? likely : name;
}

const isOwnField = (kind: ImportKind, name: string): boolean =>
  TEXTS[kind].includes(name) ||
  NUMBERS[kind].includes(name) ||
  (kind === "users" && standardAttribute(name) !== undefined);

/** Any field that an event or a purchase does not have is a property of it. */
function pathOf(kind: ImportKind, field: string): readonly string[] | undefined {
  if (field === "") return undefined;
  const [first = "", ...rest] = field.split(".");
  if (NESTED.includes(first) && rest.length > 0) return [first, rest.join(".")];
  if (kind === "users" || kind === "subscriptions" || isOwnField(kind, field)) return [field];
  return ["properties", field];
}

function typeOf(
  kind: ImportKind,
  path: readonly string[] | undefined,
  evidence: ColumnFacts,
): ValueType {
  const [first = "", second] = path ?? [];
  const isEmpty = evidence.example === "";
  if (second === undefined) {
    if (TEXTS[kind].includes(first)) return "text";
    if (NUMBERS[kind].includes(first)) return "number";
    if (kind === "users" && standardAttribute(first) && (isEmpty || !evidence.isJson)) {
      return !isEmpty && evidence.isBoolean ? "boolean" : "text";
    }
  }
  if (isEmpty || (first === "user_alias" && second !== undefined)) return "text";
  if (evidence.isNumber) return "number";
  if (evidence.isBoolean) return "boolean";
  return evidence.isJson ? "json" : "text";
}

/**
 * Spelled as a number is: a text that begins with a zero or a plus, or has more digits than a
 * number can hold, is an id.
 */
const isNumber = (text: string): boolean => {
  if (!/^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)) return false;
  return text.replaceAll(/\D/g, "").length <= 15;
};

const isBoolean = (text: string): boolean => /^(true|false)$/i.test(text);

const isJson = (text: string): boolean => /^[[{]/.test(text) && readJson(text) !== undefined;

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The object of a row, without the cells that were left out of it; or the reason why there is none.
 */
type ReadRow =
  | { readonly value: Record<string, unknown>; readonly leftOut: readonly Fault[] }
  | { readonly fault: Fault };

/** The object that a row means; null is absent. */
export function objectOf(
  columns: readonly Column[],
  row: readonly (string | null | undefined)[],
  readers: Readonly<Record<ValueType, (text: string) => unknown>>,
): ReadRow {
  const object: Record<string, unknown> = {};
  const leftOut: Fault[] = [];
  for (const [index, { name, path, type }] of columns.entries()) {
    const text = row[index] ?? null;
    if (!path || text === null) continue;
    const value = readers[type.replace("?", "") as ValueType](text);
    if (value !== undefined) setMember(object, path, value);
    else if (type.endsWith("?")) leftOut.push(faultOf(name, type));
    else return { fault: faultOf(name, type) };
  }
  return { value: object, leftOut };
}

function faultOf(name: string, type: ColumnType): Fault {
  if (type.endsWith("?")) {
    return { code: "COLUMN_TYPE", message: `'${name}' is not ${ARTICLES[type.slice(0, -1)]}` };
  }
  const advice = `--type "${name}=text" to import texts, or --type "${name}=${type}?" to leave such cells out`;
  return { code: "COLUMN_TYPE", message: `'${name}' must be ${ARTICLES[type]}; pass ${advice}` };
}

const ARTICLES: Readonly<Record<string, string>> = {
  text: "a text",
  number: "a number",
  boolean: "a boolean",
  time: "a time in ISO 8601",
  json: "JSON",
};

/** How a text becomes a value of a type; undefined if it is none. */
export const READERS: Readonly<Record<ValueType, (text: string) => unknown>> = {
  text: (text) => text,
  number: (text) =>
    /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text) ? Number(text) : undefined,
  boolean: (text) => (isBoolean(text) ? text.toLowerCase() === "true" : undefined),
  time: (text) => parseTime(text.trim())?.toISOString(),
  json: readJson,
};

function setMember(object: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let parent = object;
  for (const step of path.slice(0, -1)) {
    if (!Object.hasOwn(parent, step)) Object.defineProperty(parent, step, { ...OWN, value: {} });
    parent = parent[step] as Record<string, unknown>;
  }
  Object.defineProperty(parent, path.at(-1) as string, { ...OWN, value });
}

/** A column may be named `__proto__`. */
const OWN = { enumerable: true, configurable: true, writable: true };

/** A line for each column, for display. */
export function describeColumns(columns: readonly Column[]): string[] {
  const width = (texts: readonly string[]) => Math.max(...texts.map((text) => text.length));
  const targets = columns.map(({ path }) => path?.join(".") ?? "(left out)");
  const [names, fields] = [width(columns.map(({ name }) => name)), width(targets)];
  return columns.map(({ name, type, example }, index) => {
    const shown = example.length > 40 ? `${example.slice(0, 40)}…` : example;
    const field = (targets[index] ?? "").padEnd(fields);
    return `  ${name.padEnd(names)}  →  ${field}  ${type.padEnd(7)}  ${shown}`.trimEnd();
  });
}
