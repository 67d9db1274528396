import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { packageRoot, schemaFingerprint } from "./migrate.ts";

/** Where the prepared database for this schema lies, if it was made. */
export const snapshotPath = async (): Promise<string> =>
  join(packageRoot(), "dist", `embedded-${await schemaFingerprint()}.tar.gz`);

/** A migrated, empty database as a tar archive, or undefined where the build made none. */
export async function readSnapshot(): Promise<Blob | undefined> {
  const compressed = await readFile(await snapshotPath()).catch(() => undefined);
  if (!compressed) return undefined;
  return new Blob([new Uint8Array(await promisify(gunzip)(compressed))]);
}
