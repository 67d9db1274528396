import { NUMBERS, TEXTS } from "../../../cli/file-columns.ts";
import type { Fault } from "../../../core/base/problem.ts";
import { parseTime } from "../../../core/base/values/times.ts";
import {
  dateOfBirth,
  dateTime,
} from "../../../core/people/profiles/attribute-rules/single-values.ts";
import { standardAttribute } from "../../../core/people/profiles/standard-attributes.ts";
import type { ImportKind } from "../import-kind.ts";
import { fieldsOf, isOwnField } from "./headings.ts";
import { type DayOrder, orderIn, readDate } from "./written-dates.ts";
import { DECIMALS, type Decimal, plainNumber } from "./written-numbers.ts";

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
  /** Whether dates in it are read as people write them; `either`: each must say its order by itself. */
  readonly dates?: DayOrder | "either";
  /** A value, for display. */
  readonly example: string;
}

export interface ColumnOptions {
  /** The field for a column, by its name; empty leaves it out. */
  readonly map: ReadonlyMap<string, string>;
  readonly types: ReadonlyMap<string, ColumnType>;
  /** Whether blanks around values are left out. */
  readonly trim: boolean;
  /** What stands before the fraction of a number; the other one may then separate thousands. */
  readonly decimal: Decimal | undefined;
  readonly dateFormat: DayOrder | undefined;
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
  { map, types }: Pick<ColumnOptions, "map" | "types">,
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
  { map, types }: Pick<ColumnOptions, "map" | "types">,
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
  /** Whether all of them are dates, as `readDate` reads them. */
  isDate: boolean;
  /** Whether there are dates in other forms than ISO 8601. */
  hasOwnForm: boolean;
  /** What the dates say about the order of day and month, with one that says it, or does not. */
  readonly orders: Map<DayOrder | "either", string>;
}

/** The facts about a column before its first value: any type is still possible. */
export const noFacts = (): ColumnFacts => ({
  example: "",
  isNumber: true,
  isBoolean: true,
  isJson: true,
  isDate: true,
  hasOwnForm: false,
  orders: new Map(),
});

