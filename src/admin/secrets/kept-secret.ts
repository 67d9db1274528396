import { link, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createPrivateFolder } from "../../database/embedded/private-folder.ts";
import { newSecret } from "./secrets.ts";

/**
 * A secret that is generated on the first start and kept in the data folder, readable by its owner only
 * (mode 0600). With `memory:` it is new on every start.
 */
export async function keptSecret(dataDir: string, name: string, prefix: string): Promise<string> {
  if (dataDir === "memory:") return newSecret(prefix);
  const known = await readKeptSecret(dataDir, name);
  if (known !== undefined) return known;
  const path = join(dataDir, name);
  await createPrivateFolder(dataDir);
  // Written aside and linked, so that two processes that start at once read the same complete secret.
  const aside = `${path}.${process.pid}`;
  await writeFile(aside, `${newSecret(prefix)}\n`, { mode: 0o600 });
  await link(aside, path).catch(ignoreExisting);
  await rm(aside);
  return (await readFile(path, "utf8")).trim();
}

/** The secret that the data folder holds, if any. */
export async function readKeptSecret(dataDir: string, name: string): Promise<string | undefined> {
  if (dataDir === "memory:") return undefined;
  const text = await readFile(join(dataDir, name), "utf8").catch(() => undefined);
  return text?.trim();
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
