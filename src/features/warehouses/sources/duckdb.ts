import { createReadStream, createWriteStream } from "node:fs";
import { basename, join } from "node:path";
import { pipeline as connect, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { nextTurn } from "../../../core/base/turns.ts";
import { parseTimeExactly } from "../../../core/base/values/times.ts";
import { installationOf } from "../../../core/base/version.ts";
import { SourceUnfit } from "../../../core/outbound/unfit.ts";
import { type Ask, type FileFormat, findBrokenLines, findTable } from "./file-table.ts";
import {
  BEGINNING,
  LARGEST_PAYLOAD_BYTES,
  LONGEST_READ_IDENTIFIER,
  type Source,
  type SourceColumn,
  SourceFailed,
  type SourceRow,
  type Strays,
  type TableShape,
  type TimeRange,
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
      `Reading files needs the optional package @duckdb/node-api, which is not installed here: ${installationOf("@duckdb/node-api")}`,
      error,
    );
  });
  const instance = await DuckDBInstance.create(":memory:", { ...SETTINGS, temp_directory: folder });
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
    const fail = failureAbout([...paths, ...isRead], format);
    const ask = createAsk(connection, fail);
    await ask("set TimeZone = 'UTC'");
    const table = await findTable(ask, isRead, format);
    return {
      columns: table === undefined ? undefined : await readColumns(ask, table),
      async select(shape, range) {
        await stageRows(ask, `${table}`, shape, range);
        await readTimes(instance, connection, fail, range);
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

/** Faults of the file's format. Anything else, such as a disk that is full, may pass. */
const UNFIT = /^(?:Invalid Input|Binder|Catalog|Parser|Conversion|Serialization) Error/;

/** A message of DuckDB in our words: its own may quote a row, and names our statements. */
const MEANINGS: readonly (readonly [pattern: RegExp, meaning: string])[] = [
  [/magic bytes|Footer length|thrift|Parquet/i, "it is no Parquet file, or was cut off"],
  [/GZIP|zlib|miniz/i, "it is not compressed with gzip, or was cut off"],
  [/maximum_object_size/i, "a line is longer than 16 MB"],
  [/invalid unicode|not utf-8 encoded/i, "it is not in UTF-8"],
  [/Out of Memory/i, "it needs more memory than a sync has"],
  [/No space left|max_temp_directory_size/i, "the folder for temporary files is full"],
  [
    /schema mismatch|column with name|Conversion|cast/i,
    "its columns have other types than those of the other files",
  ],
  [/permission denied/i, "the server may not open it"],
  [/cannot open|could not open|No files found|No such file/i, "it is gone or cannot be opened"],
];

/** The log has the message itself. */
function failureAbout(paths: readonly string[], format: FileFormat): (error: unknown) => never {
  return (error) => {
    const { message } = error as Error;
    const [line = ""] = message.split("\n");
    const [, meaning] = MEANINGS.find(([pattern]) => pattern.test(message)) ?? [];
    const path = paths.find((each) => line.includes(each)) ?? paths[0] ?? "";
    const isOne = paths.length === 1 || line.includes(path);
    const what = isOne ? basename(path) : `A file of format ${format}`;
    const sentence = `${what} cannot be read: ${meaning ?? "the server's log says why"}.`;
    if (UNFIT.test(line)) throw new SourceUnfit(sentence, error);
    throw new SourceFailed(error, sentence);
  };
}

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The limit for all copies together, as for what DuckDB writes: a small file can be large unpacked. */
const MOST_COPIED_GB = 40;

/** DuckDB takes a byte order mark for a broken first line, and leaves the line out: such files are copied without it. */
async function withoutMarks(
  paths: readonly string[],
  folder: string,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  let copied = 0;
  for (const [index, path] of paths.entries()) {
    if (await hasMark(path)) {
      const copy = join(folder, `without-mark-${index}.ndjson`);
      const counted = async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of withoutMark(chunks)) {
          copied += chunk.length;
          if (copied > MOST_COPIED_GB * 1_024 ** 3) {
            throw new SourceUnfit(`${basename(path)} has more than ${MOST_COPIED_GB} GB unpacked.`);
          }
          yield chunk;
        }
      };
      await pipeline(bytesOf(path), counted, createWriteStream(copy), { signal });
      found.push(copy);
    } else found.push(path);
  }
  return found;
}

/** The unpacked bytes. A fault of the file is one of the stream, and a stream that is not read to its end closes the file. */
function bytesOf(path: string): Readable {
  const file = createReadStream(path);
  if (!/\.gz$/i.test(path)) return file;
  const unpacked = createGunzip();
  connect(file, unpacked, () => {});
  return unpacked;
}

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
    // The outer query sees no column of the files: one of them may be called time.
    `create or replace temp table staged as select * from (
       select try_cast(${quoted(updatedAt)} as timestamptz) as time, ${short(updatedAt)} as written,
         strlen(${json}) as bytes,
         case when strlen(${json}) <= ${LARGEST_PAYLOAD_BYTES} then ${json} end as payload,
         ${identifiers.map((column) => `${short(column)} as ${column.part}`).join(", ")}
       from ${table}
     ) as read
     where time is null or time >= ${timeLiteral(from)} or time < ${timeLiteral(BEGINNING)}`,
  );
}

/**
 * Reads the times that DuckDB does not: every form that the API accepts, by its parser. A space
 * before the zone, which is common, is removed before that, because DuckDB is faster.
 * docs/decisions/times.md
 */
async function readTimes(
  instance: DuckDBInstance,
  connection: DuckDBConnection,
  fail: (error: unknown) => never,
  { from }: TimeRange,
): Promise<void> {
  const run = (statement: string) => connection.run(statement).catch(fail);
  await run(
    `update staged set time = try_cast(regexp_replace(written, ' (Z|[+-][0-9:]+)$', '\\1') as timestamptz)
     where time is null`,
  );
  await run("create or replace table times (written varchar, time varchar)");
  const other = await instance.connect();
  const appender = await other.createAppender("times");
  try {
    const unread = await connection
      .stream("select distinct written from staged where time is null and written is not null")
      .catch(fail);
    for (;;) {
      const chunk = await unread.fetchChunk().catch(fail);
      if (!chunk?.rowCount) break;
      for (const [written] of chunk.getRows() as [string][]) {
        const time = parseTimeExactly(written);
        if (time === undefined) continue;
        appender.appendVarchar(written);
        appender.appendVarchar(time);
        appender.endRow();
      }
      appender.flushSync();
      await nextTurn();
    }
  } finally {
    appender.closeSync();
    other.closeSync();
  }
  await run(
    `update staged set time = times.time::timestamptz from times
     where staged.time is null and times.written = staged.written`,
  );
  await run(
    `delete from staged where time < ${timeLiteral(from)} and time >= ${timeLiteral(BEGINNING)}`,
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
