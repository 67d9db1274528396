import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { packageRoot } from "../package-root.ts";

/** `at name (file:///…/part-app.js:12:34)`, or without the name. */
const FRAME = /^(\s+at .*?)((?:file:\/\/)?\/[^():]+\.js):(\d+):(\d+)(\)?)$/;

const maps = new Map<string, SourceMap | undefined>();

/**
 * The frames of a stack as the source files have them: a bundled file has thousands of lines. The map of a file is
 * read when an error first needs it.
 */
export const framesOf = (stack: string | undefined): string[] | undefined =>
  stack
    ?.split("\n")
    .filter((line) => /^\s+at /.test(line))
    .map(inSource);

function inSource(line: string): string {
  const [, before, file = "", row, column, after] = FRAME.exec(line) ?? [];
  if (before === undefined) return line;
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  const found = mapOf(path)?.findEntry(Number(row) - 1, Number(column) - 1);
  if (!found || !("originalSource" in found)) return line;
  const source = found.originalSource.replace(/^(?:\.\.?\/)+/, "");
  return `${before}${source}:${found.originalLine + 1}:${found.originalColumn + 1}${after}`;
}

function mapOf(path: string): SourceMap | undefined {
  if (!maps.has(path)) maps.set(path, readMap(path));
  return maps.get(path);
}

/** Undefined for a file without a map, and for one outside the package. */
function readMap(path: string): SourceMap | undefined {
  if (relative(packageRoot(), path).startsWith("..")) return undefined;
  try {
    return new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8")));
  } catch {
    return undefined;
  }
}
