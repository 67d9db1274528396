import { type FileKind, NUMBERS, TEXTS } from "../../../cli/file-columns.ts";
import type { Cell } from "../../../core/base/values/spreadsheets.ts";
import { standardAttribute } from "../../../core/people/profiles/standard-attributes.ts";

/*
 * A row of an export as cells of a table that `rapport import` reads without a difference. Members
 * of nested objects become separate columns (`properties.size`), lists become JSON. The header of a
 * column says the type of its values (`custom_attributes.score:number`). Fields that an import
 * would not accept are left out.
 */

type Row = Readonly<Record<string, unknown>>;

/** Members that contain an object with names of the user's own choice, or an alias. */
const NESTED = ["properties", "custom_attributes", "user_alias"];

/** Members that follow from others, or repeat them under another name. */
const LEFT_OUT = [
  "braze_id",
  "random_bucket",
  "custom_events",
  "purchases",
  "total_revenue",
  "revenue_by_currency",
  "merged_ids",
  "changed_at",
];

/** The values of a row by column; absent, null and empty values have none. */
function valuesOf(row: Row): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(row)) {
    if (LEFT_OUT.includes(name)) continue;
    if (NESTED.includes(name)) {
      for (const [member, each] of Object.entries(value ?? {})) {
        values.set(`${name}.${member}`, each);
      }
    } else values.set(name, Array.isArray(value) && value.length === 0 ? null : value);
  }
  return values;
}

interface ColumnOfTable {
  readonly header: string;
  cell(row: ReadonlyMap<string, unknown>): Cell;
}

type CellType = "text" | "number" | "boolean" | "json";

/**
 * A table whose columns cover all rows: first call `see` with every row, then ask for the columns.
 */
export function createTable(kind: FileKind) {
  const types = new Map<string, CellType | undefined>();
  /** Texts that an import would misread if the header did not name their type. */
  const ambiguous = new Set<string>();

  function see(name: string, value: unknown): void {
    const known = types.get(name);
    const isNested = name.includes(".");
    if (value === undefined || (value === null && !isNested)) {
      if (!types.has(name)) types.set(name, undefined);
      return;
    }
    const type = cellTypeOf(value);
    types.set(name, known === undefined || known === type ? type : "json");
    if (type === "text" && /^(true|false)$|^[[{]/i.test(value as string)) ambiguous.add(name);
  }

  function headerOf(name: string, type: CellType | undefined): string {
    const isText = type === undefined || type === "text";
    if (isText && (TEXTS[kind].includes(name) || name.startsWith("user_alias."))) return name;
    if (type === "number" && NUMBERS[kind].includes(name)) return name;
    const isStandard = kind === "users" && !name.includes(".");
    if (isStandard && type === undefined) return name;
    if (isStandard && isText && standardAttribute(name) && !ambiguous.has(name)) return name;
    return `${name}:${type ?? "text"}`;
  }

  return {
    see(row: Row): void {
      for (const [name, value] of valuesOf(row)) see(name, value);
    },
    /** In the order of the export; attributes and properties by name. */
    columns(): ColumnOfTable[] {
      const names = [...types.keys()];
      const nested = names.filter((name) => name.includes(".")).sort();
      const own = names.filter((name) => !name.includes("."));
      return [...own, ...nested].map((name) => {
        const type = types.get(name);
        return {
          header: headerOf(name, type),
          cell: (row) => cellOf(row.get(name), type, name.includes(".")),
        };
      });
    },
    cells: (row: Row, columns: readonly ColumnOfTable[]): Cell[] => {
      const values = valuesOf(row);
      return columns.map(({ cell }) => cell(values));
    },
  };
}

/** An empty cell is absent, so an empty text is written as JSON. */
function cellTypeOf(value: unknown): CellType {
  if (typeof value === "number" || typeof value === "boolean") {
    return typeof value as "number" | "boolean";
  }
  return typeof value === "string" && value !== "" ? "text" : "json";
}

function cellOf(value: unknown, type: CellType | undefined, isNested: boolean): Cell {
  if (value === undefined || (value === null && !isNested)) return null;
  if (typeof value === "number" || typeof value === "boolean") return value;
  return type === "text" ? (value as string) : JSON.stringify(value);
}
