import { promisify } from "node:util";
import { crc32, deflateRaw } from "node:zlib";

/*
 * A zip archive that is written while it is sent (APPNOTE.TXT 6.3.10). Only one file is in memory
 * at a time, so its sizes are known before its header is written. A library that streams archives
 * accepts streams of unknown length, which we do not need, and would be a dependency for a format
 * of three records.
 */

const deflate = promisify<Buffer, Buffer>(deflateRaw);

export interface ZipFile {
  readonly name: string;
  readonly data: Buffer;
}

interface Entry {
  readonly name: Buffer;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  /** The offset of its header. */
  readonly offset: number;
}

/** Version 4.5: with 64-bit fields. */
const VERSION = 45;
const UTF8 = 0x0800;
const DEFLATED = 8;
/** 1 January 1980: an archive of the same users is the same to the byte. */
const DAY = 0x0021;
/** A field with this value has its true value in the record with 64-bit fields. */
const ELSEWHERE = 0xffffffff;
const ELSEWHERE_SHORT = 0xffff;

/** @param startsAt where the archive begins; only tests of large archives give one. */
export async function* zipOf(
  files: AsyncIterable<ZipFile>,
  startsAt = 0,
): AsyncGenerator<Uint8Array> {
  const entries: Entry[] = [];
  let offset = startsAt;
  for await (const { name, data } of files) {
    const packed = await deflate(data);
    const entry = {
      name: Buffer.from(name),
      crc: crc32(data),
      packed: packed.length,
      size: data.length,
      offset,
    };
    entries.push(entry);
    const header = localHeader(entry);
    offset += header.length + packed.length;
    yield header;
    yield packed;
  }
  const directory = Buffer.concat(entries.map(directoryEntry));
  yield directory;
  yield endOf(entries.length, directory.length, offset);
}

/** The common part of a file's header and its entry in the directory. */
const common = ({ crc, packed, size, name }: Entry): Buffer =>
  record(24, [
    [2, VERSION],
    [2, UTF8],
    [2, DEFLATED],
    [2, 0],
    [2, DAY],
    [4, crc],
    [4, packed],
    [4, size],
    [2, name.length],
    // The length of the 64-bit fields follows.
  ]);

const localHeader = (entry: Entry): Buffer =>
  Buffer.concat([record(4, [[4, 0x04034b50]]), common(entry), record(2, [[2, 0]]), entry.name]);

function directoryEntry(entry: Entry): Buffer {
  const isFar = entry.offset >= ELSEWHERE;
  const wide = isFar
    ? record(12, [
        [2, 1],
        [2, 8],
        [8, entry.offset],
      ])
    : Buffer.alloc(0);
  return Buffer.concat([
    record(6, [
      [4, 0x02014b50],
      [2, VERSION],
    ]),
    common(entry),
    // The extra field's length, no comment, the first disk, no attributes, the place of the header.
    record(16, [
      [2, wide.length],
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, isFar ? ELSEWHERE : entry.offset],
    ]),
    entry.name,
    wide,
  ]);
}

export async function zipOfOne(file: ZipFile): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of zipOf(only(file))) parts.push(part);
  return Buffer.concat(parts);
}

async function* only(file: ZipFile): AsyncGenerator<ZipFile> {
  yield file;
}

/** The end of the archive, in both forms: readers use the one they know. */
function endOf(count: number, length: number, offset: number): Buffer {
  const wide = record(56, [
    [4, 0x06064b50],
    [8, 44],
    [2, VERSION],
    [2, VERSION],
    [4, 0],
    [4, 0],
    [8, count],
    [8, count],
    [8, length],
    [8, offset],
  ]);
  const locator = record(20, [
    [4, 0x07064b50],
    [4, 0],
    [8, offset + length],
    [4, 1],
  ]);
  const shortCount = Math.min(count, ELSEWHERE_SHORT);
  const end = record(22, [
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, shortCount],
    [2, shortCount],
    [4, Math.min(length, ELSEWHERE)],
    [4, Math.min(offset, ELSEWHERE)],
    [2, 0],
  ]);
  const isWide = count >= ELSEWHERE_SHORT || length >= ELSEWHERE || offset >= ELSEWHERE;
  return isWide ? Buffer.concat([wide, locator, end]) : end;
}

type Field = readonly [bytes: 2 | 4 | 8, value: number];

/** Numbers, the lowest byte first. */
function record(length: number, fields: readonly Field[]): Buffer {
  const buffer = Buffer.alloc(length);
  let place = 0;
  for (const [bytes, value] of fields) {
    if (bytes === 8) buffer.writeBigUInt64LE(BigInt(value), place);
    else buffer.writeUIntLE(value, place, bytes);
    place += bytes;
  }
  return buffer;
}
