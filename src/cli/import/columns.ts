import type { Fault } from "../../base/problem.ts";
import type { ImportKind } from "../../intake/import/import-kind.ts";
import { standardAttribute } from "../../people/profiles/standard-attributes.ts";

/* How the columns of a CSV file become members of an object. */

export const COLUMN_TYPES = ["text", "number", "boolean", "json"] as const;

export type ColumnType = (typeof COLUMN_TYPES)[number];

/** A column and where its values go. */
export interface Column {
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

const IDENTIFIERS = ["external_id", "email", "phone", "platform_id", "braze_id"];

/** The members of an object of each kind that are texts, even if a value looks like a number. */
const TEXTS: Readonly<Record<ImportKind, readonly string[]>> = {
  users: IDENTIFIERS,
  events: [...IDENTIFIERS, "name", "time", "app_id"],
  purchases: [...IDENTIFIERS, "product_id", "currency", "time", "app_id"],
  subscriptions: [...IDENTIFIERS, "subscription_group_id", "subscription_state"],
};

const NUMBERS: Readonly<Record<ImportKind, readonly string[]>> = {
  users: [],
  events: [],
  purchases: ["price", "quantity"],
  subscriptions: [],
};

/** Members that hold objects, which a column can name with a dot. */
const NESTED = ["user_alias", "properties", "custom_attributes"];

/**
 * Decides where columns go and what their values are, from the first rows.
 *
 * @param sample the first rows.
 * @throws if an option names a column that does not exist.
 */
export function inferColumns(
  kind: ImportKind,
  names: readonly string[],
  sample: readonly (readonly string[])[],
  { map, types }: ColumnOptions,
): Column[] {
  for (const name of [...map.keys(), ...types.keys()]) {
    if (names.includes(name)) continue;
    throw new Error(`There is no column '${name}'. The columns are ${names.join(", ")}.`);
  }
  return names.map((name, index) => {
    const path = pathOf(kind, map.get(name) ?? knownName(kind, name));
    const values = sample.map((row) => row[index] ?? "").filter((text) => text !== "");
    const type = types.get(name) ?? typeOf(kind, path, values);
    return { name, path, type, example: values[0] ?? "" };
  });
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

/** What is no field of an event or a purchase is a property of it. */
function pathOf(kind: ImportKind, field: string): readonly string[] | undefined {
  if (field === "") return undefined;
  const [first = "", ...rest] = field.split(".");
  if (NESTED.includes(first) && rest.length > 0) {
    return first === "custom_attributes" ? [rest.join(".")] : [first, rest.join(".")];
  }
  if (kind === "users" || kind === "subscriptions" || isOwnField(kind, field)) return [field];
  return ["properties", field];
}

function typeOf(
  kind: ImportKind,
  path: readonly string[] | undefined,
  values: readonly string[],
): ColumnType {
  const [first = "", second] = path ?? [];
  if (second === undefined) {
    if (TEXTS[kind].includes(first)) return "text";
    if (NUMBERS[kind].includes(first)) return "number";
    if (standardAttribute(first) && !values.every(isJson)) {
      return values.length > 0 && values.every(isBoolean) ? "boolean" : "text";
    }
  }
  if (first === "user_alias" || values.length === 0) return "text";
  if (values.every(isNumber)) return "number";
  if (values.every(isBoolean)) return "boolean";
  return values.every(isJson) ? "json" : "text";
}

/** Written as a number is: what begins with a zero or a plus, or has more digits than a number holds, is an id. */
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

/** The object that a row means; an empty value is absent. */
export function objectOf(
  columns: readonly Column[],
  row: readonly string[],
): { readonly value: Record<string, unknown> } | { readonly fault: Fault } {
  const object: Record<string, unknown> = {};
  for (const [index, { name, path, type }] of columns.entries()) {
    const text = row[index] ?? "";
    if (!path || text === "") continue;
    const value = READERS[type](text);
    if (value === undefined) {
      const article = type === "json" ? "JSON" : `a ${type}`;
      const message = `'${name}' must be ${article}; pass --type "${name}=text" to import texts`;
      return { fault: { code: "COLUMN_TYPE", message } };
    }
    setMember(object, path, value);
  }
  return { value: object };
}

const READERS: Readonly<Record<ColumnType, (text: string) => unknown>> = {
  text: (text) => text,
  number: (text) =>
    /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(text) ? Number(text) : undefined,
  boolean: (text) => (isBoolean(text) ? text.toLowerCase() === "true" : undefined),
  json: readJson,
};

function setMember(
  object: Record<string, unknown>,
  [first = "", second]: readonly string[],
  value: unknown,
): void {
  if (second === undefined) Object.defineProperty(object, first, { ...OWN, value });
  else {
    object[first] ??= {};
    Object.defineProperty(object[first], second, { ...OWN, value });
  }
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
