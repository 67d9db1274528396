/* Rules that are broken on purpose, to see whether the tests (mutation-check.ts) or torture notice. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../../src/core/base/package-root.ts";

export interface BrokenRule {
  /** The rule, as it holds unbroken. */
  readonly rule: string;
  /** Below src/. */
  readonly file: string;
  /** Stands exactly once in the compiled form of the file. */
  readonly find: string;
  readonly replace: string;
}

/** Removes a folder, and the small disks below it that tests had mounted when they were ended. */
export function removeWithDisks(folder: string): void {
  try {
    const mounts = process.platform === "linux" ? readFileSync("/proc/mounts", "utf8") : "";
    for (const line of mounts.split("\n")) {
      const place = line.split(" ")[1] ?? "";
      if (place.startsWith(`${folder}/`)) execFileSync("umount", ["--lazy", place]);
    }
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    process.stderr.write(`${folder} stays: ${error}\n`);
  }
}

/** A copy of the repository, with a separate `dist/`. It goes when the process ends. */
export function copyRepository(): string {
  const root = packageRoot();
  const copy = mkdtempSync(join(tmpdir(), "rapport-mutations-"));
  process.on("exit", () => removeWithDisks(copy));
  for (const name of readdirSync(root)) {
    if (name !== "dist" && name !== ".git") symlinkSync(join(root, name), join(copy, name));
  }
  cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true });
  return copy;
}

/**
 * Finds the text to replace.
 *
 * @throws Error unless it stands exactly once in the compiled file.
 */
export function findPlace(copy: string, { file, find }: BrokenRule) {
  const path = join(copy, "dist", "src", file.replace(/\.ts$/, ".js"));
  const compiled = readFileSync(path, "utf8");
  const count = compiled.split(find).length - 1;
  if (count === 1) return { path, compiled };
  throw new Error(
    `src/${file} contains this text ${count} times instead of once. Correct the entry: ${find}`,
  );
}

/**
 * Breaks a rule in a copy, in the compiled files that tests import and in the bundle that servers
 * started as separate processes run.
 *
 * @param bundles whether such a server is started at all.
 * @returns what repairs it.
 * @throws Error if the bundle does not change, because then such a server never runs the broken
 * rule.
 */
export function breakRule(copy: string, broken: BrokenRule, bundles = true): () => void {
  const { path, compiled } = findPlace(copy, broken);
  const { atime, mtime } = statSync(path);
  const text = compiled.replace(broken.find, () => broken.replace);
  writeFileSync(path, text);
  const putBundleBack = bundles ? breakBundle(copy, broken) : () => {};
  return () => {
    writeFileSync(path, compiled);
    utimesSync(path, atime, mtime);
    putBundleBack();
  };
}

/** Putting the unbroken bundle back is faster than joining the files again. */
function breakBundle(copy: string, { file, find }: BrokenRule): () => void {
  const folder = join(copy, "dist", "bundle");
  const unbroken = `${folder}-unbroken`;
  const before = bundleDigest(copy);
  cpSync(folder, unbroken, { recursive: true, preserveTimestamps: true });
  bundle(copy);
  if (bundleDigest(copy) === before) {
    throw new Error(`src/${file} is broken, but the bundle is not: ${find}`);
  }
  return () => {
    rmSync(folder, { recursive: true });
    renameSync(unbroken, folder);
  };
}

/** Joins the compiled files again; bundle.js does so because one of them is newer than the bundle. */
const bundle = (copy: string) =>
  execFileSync(process.execPath, [join(copy, "dist", "build", "bundle.js")]);

function bundleDigest(copy: string): string {
  const folder = join(copy, "dist", "bundle");
  const digest = createHash("sha256");
  const programs = readdirSync(folder).filter((name) => name.endsWith(".js"));
  for (const name of programs.sort()) digest.update(readFileSync(join(folder, name)));
  return digest.digest("hex");
}
