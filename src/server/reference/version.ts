import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../base/package-root.ts";

/** The version of the package. */
export const RAPPORT_VERSION: string = JSON.parse(
  readFileSync(join(packageRoot(), "package.json"), "utf8"),
).version;
