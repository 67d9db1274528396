import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../core/base/package-root.ts";

/** The viewer of the reference (Scalar), packed with gzip: a third of its 4 MB. */
export const VIEWER_FILE = join(packageRoot(), "dist", "reference", "scalar.js.gz");

/** Undefined if the build has not made it. */
export function readViewer(): Buffer | undefined {
  try {
    return readFileSync(VIEWER_FILE);
  } catch {
    return undefined;
  }
}
