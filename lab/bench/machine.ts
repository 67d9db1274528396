import { execFileSync } from "node:child_process";
import { availableParallelism, cpus } from "node:os";
import { packageRoot } from "../../src/core/base/package-root.ts";
import type { Machine } from "./result.ts";

/**
 * The machine of the measurement.
 *
 * @param database its name and version.
 */
export const thisMachine = (database: string): Machine => ({
  processor: cpus()[0]?.model.trim() ?? "unknown",
  cores: availableParallelism(),
  node: process.versions.node,
  database,
  commit: commit(),
});

/** The commit of the sources, with a mark if they were changed since; empty outside git. */
function commit(): string {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty"], {
      cwd: packageRoot(),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "";
  }
}
