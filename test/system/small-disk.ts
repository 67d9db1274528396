import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { chmod, mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after } from "node:test";
import { temporaryFolder } from "../stored-rows.ts";

/** A separate file system that a test can fill. */
export interface SmallDisk {
  readonly folder: string;
  /** Leaves this many bytes free. */
  fill(leaving: number): Promise<void>;
  /** Gives back what `fill` took. */
  free(): Promise<void>;
  /** Creates files until this many inodes are left. */
  takeInodes(leaving: number): Promise<void>;
  freeInodes(): Promise<void>;
}

/** Mounts one in memory until the test file ends. @returns undefined if that is not allowed: it takes root. */
export async function mountSmallDisk(
  megabytes: number,
  inodes?: number,
): Promise<SmallDisk | undefined> {
  let isMounted = false;
  // Registered before the folder, because hooks run in order.
  after(() => isMounted && execFileSync("umount", ["--lazy", folder]));
  const folder = await temporaryFolder();
  const options = [
    "-t",
    "tmpfs",
    "-o",
    `size=${megabytes}m${inodes ? `,nr_inodes=${inodes}` : ""}`,
    "tmpfs",
    folder,
  ];
  isMounted = spawnSync("mount", options, { stdio: "ignore" }).status === 0;
  if (!isMounted) return undefined;
  await chmod(folder, 0o711);
  const filler = join(folder, "filler");
  const files = join(folder, "files");
  return {
    folder,
    async takeInodes(leaving) {
      await mkdir(files);
      for (let left = (await statfs(folder)).ffree; left > leaving; left--) {
        writeFileSync(join(files, String(left)), "");
      }
    },
    freeInodes: () => rm(files, { recursive: true }),
    async fill(leaving) {
      const { bavail, bsize } = await statfs(folder);
      const bytes = Buffer.alloc(Math.max(0, bavail * bsize - leaving));
      // Other writers may leave less than there was.
      await writeFile(filler, bytes).catch((error) => assert.equal(error.code, "ENOSPC"));
    },
    free: () => rm(filler),
  };
}
