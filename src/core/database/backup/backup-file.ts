import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, existsSync } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip, createGzip } from "node:zlib";
import { linesOf } from "../../base/lines.ts";
import { type Signed, signatureOf } from "./signature.ts";

/*
 * A backup is a gzip file of lines: the header, then for each table a line that begins it and one
 * line per row, and a last line with the counts, the SHA-256 of all lines before, and the signature of
 * both (signature.ts). Values are in PostgreSQL's text form, so a backup of one engine restores into another.
 */

/** Longer than any row: a request writes 4 MB at most, and a profile holds little more. */
const LONGEST_LINE_BYTES = 32 * 1_048_576;

/** The first line. */
export interface BackupHeader {
  readonly rapport_backup: 1;
  readonly version: string;
  readonly created_at: string;
  /** The schema: the migrations that were applied, with their checksums. */
  readonly migrations: Readonly<Record<string, string>>;
}

/** A line that begins a table. */
export interface TableHeader {
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

interface BackupEnd extends Signed {
  /** Absent if the backup was written without a SECRET_KEY. */
  readonly signature?: string;
}

/** Accepts lines in their order; resolves when it accepts more. */
export interface BackupWriter {
  header(header: BackupHeader): Promise<void>;
  table(table: TableHeader): Promise<void>;
  rows(rows: readonly string[]): Promise<void>;
}

/** A backup is missing, damaged, or not one. */
export class BackupUnreadable extends Error {
  constructor(path: string, reason: string) {
    super(`${path} ${reason}`);
    this.name = "BackupUnreadable";
  }
}

/**
 * Writes a backup under a temporary name, reads it again to verify it, and renames it: a file with
 * the final name is a complete backup. Only its owner can read it.
 *
 * @param secret the SECRET_KEY, if there is one, which signs the backup.
 * @returns the verified content.
 * @throws if the file exists or cannot be written; no file is left then.
 */
export async function writeBackup(
  path: string,
  write: (writer: BackupWriter) => Promise<void>,
  secret?: string,
): Promise<BackupSummary> {
  if (existsSync(path)) throw new Error(`${path} exists already. Choose another name.`);
  const unfinished = `${path}.unfinished`;
  try {
    await writeLines(unfinished, write, secret);
    const summary = await verifyBackup(unfinished);
    await rename(unfinished, path);
    return summary;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function writeLines(
  path: string,
  write: (writer: BackupWriter) => Promise<void>,
  secret: string | undefined,
): Promise<void> {
  // A file that an interrupted run left may have other modes.
  await rm(path, { force: true });
  const file = await open(path, "wx", 0o600);
  const packed = createGzip({ level: 3 });
  const written = appendAll(file, packed);
  // Awaited below; until then a failure must not end the process.
  written.catch(() => {});
  const hash = createHash("sha256");
  let rows = 0;
  const line = async (text: string): Promise<void> => {
    hash.update(text);
    if (packed.destroyed) await written;
    if (!packed.write(text)) await Promise.race([once(packed, "drain"), written]);
  };
  try {
    await write({
      header: (header) => line(`${JSON.stringify(header)}\n`),
      table: (table) => line(`${JSON.stringify(table)}\n`),
      async rows(texts) {
        rows += texts.length;
        await line(texts.map((text) => `${text}\n`).join(""));
      },
    });
    const signed = { rows, sha256: hash.digest("hex") };
    const end: BackupEnd = {
      ...signed,
      ...(secret !== undefined && { signature: signatureOf(secret, signed) }),
    };
    packed.end(`${JSON.stringify(end)}\n`);
    await written;
    await file.sync();
  } finally {
    packed.destroy();
    await written.catch(() => {});
    await file.close();
  }
}

async function appendAll(file: FileHandle, chunks: AsyncIterable<Buffer>): Promise<void> {
  for await (const chunk of chunks) await file.appendFile(chunk);
}

export interface BackupSummary {
  readonly header: BackupHeader;
  readonly end: BackupEnd;
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
}

/** Reads a whole backup. @throws BackupUnreadable if it is damaged, cut off, or something else. */
export async function verifyBackup(path: string): Promise<BackupSummary> {
  let header: BackupHeader | undefined;
  let end: BackupEnd | undefined;
  let tables = 0;
  let rows = 0;
  for await (const part of readBackup(path)) {
    if ("header" in part) header = part.header;
    else if ("table" in part) tables += 1;
    else if ("rows" in part) rows += part.rows.length;
    else end = part.end;
  }
  const { size } = await stat(path);
  return { header: header as BackupHeader, end: end as BackupEnd, tables, rows, bytes: size };
}

/** A part of a backup, in the order of the file. */
type BackupPart =
  | { readonly header: BackupHeader }
  | { readonly table: TableHeader }
  | { readonly rows: readonly string[] }
  | { readonly end: BackupEnd };

/** Rows are handed on in parts of this many characters, or one row. */
const PART_CHARACTERS = 1_000_000;
const ROW_CHARACTERS = 50;

const TOO_LONG = `longer than ${LONGEST_LINE_BYTES / 1_048_576} MiB`;

/**
 * Reads a backup in parts that are all small. Only the end shows whether the file was complete.
 *
 * @throws BackupUnreadable
 */
export async function* readBackup(path: string): AsyncGenerator<BackupPart> {
  const hash = createHash("sha256");
  let rows: string[] = [];
  let characters = 0;
  let count = 0;
  let isFirst = true;
  let end: BackupEnd | undefined;
  for await (const { number, bytes } of linesOf(unpack(path), LONGEST_LINE_BYTES)) {
    if (!bytes) throw new BackupUnreadable(path, `is damaged: its line ${number} is ${TOO_LONG}.`);
    if (!isUtf8(bytes))
      throw new BackupUnreadable(path, `is damaged: its line ${number} is no text.`);
    const line = bytes.toString("utf8");
    if (end) throw new BackupUnreadable(path, "is damaged: it goes on after its end.");
    if (isFirst) {
      yield { header: headerIn(path, line) };
      isFirst = false;
    } else if (line.startsWith("[")) {
      rows.push(line);
      // A row of no characters takes room, too.
      characters += line.length + ROW_CHARACTERS;
      count += 1;
    } else {
      if (rows.length > 0) yield { rows };
      rows = [];
      characters = 0;
      const object = parse(path, line) as TableHeader | BackupEnd;
      if ("table" in object) yield { table: object };
      else end = object;
    }
    if (characters > PART_CHARACTERS) {
      yield { rows };
      rows = [];
      characters = 0;
    }
    if (!end) hash.update(bytes).update("\n");
  }
  if (!end) throw new BackupUnreadable(path, "is cut off: its last line is missing.");
  if (end.sha256 !== hash.digest("hex") || end.rows !== count) {
    throw new BackupUnreadable(path, "is damaged: its checksum does not match its content.");
  }
  yield { end };
}

async function* unpack(path: string): AsyncGenerator<Buffer> {
  const unpacked = createGunzip();
  let failure: NodeJS.ErrnoException | undefined;
  pipeline(createReadStream(path), unpacked, (error) => {
    failure = error ?? undefined;
  });
  try {
    yield* unpacked;
  } catch (error) {
    failure ??= error as NodeJS.ErrnoException;
  }
  if (!failure) return;
  const { code = "" } = failure;
  if (!code.startsWith("Z_")) throw failure;
  const isCutOff = /^Z_BUF/.test(code);
  throw new BackupUnreadable(path, isCutOff ? "is cut off." : "is damaged, or is no backup.");
}

function headerIn(path: string, line: string): BackupHeader {
  const header = parse(path, line) as Partial<BackupHeader>;
  const { rapport_backup, version, created_at, migrations } = header;
  const isHeader =
    rapport_backup === 1 &&
    typeof version === "string" &&
    typeof created_at === "string" &&
    typeof migrations === "object" &&
    migrations !== null &&
    Object.values(migrations).every((checksum) => typeof checksum === "string");
  if (isHeader) return header as BackupHeader;
  throw new BackupUnreadable(path, "is no backup of Rapport.");
}

function parse(path: string, line: string): object {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null) return value;
  } catch {}
  throw new BackupUnreadable(path, "is damaged, or is no backup.");
}
