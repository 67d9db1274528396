import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import { openFiles } from "./duckdb.ts";
import { FILE_FORMATS, type FileFormat } from "./file-table.ts";
import { type Source, SourceFailed, type SourceKind, SourceUnfit } from "./source.ts";

/* Files on a disk that the server can read: one, or all of a format in a folder and below. */

const Warehouse = Type.Object(
  {
    type: Type.Enum(["files"]),
    /** A path; one that ends with a slash is a folder. */
    url: Type.String({ minLength: 1 }),
    /** Needed for a folder; the ending of a file's name says it. */
    format: Type.Optional(Type.Enum([...FILE_FORMATS])),
  },
  { additionalProperties: false },
);

export const FORMAT_RULE = `needs a 'format' (${FILE_FORMATS.join(", ")}): its url does not say it`;

export const saysFormat = ({ url, format }: { url: string; format?: FileFormat }): boolean =>
  format !== undefined || formatOf(url) !== undefined;

const ENDINGS: Readonly<Record<FileFormat, RegExp>> = {
  parquet: /\.parquet$/i,
  csv: /\.csv(?:\.gz)?$/i,
  ndjson: /\.(?:ndjson|jsonl)(?:\.gz)?$/i,
};

/** What the ending of a name says. */
export const formatOf = (name: string): FileFormat | undefined =>
  FILE_FORMATS.find((format) => ENDINGS[format].test(name));

/** Whether a file in a folder is one of those that are read. */
export const hasFormat = (name: string, format: FileFormat): boolean => ENDINGS[format].test(name);

export const filesSource: SourceKind<Static<typeof Warehouse>> = {
  schema: Type.Refine(Warehouse, saysFormat, () => FORMAT_RULE),
  placeOf: ({ url }) => url,

  open: ({ url, format = formatOf(url) as FileFormat }, signal) =>
    withFolder(async (folder) => openFiles(await findFiles(url, format), format, folder, signal)),
};

async function findFiles(path: string, format: FileFormat): Promise<string[]> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") {
      throw new SourceUnfit(`There is no file or folder ${path}.`, error);
    }
    throw new SourceFailed(error);
  });
  if (!found.isDirectory()) return [path];
  const names = await readdir(path, { recursive: true }).catch((error) => {
    throw new SourceFailed(error);
  });
  return names
    .filter((name) => hasFormat(name, format))
    .sort()
    .map((name) => join(path, name));
}

/** The folders of this machine, whose temporary files another one may share. */
const FOLDERS = `rapport-sync-${hostname()}-`;

/** Opens a source with a temporary folder, which goes when the source is closed. */
export async function withFolder(open: (folder: string) => Promise<Source>): Promise<Source> {
  await removeLeftBehind();
  const folder = await mkdtemp(join(tmpdir(), `${FOLDERS}${process.pid}-`));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const source = await open(folder);
    return { ...source, close: () => source.close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Removes the folders, with the files copied into them, of processes that were killed. */
async function removeLeftBehind(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [pid] = name.startsWith(FOLDERS) ? name.slice(FOLDERS.length).split("-") : [];
    if (pid && !isRunning(Number(pid))) {
      // Another user's is left alone.
      await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {});
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
