import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { constants, createGzip } from "node:zlib";
import { plainLines } from "./terminal.ts";

/** How an output is written. */
export interface OutputOptions {
  /** Whether it is compressed. A file whose name ends in `.gz` is always compressed. */
  readonly gzip?: boolean | undefined;
}

/**
 * Writes text to a file, or to standard output for `-`. The file appears under its name only when
 * it is complete, and only its owner can read it; a failure leaves nothing behind.
 */
export async function writeOutput(
  path: string,
  chunks: AsyncIterable<string | Uint8Array>,
  { gzip = false }: OutputOptions = {},
): Promise<void> {
  const packed = gzip || path.endsWith(".gz") ? compressed(chunks) : chunks;
  if (path === "-") return writeToStdout(packed);
  const write = async (file: FileHandle) => {
    for await (const chunk of packed) await file.writeFile(chunk);
  };
  if (await isDevice(path)) await writeToDevice(path, write);
  else await writeFileWhole(path, write);
}

/** A pipe or a device is written to; it must not be replaced by a file. */
const isDevice = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && !found.isFile() && !found.isDirectory();
};

async function writeToDevice(
  path: string,
  write: (file: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(path, "w");
  try {
    await write(file);
  } catch (error) {
    throw named(error, path);
  } finally {
    await file.close();
  }
}

/**
 * Creates a file under a temporary name beside its own, and renames it once `write` has ended.
 *
 * @param write also gets the temporary name, for programs that write it themselves.
 */
export async function writeFileWhole(
  path: string,
  write: (file: FileHandle, temporaryPath: string) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.${randomUUID().slice(0, 8)}.unfinished`;
  try {
    const file = await open(temporary, "wx", 0o600).catch((error) => {
      throw named(error, path);
    });
    try {
      await write(file, temporary);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw named(error, path);
  }
}

/** The error of the file system about the name that the user knows; errors of anything else as they are. */
function named(error: unknown, path: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === "ENOENT" && syscall === "open") return folderIsMissing(path);
  if (!code || !["write", "open", "fsync", "rename"].includes(syscall ?? "")) return error;
  return Object.assign(error as Error, { path });
}

/** Why nothing can be written to a path whose folder does not exist, and what to do about it. */
export function folderIsMissing(path: string): Error {
  const folder = dirname(path);
  return new Error(`The folder ${folder} does not exist. Create it first: mkdir -p '${folder}'`);
}

async function writeToStdout(chunks: AsyncIterable<string | Uint8Array>): Promise<void> {
  // A reader such as head may close the pipe early: see main.ts.
  let isClosed = false;
  process.stdout.once("error", () => {
    isClosed = true;
    process.stdout.emit("drain");
  });
  for await (const chunk of chunks) {
    if (isClosed) return;
    if (!process.stdout.write(process.stdout.isTTY ? plainLines(textOf(chunk)) : chunk))
      await once(process.stdout, "drain");
  }
}

/** On a terminal, output for programs is shown in a form for people. */
const textOf = (chunk: string | Uint8Array): string =>
  typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");

async function* compressed(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const feed = async () => {
    for await (const chunk of chunks) if (!gzip.write(chunk)) await once(gzip, "drain");
    gzip.end();
  };
  const fed = feed().catch((error: Error) => void gzip.destroy(error));
  for await (const chunk of gzip) yield chunk as Uint8Array;
  await fed;
}
