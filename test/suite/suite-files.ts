/*
 * Which test files a run of the suite takes.
 *
 * The suite has six parts, distinguished by folder: of everything (`system/`) or of a feature (`webhooks/system/`). `npm test` runs the first one:
 *
 * - `main`: every folder but the following, laid out like `src/`: what each feature does
 * - `long/`: laid out in the same way: walks over every endpoint, hostile input, long tables of refusals, random histories,
 *   interruption at many points, floods, data of a large size
 * - `system/`: commands, child processes, crashes and restarts; imitations of other systems, at length
 * - `browser/`: pages in Chromium
 * - `limits/`: time, growth and memory, measured with little beside it
 * - `night/`, below any of these: the rest of a kind of which `.ci/run` tries a sample, and what takes long and seldom breaks; `.ci/nightly` runs it
 *
 * On PostgreSQL a run leaves out the files that no engine can change. A test finds PostgreSQL only by the variable
 * that names it. A file that does not read the variable, and imports no file of ours that does, runs the same code on
 * every engine: `npm test` has run it, and `.ci/run` does both. Of `system/` it takes the files that start servers or
 * open databases of their own. The others send HTTP to the shared server, and what that does on PostgreSQL is tested by
 * the main part.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export const PARTS = ["main", "night", "long", "system", "browser", "limits"] as const;
export type Part = (typeof PARTS)[number];

/** Compiled, every import of ours names a file by its relative path. */
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+\.js)"/g;

const NAMES_POSTGRES = "TEST_DATABASE_URL";

const OPENS_DATABASES = /\b(?:TEST_DATABASE_URL|ENGINE|freshDatabase|testConfig|startOwnServer)\b/;

/** They use the shared server, and compare values that each engine writes and reads in its own way. */
const ABOUT_STORED_VALUES = [
  "system/night/round-trip.test.js",
  "system/night/large-round-trip.test.js",
];

export interface SuiteChoice {
  /**
   * Parts of paths; one that begins with a slash is its beginning. A file that is requested by name runs in any part
   * and on any engine.
   */
  readonly wanted?: readonly string[];
  readonly parts?: readonly Part[];
  /** Of these parts the files that no engine changes. */
  readonly engineless?: readonly Part[];
  readonly engine: "embedded" | "postgres";
}

export interface SuiteFiles {
  readonly taken: string[];
  /** The files for another engine. */
  readonly leftOut: string[];
}

/** All compiled test files below a folder, by their paths in it. */
export const testFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".test.js"))
    .sort();

/** The part of the suite that a test file belongs to. */
export function partOf(path: string): Part {
  return PARTS.find((part) => isBelow(path, part)) ?? "main";
}

/** A file below `limits/night/` is of the part `night`, and still runs alone. */
export const isBelow = (path: string, folder: string): boolean =>
  path.split("/").slice(0, -1).includes(folder);

/** The path of a test file without its ending, as `npm test -- NAME` takes it. */
export const nameOf = (path: string): string => path.replace(/\.test\.js$/, "");

/** Chooses the files of a run. */
export function suiteFiles(
  folder: string,
  { wanted = [], parts = ["main"], engineless = [], engine }: SuiteChoice,
): SuiteFiles {
  const files = testFiles(folder);
  if (wanted.length > 0) {
    return {
      taken: files.filter((path) => wanted.some((part) => isNamed(path, part))),
      leftOut: [],
    };
  }
  const chosen = files.filter((path) => parts.includes(partOf(path)));
  const isTaken = (path: string) => engine === "embedded" || dependsOnEngine(folder, path);
  const without = files.filter(
    (path) => engineless.includes(partOf(path)) && !dependsOnEngine(folder, path),
  );
  return {
    taken: [...chosen.filter(isTaken), ...without],
    leftOut: chosen.filter((path) => !isTaken(path)),
  };
}

function dependsOnEngine(folder: string, path: string): boolean {
  const place = join(folder, path);
  if (!reaches(place, NAMES_POSTGRES)) return false;
  if (!isBelow(path, "system") || ABOUT_STORED_VALUES.includes(path)) return true;
  return OPENS_DATABASES.test(readFileSync(place, "utf8"));
}

const isNamed = (path: string, part: string): boolean =>
  part.startsWith("/") ? `/${path}`.startsWith(part) : path.includes(part);

interface CompiledFile {
  readonly text: string;
  /** The files of ours that it imports. */
  readonly imports: readonly string[];
}

/** Most files import the same few. */
const filesRead = new Map<string, CompiledFile>();

function readCompiled(path: string): CompiledFile {
  const text = readFileSync(path, "utf8");
  const imported = [...text.matchAll(IMPORT)].map(([, to = ""]) => resolve(dirname(path), to));
  // A text that a test writes into another file can look like an import.
  return { text, imports: imported.filter(existsSync) };
}

/** Whether a compiled file, or one that it imports, contains a text. */
export function reaches(path: string, text: string, seen = new Set<string>()): boolean {
  if (seen.has(path)) return false;
  seen.add(path);
  const file = filesRead.get(path) ?? readCompiled(path);
  filesRead.set(path, file);
  return file.text.includes(text) || file.imports.some((each) => reaches(each, text, seen));
}
