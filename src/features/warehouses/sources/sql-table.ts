import {
  BEGINNING,
  LARGEST_PAYLOAD_BYTES,
  LONGEST_READ_IDENTIFIER,
  type Source,
  type SourceColumn,
  SourceFailed,
  type SourceRow,
  type TableShape,
  type TimeRange,
} from "./source.ts";
import { readRow, readStrays } from "./values.ts";

/*
 * A table of a warehouse that takes statements and gives pages of text. Each run is two statements,
 * because each may cost money: the rows of the range in order, and a few of the rows in no range
 * with their counts. Only the needed columns are named, and values over the size limit are not
 * sent.
 */

/**
 * The contents of a time column: instants, times of a clock without a zone (read as UTC), or days.
 */
export type TimeKind = "zoned" | "local" | "date";

export interface WarehouseColumn extends SourceColumn {
  readonly time?: TimeKind;
}

/** How one kind of warehouse says the same. */
export interface Dialect {
  /** A name as spelled in the source. */
  quote(name: string): string;
  /**
   * A value that compares with a column of times. `time` is a day for a column of days, otherwise
   * as in `TimeRange`.
   */
  literal(time: string, kind: TimeKind): string;
  /** A column of times as text that `readTime` reads. */
  timeText(column: string, kind: TimeKind): string;
  /** The time in the form of `TimeRange`. */
  readTime(text: string): string;
  /** A column as text; as JSON if it has an inner structure. */
  text(column: string, described: SourceColumn): string;
  /** How many bytes a text has in UTF-8. */
  bytes(text: string): string;
}

export interface Result {
  /**
   * Undefined if the warehouse sends rows as it finds them: a separate statement counts them first.
   */
  readonly count: number | undefined;
  pages(): AsyncIterable<readonly Values[]>;
}

export type Values = readonly (string | null)[];

export interface SqlTable {
  readonly dialect: Dialect;
  /** Its name, quoted for a statement. */
  readonly table: string;
  readonly columns: readonly WarehouseColumn[];
  /** A condition that is true of every row, for a warehouse that requires one. */
  readonly filter?: string;
  run(statement: string): Promise<Result>;
}

/** A source whose rows are read with SQL statements in the warehouse's dialect. */
export const sqlSource = (
  table: SqlTable,
  { close, bytesScanned }: Pick<Source, "close" | "bytesScanned">,
): Source => ({
  columns: table.columns,
  async select(shape, range) {
    const result = await table.run(rowsStatement(table, shape, range));
    return {
      count: result.count ?? (await countRows(table, shape, range)),
      rows: () => readRows(table, shape, range, result),
      strays: async (after, atMost) => {
        const found = await table.run(straysStatement(table, shape, after, atMost));
        return straysOf(shape, await firstRows(found, atMost));
      },
    };
  },
  close,
  ...(bytesScanned && { bytesScanned }),
});

async function countRows(table: SqlTable, shape: TableShape, range: TimeRange): Promise<number> {
  const statement = `select count(*) from ${table.table} where ${within(table, shape, range)}`;
  const [[count] = []] = await firstRows(await table.run(statement), 1);
  return countIn(count);
}

/** A number of rows, as a warehouse says it. @throws SourceFailed if it is none. */
export function countIn(said: unknown): number {
  const count = Number(said ?? Number.NaN);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new SourceFailed(undefined, "the warehouse does not say how many rows there are.");
}

async function* readRows(
  { dialect }: SqlTable,
  shape: TableShape,
  { from, until }: TimeRange,
  { count, pages }: Result,
): AsyncGenerator<SourceRow[]> {
  const isNested = shape.payload?.isNested === true;
  let read = 0;
  let last = from;
  for await (const page of pages()) {
    read += page.length;
    if (read > (count ?? Number.POSITIVE_INFINITY)) break;
    yield page.map((values) => {
      const [text = "", bytes, payload, ...identifiers] = checked(values, shape);
      const time = dialect.readTime(text ?? "");
      if (!isTime(time) || time < last || time > until) throw outOfOrder();
      last = time;
      const json = payload && isNested ? keepDigits(payload) : payload;
      return readRow(shape, [time, bytes, json, ...identifiers] as Values);
    });
  }
  if (count === undefined || read === count) return;
  throw new SourceFailed(undefined, `the result ended after ${read} of ${count} rows.`);
}

/** Progress is a time: a row before it would never be read. */
const outOfOrder = () =>
  new SourceFailed(undefined, "the warehouse sends rows that are not in the order of UPDATED_AT.");

