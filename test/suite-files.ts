/*
 * Which test files a run of the suite takes: all, or those whose names contain one of the wanted parts.
 *
 * On PostgreSQL a run of all files leaves out those that no engine can change. A test finds PostgreSQL only by the
 * variable that names it. A file that does not read the variable, and imports no file of ours that does, runs the same
 * code on every engine: `npm test` has run it, and `.ci/run` does both.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** Compiled, every import of ours names a file by its relative path. */
const IMPORT = /\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+\.js)"/g;

const NAMES_POSTGRES = "TEST_DATABASE_URL";

/** Whether a compiled file, or one that it imports, reads where PostgreSQL is. */
function canReachPostgres(path: string, seen = new Set<string>()): boolean {
  if (seen.has(path)) return false;
  seen.add(path);
  const text = readFileSync(path, "utf8");
  if (text.includes(NAMES_POSTGRES)) return true;
  const imported = [...text.matchAll(IMPORT)].map(([, to = ""]) => resolve(dirname(path), to));
  // A text that a test writes into a file of its own can look like an import.
  return imported.filter(existsSync).some((each) => canReachPostgres(each, seen));
}

export interface SuiteFiles {
  readonly taken: string[];
  readonly leftOut: string[];
}

/**
 * The compiled test files of a folder.
 *
 * @param wanted parts of names; a file that is asked for by name is never left out.
 */
export function suiteFiles(
  folder: string,
  wanted: readonly string[],
  engine: "embedded" | "postgres",
): SuiteFiles {
  const files = readdirSync(folder).filter((name) => name.endsWith(".test.js"));
  if (wanted.length > 0) {
    const isWanted = (name: string) => wanted.some((part) => name.includes(part));
    return { taken: files.filter(isWanted), leftOut: [] };
  }
  const isTaken = (name: string) => engine === "embedded" || canReachPostgres(join(folder, name));
  return { taken: files.filter(isTaken), leftOut: files.filter((name) => !isTaken(name)) };
}
