/* Zip archives that are written while they are sent. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { zipOf } from "../../../src/features/segments/exports/zip.ts";
import { filesIn } from "./read-zip.ts";

async function* given(files: readonly { name: string; data: Buffer }[]) {
  yield* files;
}

async function archiveOf(
  files: readonly { name: string; data: Buffer }[],
  startsAt = 0,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of zipOf(given(files), startsAt)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const FILES = [
  { name: "a.json", data: Buffer.from("hello\n".repeat(1_000)) },
  { name: "ü.json", data: Buffer.alloc(0) },
];

test("an archive holds its files by name, with their checksums", async () => {
  assert.deepEqual(filesIn(await archiveOf(FILES)), FILES);
  assert.deepEqual(filesIn(await archiveOf([])), []);
});

test("a file beyond 4 GB of archive is found through the 64-bit fields", async () => {
  const far = 5 * 1_024 ** 3;
  assert.deepEqual(filesIn(await archiveOf(FILES, far), far), FILES);
});

test("another program reads the archive", async (context) => {
  const path = join(mkdtempSync(join(tmpdir(), "rapport-zip-")), "a.zip");
  writeFileSync(path, await archiveOf(FILES));
  const script =
    "import sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); print(z.testzip(), z.namelist())";
  try {
    const output = execFileSync("python3", ["-c", script, path], { encoding: "utf8" });
    assert.equal(output.trim(), "None ['a.json', 'ü.json']");
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") throw error;
    context.skip("There is no python3.");
  }
});
