import { createReadStream, createWriteStream } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { DuckDBConnection } from "@duckdb/node-api";
import { type Ask, type FileFormat, findBrokenLines, findTable } from "./file-table.ts";
import {
  BEGINNING,
  LARGEST_PAYLOAD_BYTES,
  LONGEST_READ_IDENTIFIER,
  type Source,
  type SourceColumn,
  SourceFailed,
  type SourceRow,
  SourceUnfit,
  type Strays,
  type TableShape,
  type TimeRange,
  withoutValues,
} from "./source.ts";
import { readRow, readStrays } from "./values.ts";

/** The limit of memory; the rest goes to the temporary folder, uncompressed, up to a limit. */
const SETTINGS = {
  memory_limit: "256MB",
  max_temp_directory_size: "40GB",
  threads: "2",
  // Nothing is fetched from the network behind the administrator's back.
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
};

/**
 * Opens files of one format as one table, through DuckDB. The package is optional, because its binary
 * is large: it is loaded when the first file source is opened.
 *
 * @param folder a folder for data that does not fit into memory.
 * @throws SourceUnfit if the package is missing, or a file is not of the format.
 */
export async function openFiles(
  paths: readonly string[],
  format: FileFormat,
  folder: string,
  signal: AbortSignal,
): Promise<Source> {
  const { DuckDBInstance } = await import("@duckdb/node-api").catch((error: unknown) => {
    throw new SourceUnfit(
      "Reading files needs the optional package @duckdb/node-api, which is not installed here: " +
        "run npm install without --omit=optional.",
      error,
    );
  });
  const instance = await DuckDBInstance.create(":memory:", {
    ...SETTINGS,
    temp_directory: folder,
  });
  const connection = await instance.connect();
  const interrupt = () => connection.interrupt();
  signal.addEventListener("abort", interrupt, { once: true });
  const close = async () => {
    signal.removeEventListener("abort", interrupt);
    connection.closeSync();
    instance.closeSync();
  };
  try {
    signal.throwIfAborted();
    const isRead = format === "ndjson" ? await withoutMarks(paths, folder, signal) : paths;
    const fail = failureAbout([...paths, ...isRead]);
    const ask = createAsk(connection, fail);
    await ask("set TimeZone = 'UTC'");
    const table = await findTable(ask, isRead, format);
    return {
      columns: table === undefined ? undefined : await readColumns(ask, table),
      async select(shape, range) {
        await stageRows(ask, `${table}`, shape, range);
        return {
          count: await countRows(ask, range),
          rows: () => readRows(connection, fail, shape, range),
          strays: (after, atMost) => findStrays(ask, shape, after, atMost),
        };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Every value is read as text. */
function createAsk(connection: DuckDBConnection, fail: (error: unknown) => never): Ask {
  return async (statement) => {
    const reader = await connection.runAndReadAll(statement).catch(fail);
    return reader.getRowsJson() as (string | null)[][];
  };
}

/** What is not as the format wants it. Anything else, such as a disk that is full, may pass. */
const UNFIT = /^(?:Invalid Input|Binder|Catalog|Parser|Conversion|Serialization) Error/;

/**
 * Only the first line of a message: the lines below may quote a row. Only the company may know
 * where the files are.
 */
function failureAbout(paths: readonly string[]): (error: unknown) => never {
  return (error) => {
    const [line = ""] = (error as Error).message.split("\n");
    // Errors of these kinds contain names of files and columns; the others may contain values.
    const isNamed = /^(?:Binder|Catalog|Parser|IO|HTTP) Error/.test(line);
    const message = withoutValues(withoutFolders(line, paths), isNamed);
    if (UNFIT.test(message)) throw new SourceUnfit(`The files cannot be read: ${message}`, error);
    throw new SourceFailed(error, message);
  };
}

/** A message with the names of files in the place of their paths. */
function withoutFolders(message: string, paths: readonly string[]): string {
  const folders = [...new Set(paths.map(dirname))].sort((one, other) => other.length - one.length);
  return folders.reduce(
    (text, folder) => text.replaceAll(join(folder, "/"), "").replaceAll(folder, "the folder"),
    paths.reduce((text, path) => text.replaceAll(path, basename(path)), message),
  );
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** DuckDB takes a byte order mark for a broken first line, and leaves the line out: such files are copied without it. */
async function withoutMarks(
  paths: readonly string[],
  folder: string,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  for (const [index, path] of paths.entries()) {
    if (await hasMark(path)) {
      const copy = join(folder, `without-mark-${index}.ndjson`);
      await pipeline(bytesOf(path), withoutMark, createWriteStream(copy), { signal });
      found.push(copy);
    } else found.push(path);
  }
  return found;
}

const bytesOf = (path: string): Readable =>
  /\.gz$/i.test(path) ? createReadStream(path).pipe(createGunzip()) : createReadStream(path);

async function hasMark(path: string): Promise<boolean> {
  let start = Buffer.alloc(0);
  try {
    for await (const chunk of bytesOf(path)) {
      start = Buffer.concat([start, chunk]);
      if (start.length >= MARK.length) break;
    }
  } catch {
    // Failures to read or uncompress are reported by the reader itself.
    return false;
  }
  return start.subarray(0, MARK.length).equals(MARK);
}

async function* withoutMark(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left = MARK.length;
  for await (const chunk of chunks) {
    yield chunk.subarray(Math.min(left, chunk.length));
    left = Math.max(0, left - chunk.length);
  }
}

const TIME = /^(?:TIMESTAMP|DATE|VARCHAR)/;

/** Whole numbers of any size, and decimals without a fraction. */
const TEXT = /^(?:VARCHAR|JSON|UUID|U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DECIMAL\(\d+,0\))$/;

async function readColumns(ask: Ask, table: string): Promise<SourceColumn[]> {
  const columns = await ask(
    `select column_name, column_type from (describe select * from ${table})`,
  );
  return columns.map(([name, type]) => ({
    name: name ?? "",
    isTime: TIME.test(type ?? ""),
    isText: TEXT.test(type ?? ""),
  }));
}

const quoted = ({ name }: SourceColumn): string => `"${name.replaceAll('"', '""')}"`;

const timeLiteral = (time: string): string => `timestamptz '${time}'`;

/**
 * Copies all rows except those before the range. The files are read once, and a table, unlike
 * files, can be sorted beyond the size of memory.
 */
async function stageRows(
  ask: Ask,
  table: string,
  { updatedAt, identifiers, payload }: TableShape,
  { from }: TimeRange,
): Promise<void> {
  const text = (column: SourceColumn) => `${quoted(column)}::varchar`;
  const short = (column: SourceColumn) => `left(${text(column)}, ${LONGEST_READ_IDENTIFIER})`;
  const json = payload ? text(payload) : "null::varchar";
  await ask(
    `create or replace temp table staged as
     select try_cast(${quoted(updatedAt)} as timestamptz) as time, ${short(updatedAt)} as written,
       strlen(${json}) as bytes,
       case when strlen(${json}) <= ${LARGEST_PAYLOAD_BYTES} then ${json} end as payload,
       ${identifiers.map((column) => `${short(column)} as ${column.part}`).join(", ")}
     from ${table} where time is null or time >= ${timeLiteral(from)}
       or time < ${timeLiteral(BEGINNING)}`,
  );
}

const within = ({ from, until }: TimeRange): string =>
  `time between ${timeLiteral(from)} and ${timeLiteral(until)}`;

async function countRows(ask: Ask, range: TimeRange): Promise<number> {
  const [row] = await ask(`select count(*) from staged where ${within(range)}`);
  return Number(row?.[0]);
}

async function* readRows(
  connection: DuckDBConnection,
  fail: (error: unknown) => never,
  shape: TableShape,
  range: TimeRange,
): AsyncGenerator<SourceRow[]> {
  const result = await connection
    .stream(
      `select strftime(time, '%Y-%m-%dT%H:%M:%S.%fZ'), bytes::varchar, payload, ${partsOf(shape)}
       from staged where ${within(range)} order by time`,
    )
    .catch(fail);
  for (;;) {
    const chunk = await result.fetchChunk().catch(fail);
    if (!chunk?.rowCount) return;
    yield (chunk.getRows() as (string | null)[][]).map((row) => readRow(shape, row));
  }
}

const partsOf = ({ identifiers }: TableShape): string =>
  identifiers.map(({ part }) => part).join(", ");

async function findStrays(
  ask: Ask,
  shape: TableShape,
  after: string,
  atMost: number,
): Promise<Strays> {
  const isFuture = `coalesce(time > ${timeLiteral(after)}, false)`;
  const isTimeless = `coalesce(time < ${timeLiteral(BEGINNING)}, true)`;
  const astray = `from staged where ${isTimeless} or ${isFuture}`;
  const [counts = []] = await ask(
    `select count(*) filter (where not ${isFuture}), count(*) filter (where ${isFuture}) ${astray}`,
  );
  const examples = await ask(
    `select if(${isFuture}, '1', '0'), written, ${partsOf(shape)} ${astray} limit ${atMost}`,
  );
  const strays = readStrays(shape, counts, examples);
  const broken = await findBrokenLines(ask, atMost - strays.examples.length);
  return {
    ...strays,
    unreadable: strays.unreadable + broken.count,
    examples: [...strays.examples, ...broken.examples],
  };
}
