import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import { pipeline as pipelineAsync } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { RAPPORT } from "../../../core/base/command.ts";

/** A file, or standard input, unpacked. */
export interface Source {
  /** As messages name it. */
  readonly name: string;
  /** Identifies the content by its first mebibyte and, of a file, its size: another file is not continued. */
  readonly fingerprint: string;
  /** Undefined for sources that can be read only once: standard input, or a pipe. */
  readonly path: string | undefined;
  /** The uncompressed size; undefined if it is unknown. */
  readonly totalBytes: number | undefined;
  /** The first bytes, unpacked or not. */
  readonly head: Buffer;
  readonly chunks: AsyncIterable<Buffer>;
}

const FINGERPRINT_BYTES = 1_048_576;

/**
 * Opens a file, a pipe or standard input (`-`), packed with gzip or not. A packed file is read through once before, so
 * that a damaged one is refused before anything is imported.
 *
 * @throws in words if it is neither text nor Parquet.
 */
export async function openSource(path: string): Promise<Source> {
  const isStandardInput = path === "-";
  const name = isStandardInput ? "standard input" : path;
  const file = isStandardInput ? undefined : await stat(path);
  const size = file?.isFile() ? file.size : undefined;
  const raw: Readable = isStandardInput ? process.stdin : createReadStream(path);
  const { head: packedHead, all } = await peek(raw, FINGERPRINT_BYTES);
  if (packedHead.length === 0) throw new Error(`${name} is empty.`);
  const fingerprint = createHash("sha256")
    .update(`${size ?? ""} `)
    .update(packedHead)
    .digest("hex")
    .slice(0, 32);
  const known = { name, fingerprint, path: size === undefined ? undefined : path };
  if (!isGzip(packedHead)) {
    if (!isParquetHead(packedHead)) refuseBinary(name, packedHead);
    return { ...known, totalBytes: size, head: packedHead, chunks: all };
  }
  const totalBytes = size === undefined ? undefined : await unpackedSize(path);
  const unpacked = await peek(gunzip(name, all), HEAD_BYTES);
  refuseBinary(name, unpacked.head);
  return { ...known, totalBytes, head: unpacked.head, chunks: unpacked.all };
}

const HEAD_BYTES = 65_536;

interface Peeked {
  readonly head: Buffer;
  /** With the head. */
  readonly all: AsyncIterable<Buffer>;
}

/** Reads the first bytes without losing them. */
async function peek(stream: AsyncIterable<Buffer>, bytes: number): Promise<Peeked> {
  const iterator = stream[Symbol.asyncIterator]();
  const chunks: Buffer[] = [];
  let length = 0;
  while (length < bytes) {
    const { done, value } = await iterator.next();
    if (done) break;
    chunks.push(value);
    length += value.length;
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield* chunks.splice(0);
    for (;;) {
      const { done, value } = await iterator.next();
      if (done) return;
      yield value;
    }
  }
  return { head: Buffer.concat(chunks).subarray(0, bytes), all: all() };
}

/** Whether a file begins with the four bytes of Parquet. */
export const isParquetHead = (head: Buffer): boolean => head.toString("latin1", 0, 4) === "PAR1";

const isGzip = (head: Buffer): boolean => head[0] === 0x1f && head[1] === 0x8b;

async function* gunzip(name: string, packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const unpacked = createGunzip();
  pipeline(Readable.from(packed), unpacked, () => {});
  try {
    yield* unpacked;
  } catch (error) {
    throw damaged(name, error);
  }
}

async function unpackedSize(path: string): Promise<number> {
  let size = 0;
  try {
    await pipelineAsync(createReadStream(path), createGunzip(), async (chunks) => {
      for await (const chunk of chunks) size += chunk.length;
    });
  } catch (error) {
    throw damaged(path, error);
  }
  return size;
}

function damaged(name: string, error: unknown): unknown {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (!code.startsWith("Z_")) return error;
  const what = /^Z_BUF/.test(code) ? "ends in the middle" : "is damaged";
  return new Error(`The gzip data of ${name} ${what}. Copy or download it again.`);
}

/** Formats that are not text, by their first bytes. */
const SIGNATURES: readonly (readonly [bytes: string, advice: string])[] = [
  ["504b0304", "a zip archive or a spreadsheet: unpack it, or save it as CSV"],
  ["50415231", "a Parquet file that is packed with gzip: unpack it (gunzip)"],
  ["4f626a01", "an Avro file: convert it to NDJSON"],
  ["28b52ffd", `packed with zstd: unpack it, or pipe it in (zstd -dc … | ${RAPPORT} import … -)`],
  ["425a68", `packed with bzip2: unpack it, or pipe it in (bzip2 -dc … | ${RAPPORT} import … -)`],
  ["fd377a585a00", `packed with xz: unpack it, or pipe it in (xz -dc … | ${RAPPORT} import … -)`],
  ["fffe", "text in UTF-16: convert it (iconv -f UTF-16 -t UTF-8)"],
  ["feff", "text in UTF-16: convert it (iconv -f UTF-16 -t UTF-8)"],
];

function refuseBinary(name: string, head: Buffer): void {
  const hex = head.subarray(0, 8).toString("hex");
  const known = SIGNATURES.find(([bytes]) => hex.startsWith(bytes));
  if (known) throw new Error(`${name} is ${known[1]}.`);
  if (!head.subarray(0, HEAD_BYTES).includes(0)) return;
  throw new Error(
    `${name} is a binary file: it holds zero bytes. NDJSON or CSV in UTF-8, or Parquet, is expected.`,
  );
}
