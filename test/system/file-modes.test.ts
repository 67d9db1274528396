/* Only their owner may read the embedded engine's files. */
import assert from "node:assert/strict";
import { chmod, mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ENGINE } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { post, startChild } from "./child-server.ts";

/** Windows has no such modes. */
const skip = ENGINE !== "embedded" || process.platform === "win32";

/** The folder and its entries, as far as others may access them or their mode differs. */
async function openEntries(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  assert.ok(names.length > 500, `There are only ${names.length} entries.`);
  const found: string[] = [];
  for (const name of ["", ...names]) {
    const { mode } = await stat(join(folder, name));
    const expected = (mode & 0o170_000) === 0o040_000 ? 0o700 : 0o600;
    if ((mode & 0o777) !== expected) found.push(`${name} ${(mode & 0o777).toString(8)}`);
  }
  return found;
}

async function openToAll(folder: string): Promise<void> {
  for (const name of ["", ...(await readdir(folder, { recursive: true }))]) {
    const path = join(folder, name);
    await chmod(path, (await stat(path)).isDirectory() ? 0o755 : 0o666);
  }
}

test("only the owner may access any file of the data folder, after writes, restarts and a crash", {
  skip,
}, async () => {
  const DATA_DIR = join(await temporaryFolder(), "data");
  await mkdir(DATA_DIR, { mode: 0o777 });
  const first = await startChild({ DATA_DIR });
  assert.deepEqual(await openEntries(DATA_DIR), [], "after a first start");
  const attributes = Array.from({ length: 50 }, (_, index) => ({
    external_id: `user-${index}`,
    note: "x".repeat(200),
  }));
  assert.equal((await post(`${first.url}/users/track`, first.key, { attributes })).status, 201);
  assert.deepEqual(await openEntries(DATA_DIR), [], "after writes");
  await first.end("SIGKILL");
  assert.deepEqual(await openEntries(DATA_DIR), [], "after a crash");

  await openToAll(join(DATA_DIR, "engine"));
  await chmod(DATA_DIR, 0o755);
  const second = await startChild({ DATA_DIR });
  assert.deepEqual(await openEntries(DATA_DIR), [], "after the modes were repaired at a start");
  await second.end("SIGTERM");
  assert.deepEqual(await openEntries(DATA_DIR), [], "after a stop");
});
