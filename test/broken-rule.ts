/* Rules that are broken on purpose, to see whether the tests (mutation-check.ts) or torture notice. */
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../src/database/migrate.ts";

export interface BrokenRule {
  /** The rule, as it holds unbroken. */
  readonly rule: string;
  /** Below src/. */
  readonly file: string;
  /** Stands exactly once in the compiled form of the file. */
  readonly find: string;
  readonly replace: string;
}

/** A copy of the repository, with a `dist/` of its own. It goes when the process ends. */
export function copyRepository(): string {
  const root = packageRoot();
  const copy = mkdtempSync(join(tmpdir(), "rapport-mutations-"));
  process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
  for (const name of readdirSync(root)) {
    if (name !== "dist" && name !== ".git") symlinkSync(join(root, name), join(copy, name));
  }
  cpSync(join(root, "dist"), join(copy, "dist"), { recursive: true });
  return copy;
}

/**
 * Finds what is to be replaced.
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

/** Breaks a rule in a copy. @returns what repairs it. */
export function breakRule(copy: string, broken: BrokenRule): () => void {
  const { path, compiled } = findPlace(copy, broken);
  writeFileSync(
    path,
    compiled.replace(broken.find, () => broken.replace),
  );
  return () => writeFileSync(path, compiled);
}