/** The form of `TimeRange`. */
const isTime = (text: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(text) && !Number.isNaN(Date.parse(text));

/** The values of a row: UPDATED_AT, the size of the payload, the payload, and the identifiers. */
function checked(values: unknown, { identifiers }: TableShape): Values {
  const isRow =
    Array.isArray(values) &&
    values.length === 3 + identifiers.length &&
    values.every((value) => value === null || typeof value === "string");
  if (isRow) return values;
  throw new SourceFailed(undefined, "the warehouse sends rows of another form than requested.");
}

/** The first rows of a result, a page more at most. */
export async function firstRows({ pages }: Result, atMost: number): Promise<Values[]> {
  const rows: Values[] = [];
  for await (const page of pages()) {
    rows.push(...page);
    if (rows.length >= atMost) break;
  }
  return rows;
}

function rowsStatement(table: SqlTable, shape: TableShape, range: TimeRange): string {
  const { dialect } = table;
  const updatedAt = dialect.quote(shape.updatedAt.name);
  const payload = shape.payload ? textOf(dialect, shape.payload) : undefined;
  const selected = [
    dialect.timeText(updatedAt, timeOf(shape)),
    ...(payload
      ? [
          dialect.bytes(payload),
          `case when ${dialect.bytes(payload)} <= ${LARGEST_PAYLOAD_BYTES} then ${payload} end`,
        ]
      : ["0", "null"]),
    ...identifiersOf(dialect, shape),
  ];
  return `select ${selected.join(", ")} from ${table.table} where ${within(table, shape, range)} order by ${updatedAt}`;
}

function within({ dialect, filter }: SqlTable, shape: TableShape, range: TimeRange): string {
  const updatedAt = dialect.quote(shape.updatedAt.name);
  const from = firstDay(range.from, timeOf(shape));
  const conditions = [
    `${updatedAt} >= ${literalOf(dialect, shape, from)}`,
    `${updatedAt} <= ${literalOf(dialect, shape, range.until)}`,
    ...(filter ? [filter] : []),
  ];
  return conditions.join(" and ");
}

/** Both counts are in each row, so that the table is read once. */
function straysStatement(
  table: SqlTable,
  shape: TableShape,
  after: string,
  atMost: number,
): string {
  const { dialect } = table;
  const updatedAt = dialect.quote(shape.updatedAt.name);
  const isFuture = `${updatedAt} > ${literalOf(dialect, shape, after)}`;
  const isTimeless = `(${updatedAt} is null or ${updatedAt} < ${literalOf(dialect, shape, BEGINNING)})`;
  const selected = [
    `sum(case when ${isFuture} then 0 else 1 end) over ()`,
    `sum(case when ${isFuture} then 1 else 0 end) over ()`,
    `case when ${isFuture} then '1' else '0' end`,
    dialect.text(updatedAt, shape.updatedAt),
    ...identifiersOf(dialect, shape),
  ];
  const filter = table.filter ? ` and ${table.filter}` : "";
  return `select ${selected.join(", ")} from ${table.table} where (${isTimeless} or ${isFuture})${filter} limit ${atMost}`;
}

function straysOf(shape: TableShape, rows: readonly Values[]) {
  const [timeless = "0", future = "0"] = rows[0] ?? [];
  const examples = rows.map(([, , ...example]) => example);
  return readStrays(shape, [timeless, future], examples);
}

const timeOf = ({ updatedAt }: TableShape): TimeKind =>
  (updatedAt as WarehouseColumn).time ?? "zoned";

/** A day is within a range if its midnight is: so the first is the next one, unless the range begins at midnight. */
function firstDay(from: string, kind: TimeKind): string {
  if (kind !== "date" || from.endsWith("T00:00:00.000000Z")) return from;
  const day = new Date(`${from.slice(0, 10)}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + 1);
  return day.toISOString();
}

function literalOf(dialect: Dialect, shape: TableShape, time: string): string {
  const kind = timeOf(shape);
  return dialect.literal(kind === "date" ? time.slice(0, 10) : time, kind);
}

const textOf = (dialect: Dialect, column: SourceColumn): string =>
  dialect.text(dialect.quote(column.name), column);

const identifiersOf = (dialect: Dialect, { identifiers }: TableShape): string[] =>
  identifiers.map((column) => `left(${textOf(dialect, column)}, ${LONGEST_READ_IDENTIFIER})`);

/** As many digits as a number of JavaScript may not keep. */
const MANY_DIGITS = /\d[\d.]{15}/;

const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * JSON in which numbers that would lose digits, or are too large for an attribute, are texts of the
 * same digits: this is how integers of 64 bits and decimals come out of STRUCT, MAP and VARIANT. A
 * text column is left alone: it means the same as in a request.
 */
function keepDigits(json: string): string {
  if (!MANY_DIGITS.test(json)) return json;
  return json.replace(TEXT_OR_NUMBER, (token) => {
    if (token.startsWith('"') || !MANY_DIGITS.test(token)) return token;
    const number = Number(token);
    const isKept = plainDigits(token) === plainDigits(String(number));
    return isKept && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? token : `"${token}"`;
  });
}

/** The digits of a number without zeros at its ends, and its exponent. */
function plainDigits(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  const shift = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${sign}${significant}e${shift}`;
}