/** Adds a value; an empty one says nothing. */
export function addToFacts(evidence: ColumnFacts, text: string, decimal?: Decimal): void {
  if (text === "") return;
  if (evidence.example === "") evidence.example = text;
  evidence.isNumber &&= isNumber(plainNumber(text, decimal) ?? "");
  evidence.isBoolean &&= isBoolean(text);
  evidence.isJson &&= isJson(text);
  const date = readDate(text.trim());
  evidence.isDate &&= date !== undefined;
  evidence.hasOwnForm ||= date?.isOwnForm ?? false;
  if (date?.order && !evidence.orders.has(date.order)) evidence.orders.set(date.order, text);
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
  { map, dateFormat }: ColumnOptions,
): Column[] {
  const free = headings.filter(({ name }) => !map.has(name)).map(({ name }) => name);
  const fields = fieldsOf(kind, free, new Set(map.values()));
  const targets = headings.map(({ name }) => {
    const mapped = map.get(name);
    if (mapped !== undefined) return mappedPathOf(kind, mapped);
    return pathOf(kind, fields[free.indexOf(name)] ?? name);
  });
  const isProfile = kind === "users" && targets.some((path) => path?.[0] === "created_at");
  const columns = headings.map(({ name, type }, index) => {
    const target = wholeOf(targets[index], evidence[index] ?? noFacts());
    // An exported profile has its custom attributes in a separate object.
    const path =
      !isProfile && target?.[0] === "custom_attributes" && target.length > 1
        ? target.slice(1)
        : target;
    const seen = evidence[index] ?? noFacts();
    const column = { name, path, type: type ?? typeOf(kind, path, seen), example: seen.example };
    const isNested = NESTED.some((each) => name.startsWith(`${each}.`));
    const isTime =
      type === undefined
        ? isTimeField(kind, path) || (column.type === "text" && areOwnDates(seen) && !isNested)
        : type.startsWith("time");
    if (!path || !isTime || isTextField(kind, path)) return column;
    return { ...column, dates: dateFormat ?? orderIn(name, seen.orders) };
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
      throw new Error(
        `The columns '${other}' and '${name}' both set '${path.join(".")}'. Leave one of them out, as with --map "${name}=".`,
      );
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

/** A field given with --map: its dots lead into nested objects (`address.city`). */
function mappedPathOf(kind: ImportKind, field: string): readonly string[] | undefined {
  const [first = "", ...rest] = pathOf(kind, field) ?? [];
  if (first === "") return undefined;
  if (rest.length === 0) return first.split(".");
  return first === "user_alias" ? [first, ...rest] : [first, ...rest.join(".").split(".")];
}

const areOwnDates = ({ isDate, hasOwnForm }: ColumnFacts): boolean => isDate && hasOwnForm;

/** A field whose values are times. */
const isTimeField = (kind: ImportKind, path: readonly string[] | undefined): boolean => {
  const [first = "", second] = path ?? [];
  if (second !== undefined) return false;
  if (kind !== "users") return first === "time";
  const check = standardAttribute(first)?.check;
  return first === "created_at" || check === dateOfBirth || check === dateTime;
};

/** A field whose values are no times, whatever they look like. */
const isTextField = (kind: ImportKind, path: readonly string[]): boolean =>
  path[0] === "user_alias" ||
  (path.length === 1 && isOwnField(kind, path[0] ?? "") && !isTimeField(kind, path));

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
  for (const [index, column] of columns.entries()) {
    const { name, path, type, dates } = column;
    const cell = row[index] ?? null;
    if (!path || cell === null) continue;
    const date = dates && readDate(cell.trim(), dates === "either" ? undefined : dates);
    const text = date ? date.iso : cell;
    const value = text === undefined ? text : readers[type.replace("?", "") as ValueType](text);
    if (value !== undefined) setMember(object, path, value);
    else {
      const fault = date ? dateFault(name, cell, date.order) : faultOf(name, type, cell);
      if (!type.endsWith("?")) return { fault };
      leftOut.push(fault);
    }
  }
  return { value: object, leftOut };
}

function dateFault(name: string, cell: string, order: DayOrder | "either" | undefined): Fault {
  const message =
    order === "either"
      ? `'${name}' can be read in two ways: pass --date-format dmy or mdy`
      : `'${name}' has a day that the calendar or the order of day and month does not have: ${cell.slice(0, 40)}`;
  return { code: "COLUMN_TYPE", message };
}

function faultOf(name: string, type: ColumnType, cell: string): Fault {
  const isLeftOut = type.endsWith("?");
  const wanted = type.replace("?", "");
  const decimals = DECIMALS.filter((each) => wanted === "number" && plainNumber(cell, each));
  const advice =
    decimals.length > 0
      ? decimals.map((each) => `--decimal ${each}`).join(" or ")
      : `--type "${name}=text" to import texts, or --type "${name}=${type}?" to leave such cells out`;
  const fault = `'${name}' ${isLeftOut ? "is not" : "must be"} ${ARTICLES[wanted]}`;
  const isAdvised = decimals.length > 0 || !isLeftOut;
  return { code: "COLUMN_TYPE", message: isAdvised ? `${fault}; pass ${advice}` : fault };
}

const ARTICLES: Readonly<Record<string, string>> = {
  text: "a text",
  number: "a number",
  boolean: "a boolean",
  time: "a time, such as 2026-01-31T12:00:00Z or 31.1.2026",
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

/** The same for numbers with this decimal mark. */
export const readersWith = (decimal: Decimal | undefined): typeof READERS => ({
  ...READERS,
  number: (text) => READERS.number(plainNumber(text, decimal) ?? ""),
});

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
  return columns.map(({ name, type, example, dates }, index) => {
    const shown = example.length > 40 ? `${example.slice(0, 40)}…` : example;
    const field = (targets[index] ?? "").padEnd(fields);
    const order = dates && dates !== "either" ? `, ${dates}` : "";
    const isDate = dates && type === "text" && readDate(example)?.isOwnForm;
    const read = `${isDate ? "date" : type}${order}`;
    return `  ${name.padEnd(names)}  →  ${field}  ${read.padEnd(9)}  ${shown}`.trimEnd();
  });
}
