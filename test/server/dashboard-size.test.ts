import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { packageRoot } from "../../src/core/base/package-root.ts";

const FOLDER = join(packageRoot(), "dist", "web");

const MANIFEST = join(FOLDER, "assets", "manifest.json");

/** How much a browser loads before a page works. web/README.md */
const MOST_BYTES = 300 * 1024;

interface Chunk {
  readonly file: string;
  readonly src?: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

const skip = existsSync(MANIFEST) ? false : "the dashboard is not built: npm run build";

describe("the size of the dashboard", { skip }, () => {
  if (skip) return;
  const chunks: Record<string, Chunk> = JSON.parse(readFileSync(MANIFEST, "utf8"));

  /** A script with everything that it imports before it runs. */
  function closureOf(name: string, found = new Set<string>()): Set<string> {
    if (found.has(name)) return found;
    found.add(name);
    for (const each of chunks[name]?.imports ?? []) closureOf(each, found);
    return found;
  }

  const packedBytesOf = (names: Iterable<string>): number =>
    [...names]
      .map((name) => gzipSync(readFileSync(join(FOLDER, chunks[name]?.file ?? ""))).length)
      .reduce((sum, bytes) => sum + bytes, 0);

  const entry = Object.keys(chunks).find((name) => chunks[name]?.isEntry) ?? "";
  const pages = Object.keys(chunks).filter((name) => /src\/(?:pages|features)\//.test(name));

  test("no page of the dashboard needs more than 300 KB of compressed JavaScript on the first load", () => {
    assert.ok(pages.length > 0);
    for (const page of pages) {
      const bytes = packedBytesOf(closureOf(page, closureOf(entry)));
      assert.ok(bytes < MOST_BYTES, `${page} needs ${Math.round(bytes / 1024)} KB.`);
    }
  });
});
