import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newSecret } from "./secrets.ts";

/**
 * A secret that is made on the first start and kept in the data folder, readable by its owner only
 * (mode 0600). With `memory:` it is new on every start.
 */
export async function keptSecret(dataDir: string, name: string, prefix: string): Promise<string> {
  if (dataDir === "memory:") return newSecret(prefix);
  const path = join(dataDir, name);
  await mkdir(dataDir, { recursive: true });
  // Exclusive, so that of two processes starting at once both read the same one.
  await writeFile(path, `${newSecret(prefix)}\n`, { mode: 0o600, flag: "wx" }).catch(
    ignoreExisting,
  );
  return (await readFile(path, "utf8")).trim();
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
