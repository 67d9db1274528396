/* The lock that keeps two servers out of one embedded database. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import {
  FolderInUse,
  type FolderLock,
  lockFolder,
} from "../../src/core/database/embedded/folder-lock.ts";
import { sample } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";

const LOCK = new URL("../../src/core/database/embedded/folder-lock.js", import.meta.url).href;

// The socket of a folder with a long path goes to TMPDIR. Other files run in this process later.
const { TMPDIR } = process.env;
process.env.TMPDIR = await temporaryFolder();
after(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
});

/** Another process takes the lock and is killed while it has it. */
function takeAndDie(folder: string): void {
  const script = `
    const { lockFolder } = await import(${JSON.stringify(LOCK)});
    await lockFolder(${JSON.stringify(folder)});
    process.kill(process.pid, "SIGKILL");`;
  const { signal } = spawnSync(process.execPath, ["--input-type=module", "-e", script]);
  assert.equal(signal, "SIGKILL");
}

/** How many of `count` takers at once get the lock; all that got it have it at the same time. */
async function takeAtOnce(folder: string, count: number): Promise<FolderLock[]> {
  const takers = Array.from({ length: count }, () => lockFolder(folder));
  const outcomes = await Promise.allSettled(takers);
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") assert.ok(outcome.reason instanceof FolderInUse);
  }
  return outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
}

async function deepFolder(): Promise<string> {
  const folder = join(await temporaryFolder(), "deep".repeat(20), "deeper".repeat(20));
  await mkdir(folder, { recursive: true });
  return folder;
}

const FOLDERS = { "a folder": temporaryFolder, "a folder with a very long path": deepFolder };

for (const [what, newFolder] of sample(Object.entries(FOLDERS), 1)) {
  // At once: most of their time is the pauses of contenders.
  describe(`the lock on ${what}`, { concurrency: true }, () => {
    test("locking a locked folder fails with a message that names it and says what to do", async () => {
      const folder = await newFolder();
      const lock = await lockFolder(folder);
      await assert.rejects(lockFolder(folder), (error: Error) => {
        assert.equal(error.name, "FolderInUse");
        assert.ok(error.message.includes(folder));
        assert.match(error.message, /Stop that one first, or set DATA_DIR to another folder\.$/);
        return true;
      });
      await lock.release();
    });

    test("a locked folder cannot be locked through a symbolic link", async () => {
      const folder = await newFolder();
      const alias = join(await temporaryFolder(), "alias");
      await symlink(folder, alias);
      const lock = await lockFolder(folder);
      await assert.rejects(lockFolder(alias), FolderInUse);
      await lock.release();
    });

    test("a released folder can be locked again, and no file is left behind", async () => {
      const folder = await newFolder();
      for (let round = 0; round < 3; round++) await (await lockFolder(folder)).release();
      assert.deepEqual(await readdir(folder), []);
    });

    test("a folder whose lock holder was killed can be locked again", async () => {
      const folder = await newFolder();
      for (let round = 0; round < 2; round++) takeAndDie(folder);
      const lock = await lockFolder(folder);
      await assert.rejects(lockFolder(folder), FolderInUse);
      await lock.release();
    });

    test("exactly one of many simultaneous contenders gets a folder lock, even after its holder was killed", async () => {
      for (const isLeft of [false, true, true]) {
        const folder = await newFolder();
        if (isLeft) takeAndDie(folder);
        const locks = await takeAtOnce(folder, 8);
        assert.equal(locks.length, 1);
        for (const lock of locks) await lock.release();
      }
    });
  });
}
