/* What `rapport` loads before it does anything: the files that a command imports, as compiled. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { PARTS } from "../../src/server/app.ts";

const compiled = join(packageRoot(), "dist", "src");

/** The compiler leaves out imports of types. */
const IMPORT = /^(?:import|export)\b[^;"]*"(\.{1,2}\/[^"]+\.js)";/gm;

/** A file with all that it imports, below src. */
function filesOf(entry: string, found = new Set<string>()): ReadonlySet<string> {
  const name = relative(compiled, entry);
  if (found.has(name)) return found;
  found.add(name);
  for (const [, path = ""] of readFileSync(entry, "utf8").matchAll(IMPORT)) {
    filesOf(join(dirname(entry), path), found);
  }
  return found;
}

/** They open a database themselves, look at its files, or read the settings and the manifest as a server does. */
const LIKE_A_SERVER = [
  "backup",
  "doctor",
  "doctor-addresses",
  "doctor-engine",
  "doctor-machine",
  "migrate",
  "restore",
  "serve",
  "settings",
  "validate",
];

/** What every command loads first, and the file of each command. */
function commandFiles(): string[] {
  const inFeatures = Object.keys(PARTS).flatMap((name) => {
    const folder = join(compiled, "features", name, "cli");
    try {
      return readdirSync(folder).map((file) => join(folder, file));
    } catch {
      return [];
    }
  });
  const core = readdirSync(join(compiled, "cli"), { recursive: true, encoding: "utf8" })
    .filter((name) => !LIKE_A_SERVER.includes(name.replace(/\.js$/, "")))
    .map((name) => join(compiled, "cli", name));
  return [...core, ...inFeatures].filter((name) => name.endsWith(".js"));
}

test("no command that asks a running server loads a file of the database", () => {
  const files = commandFiles();
  assert.ok(files.length > 40, `${files.length} files`);
  for (const file of files) {
    const loaded = [...filesOf(file)].filter((name) => /^core\/database\//.test(name));
    assert.deepEqual(loaded, [], relative(compiled, file));
  }
});
