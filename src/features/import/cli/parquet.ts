import { parquetType } from "../../../cli/parquet-schema.ts";
import type { ImportKind } from "../import-kind.ts";
import {
  areProfiles,
  type Column,
  type ColumnFacts,
  type ColumnOptions,
  inferColumns,
  noFacts,
  READERS,
  refuseUnknown,
} from "./columns.ts";
import {
  type FileColumn,
  IS_NESTED,
  IS_NUMBER,
  IS_TIME,
  openParquet,
  type ParquetFile,
  UNREADABLE,
} from "./parquet-store.ts";
import { type FileRecord, LONGEST_RECORD_BYTES, readRow, type Table } from "./record.ts";
import type { Source } from "./source.ts";

/*
 * The rows of a Parquet file, in the order of the file. Every value comes as text, which the type of the
 * column turns into a value, as in a CSV file. Unlike there, an empty text is a text.
 */

interface ParquetOptions extends ColumnOptions {
  readonly kind: ImportKind;
}

const MOST_COLUMNS = 2_000;

/** Uncompressed. Writers end a row group far below it. */
const LARGEST_ROW_GROUP_BYTES = 1_073_741_824;

/** @throws in words if it cannot be read, or a column has no values that a row can hold. */
export async function readParquet(source: Source, options: ParquetOptions): Promise<Table> {
  const { name, path } = source;
  if (path === undefined) {
    throw new Error(
      `Parquet is not read from a pipe: pass the name of the file instead of ${name}.`,
    );
  }
  const file = await openParquet(name, path);
  await refuseShape(name, file, options);
  const asText = new Set(options.types.keys());
  const columns = columnsOf(file.columns, await file.firstRow(asText), options);
  const bytesPerRow = (source.totalBytes ?? 0) / Math.max(1, await file.countRows());
  async function* records(): AsyncGenerator<FileRecord> {
    const isProfile = areProfiles(options.kind, columns);
    const isNested = file.columns.map(({ sqlType }) => IS_NESTED.test(sqlType));
    let line = 0;
    for await (const { texts, isTooLong } of file.rows(asText)) {
      line += 1;
      const place = { line, endsAt: Math.round(line * bytesPerRow) };
      if (isTooLong) yield { ...place, value: null, fault: TOO_LONG };
      else {
        const cells = texts.map((text, at) => (text && isNested[at] ? withoutNulls(text) : text));
        yield { ...place, ...readRow(columns, isProfile, PARQUET_READERS, cells) };
      }
    }
  }
  return { columns, records: records() };
}

const TOO_LONG = {
  code: "LINE_TOO_LONG",
  message: `the row is longer than ${LONGEST_RECORD_BYTES} bytes`,
};

async function refuseShape(
  name: string,
  file: ParquetFile,
  options: ParquetOptions,
): Promise<void> {
  const { columns } = file;
  if (columns.length > MOST_COLUMNS) {
    throw new Error(`${name} has ${columns.length} columns. At most ${MOST_COLUMNS} are read.`);
  }
  refuseUnknown(
    columns.map((column) => column.name),
    options,
  );
  for (const { name: column, sqlType } of columns) {
    if (!UNREADABLE.test(sqlType) || options.map.get(column) === "") continue;
    const isBytes = sqlType === "BLOB";
    if (isBytes && options.types.has(column)) continue;
    const orText = isBytes ? `, or read it as UTF-8: --type "${column}=text"` : "";
    throw new Error(
      `The column '${column}' of ${name} has the type ${sqlType}, which no value of a row has. ` +
        `Leave it out: --map "${column}="${orText}`,
    );
  }
  const largest = await file.largestGroupBytes();
  if (largest <= LARGEST_ROW_GROUP_BYTES) return;
  throw new Error(
    `${name} has a row group of ${Math.ceil(largest / 1_048_576)} MiB. At most ` +
      `${LARGEST_ROW_GROUP_BYTES / 1_048_576} MiB are read: write the file again with smaller row groups.`,
  );
}

function columnsOf(
  file: readonly FileColumn[],
  first: readonly (string | null)[],
  options: ParquetOptions,
): Column[] {
  const headings = file.map(({ name, sqlType }) => ({
    name,
    type: options.types.get(name) ?? (IS_TIME.test(sqlType) ? ("time" as const) : undefined),
  }));
  const facts = file.map((column, index) => factsOf(column, first[index] ?? "", options));
  return inferColumns(options.kind, headings, facts, options);
}

/**
 * The type of a column according to the file, or to its name if an export has a column of this
 * name.
 */
function factsOf(
  { name, sqlType }: FileColumn,
  example: string,
  { map }: ParquetOptions,
): ColumnFacts {
  const isText = sqlType === "VARCHAR";
  const isJsonText = isText && parquetType(map.get(name) ?? name) === "json";
  return {
    ...noFacts(),
    // Unlike in a CSV file, a column whose first value is missing has a type.
    example: example === "" ? " " : example,
    isNumber: IS_NUMBER.test(sqlType),
    isBoolean: sqlType === "BOOLEAN",
    isJson: isJsonText || sqlType === "JSON" || IS_NESTED.test(sqlType),
  };
}

/** Every row of a column has the members of its STRUCT; those without a value are absent. */
function withoutNulls(json: string): string {
  try {
    return JSON.stringify(
      JSON.parse(json, function (this: unknown, _name, value) {
        return value === null && !Array.isArray(this) ? undefined : value;
      }),
    );
  } catch {
    return json;
  }
}

const PARQUET_READERS = {
  ...READERS,
  number: (text: string) => (isExactNumber(text) ? READERS.number(text) : undefined),
};

/** Whether a decimal has no more digits than a number holds. A DOUBLE is written with as few digits as it needs. */
function isExactNumber(text: string): boolean {
  const [, whole = "", fraction = ""] = /^-?(\d+)(?:\.(\d*?)0*)?$/.exec(text) ?? [];
  if (whole.length + fraction.length <= 15) return true;
  return (
    Number(text).toFixed(fraction.length) ===
    (fraction === "" ? text.split(".", 1)[0] : text.replace(/0+$/, ""))
  );
}
