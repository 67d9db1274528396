import { lstat, mkdtemp, opendir, readdir, realpath, rm, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import Type from "typebox";
import { patterned, Text } from "../../../core/base/values/schemas.ts";
import { ConnectionUnfit, OutsideRoot, SourceUnfit } from "../../../core/outbound/unfit.ts";
import { openFiles } from "./duckdb.ts";
import { FILE_FORMATS, type FileFormat } from "./file-table.ts";
import { firstTables, type Source, SourceFailed, sourceKind, type TableList } from "./source.ts";

/* Files on a disk that the server can read: one, or all of a format in a folder and below. */

export const formatSetting = Type.Optional(
  Type.Enum([...FILE_FORMATS], {
    description: "Needed for a folder; the ending of a file's name says it.",
  }),
);

const FORMAT_RULE = `needs a 'format' (${FILE_FORMATS.join(", ")}): its url does not say it`;

const saysFormat = ({ url, format }: { url: string; format?: FileFormat }): boolean =>
  format !== undefined || formatOf(url) !== undefined;

const ENDINGS: Readonly<Record<FileFormat, RegExp>> = {
  parquet: /\.parquet$/i,
  csv: /\.csv(?:\.gz)?$/i,
  ndjson: /\.(?:ndjson|jsonl)(?:\.gz)?$/i,
};

export const formatOf = (name: string): FileFormat | undefined =>
  FILE_FORMATS.find((format) => ENDINGS[format].test(name));

/** Whether a file in a folder belongs to the files to read. */
export const hasFormat = (name: string, format: FileFormat): boolean => ENDINGS[format].test(name);

export const FORMAT = { holds: saysFormat, sentence: FORMAT_RULE };

export const filesSource = sourceKind({
  type: "files",
  label: "Files in a folder",
  connection: {},
  limits: {
    root: Text(
      "A folder of the server. Links in it that point elsewhere are not followed.",
      "/srv/drops",
      { minLength: 1, maxLength: 4_096, ...patterned("^/", "must be an absolute path") },
    ),
  },
  place: {
    url: Type.String({
      minLength: 1,
      maxLength: 4_096,
      description: "A file or a folder; with a connection, below its root.",
    }),
    format: formatSetting,
  },
  secrets: [],
  rule: FORMAT,
  placeOf: ({ url }) => url,
  hostsOf: () => [],
  isBelowRoot: ({ url, root = "/" }) => isBelow(resolve(root, url), resolve(root)),

  open: ({ url, root, format = formatOf(url) as FileFormat }, { signal }) =>
    withFolder(async (folder) => {
      const paths =
        root === undefined ? await findFiles(url, format) : await findBelow(root, url, format);
      return openFiles(paths, format, folder, signal);
    }),

  list: ({ root, url = "" }, { signal }) =>
    root === undefined
      ? listIn(dirname(resolve("/", url)), "absolute", signal)
      : listIn(root, "relative", signal),
});

/** As many entries of folders are looked at. */
const MOST_ENTRIES = 10_000;

/** The files of all formats in a folder and below, and the folders that have some; links are left out. */
async function listIn(
  top: string,
  named: "absolute" | "relative",
  signal: AbortSignal,
): Promise<TableList> {
  const names = new Set<string>();
  const folders = [""];
  let seen = 0;
  for (const folder of folders) {
    signal.throwIfAborted();
    const entries = await opendir(join(top, folder)).catch((error: NodeJS.ErrnoException) => {
      if (folder !== "") return [];
      if (isMissing(error)) throw new ConnectionUnfit(`There is no folder ${top}.`, error);
      throw new SourceFailed(error);
    });
    for await (const entry of entries) {
      if (seen++ === MOST_ENTRIES) break;
      const name = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(name);
      if (!entry.isFile() || formatOf(name) === undefined) continue;
      names.add(folder === "" ? "./" : `${folder}/`).add(name);
    }
    if (seen > MOST_ENTRIES) break;
  }
  const found = named === "relative" ? [...names] : [...names].map((name) => join(top, name));
  return firstTables(found.sort(), seen > MOST_ENTRIES);
}

async function findFiles(path: string, format: FileFormat): Promise<string[]> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (isMissing(error)) throw new SourceUnfit(`There is no file or folder ${path}.`, error);
    throw new SourceFailed(error);
  });
  if (!found.isDirectory()) return [path];
  return filesIn(path, format);
}

async function filesIn(folder: string, format: FileFormat): Promise<string[]> {
  const names = await readdir(folder, { recursive: true }).catch((error) => {
    throw new SourceFailed(error);
  });
  return names
    .filter((name) => hasFormat(name, format))
    .sort()
    .map((name) => join(folder, name));
}

const isMissing = ({ code }: NodeJS.ErrnoException): boolean =>
  /^(?:ENOENT|ENOTDIR|ELOOP)$/.test(code ?? "");

const isBelow = (path: string, root: string): boolean =>
  path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`);

/**
 * The same below a root. Every file is where its path leads once all links are resolved; one outside does not exist.
 *
 * @throws OutsideRoot
 */
async function findBelow(root: string, url: string, format: FileFormat): Promise<string[]> {
  const missing = `There is no file or folder ${url} in the connection's folder.`;
  const top = await realpath(root).catch((error: NodeJS.ErrnoException) => {
    if (isMissing(error)) throw new ConnectionUnfit(`There is no folder ${root}.`, error);
    throw new SourceFailed(error);
  });
  const real = (path: string): Promise<string> =>
    realpath(path).catch((error: NodeJS.ErrnoException) => {
      if (isMissing(error)) throw new SourceUnfit(missing, error);
      throw new SourceFailed(error);
    });
  if (!isBelow(resolve(root, url), resolve(root))) throw new OutsideRoot(missing);
  const start = await real(resolve(root, url));
  if (!isBelow(start, top)) throw new OutsideRoot(missing);
  const named = (await stat(start)).isDirectory() ? await filesIn(start, format) : [start];
  const paths: string[] = [];
  for (const path of named) {
    const found = await real(path);
    // A pipe or a device would be read forever.
    if (isBelow(found, top) && (await stat(found)).isFile()) paths.push(found);
  }
  return paths;
}

/** The folders of this machine; another process may share their temporary files. */
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
    if (pid && !isRunning(Number(pid)) && (await isOwn(join(tmpdir(), name)))) {
      await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => {});
    }
  }
}

/** A folder of this user: any other user may give one of theirs, or a link to one of ours, such a name. */
async function isOwn(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
