import { execFileSync, spawnSync } from "node:child_process";
import { chmod, rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after } from "node:test";
import { temporaryFolder } from "../stored-rows.ts";

/** A file system of its own that a test can fill. */
export interface SmallDisk {
  readonly folder: string;
  /** Leaves so many bytes free. */
  fill(leaving: number): Promise<void>;
  /** Gives back what `fill` took. */
  free(): Promise<void>;
}

/** Mounts one in memory until the test file ends. @returns undefined if that is not allowed: it takes root. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | undefined> {
  let isMounted = false;
  // Registered before the folder, because what is registered first is done first.
  after(() => isMounted && execFileSync("umount", ["--lazy", folder]));
  const folder = await temporaryFolder();
  const options = ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder];
  isMounted = spawnSync("mount", options, { stdio: "ignore" }).status === 0;
  if (!isMounted) return undefined;
  await chmod(folder, 0o711);
  const filler = join(folder, "filler");
  return {
    folder,
    async fill(leaving) {
      const { bavail, bsize } = await statfs(folder);
      await writeFile(filler, Buffer.alloc(Math.max(0, bavail * bsize - leaving)));
    },
    free: () => rm(filler),
  };
}
