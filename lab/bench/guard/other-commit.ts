import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { say } from "../benchmark.ts";
import type { CleanUp } from "../processes/clean-up.ts";

/** The commit that the guard compares with if none is named. */
const BASE_FILE = "lab/bench/guard/base-commit";

export interface BuiltCommit {
  /** Short, as git shows it. */
  readonly commit: string;
  /** The folder of its repository, with `dist`. */
  readonly root: string;
}

/**
 * Builds a commit in a worktree below the folder, as a clone of it would be built. It shares this clone's packages if its lock
 * file is the same.
 *
 * @param name any name of the commit; undefined for the one in the file. @throws when there is none, or it does not build.
 */
export function buildCommit(
  name: string | undefined,
  folder: string,
  cleanUp: CleanUp,
): BuiltCommit {
  const here = packageRoot();
  const git = (...parameters: string[]) =>
    execFileSync("git", parameters, { cwd: here, encoding: "utf8" }).trim();
  const wanted = name ?? readFileSync(join(here, BASE_FILE), "utf8").trim();
  const commit = git("rev-parse", "--short", "--verify", "--end-of-options", `${wanted}^{commit}`);
  const root = join(folder, "other");
  say(`building ${commit}`);
  cleanUp.add(async () => void git("worktree", "remove", "--force", root));
  git("worktree", "add", "--quiet", "--detach", root, commit);
  const npm = (...parameters: string[]) =>
    execFileSync("npm", parameters, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  const lockOf = (of: string) => readFileSync(join(of, "package-lock.json"), "utf8");
  if (lockOf(root) === lockOf(here)) {
    for (const packages of ["node_modules", "client/node_modules"]) {
      if (existsSync(join(here, packages))) symlinkSync(join(here, packages), join(root, packages));
    }
    npm("run", "build");
  } else npm("ci", "--no-audit", "--no-fund"); // It builds, too.
  return { commit, root };
}
