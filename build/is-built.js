/*
 * Exits with 0 if nothing was written, added or removed since the last build, so that `npm test` after `npm ci` builds only
 * once. It is JavaScript, because it also runs before anything was compiled.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

const FOLDERS = ["build", "client/src", "docs", "lab", "migrations", "src", "test", "web"];
const FILES = readdirSync(root).filter((name) => name.endsWith(".json"));

const timeOf = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

function isBuilt() {
  // A folder is newer if a file in it was added or removed.
  const inputs = FOLDERS.flatMap((folder) => [
    folder,
    ...readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)),
  ]);
  const builtAt = timeOf("dist/built");
  return [...inputs, ...FILES].every((path) => timeOf(path) < builtAt);
}

if (!isBuilt()) process.exitCode = 1;
