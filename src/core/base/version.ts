import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "./package-root.ts";

const { version, optionalDependencies, drivers } = JSON.parse(
  readFileSync(join(packageRoot(), "package.json"), "utf8"),
);

export const RAPPORT_VERSION: string = version;

export const BUILD_FILE = join("dist", "build.json");

/** The version with the commit and its day: `0.1.0 (4f2a91c3, 2026-01-31)`; without them if the build had no repository. */
export const FULL_VERSION: string = fullVersion();

function fullVersion(): string {
  try {
    const { commit, day } = JSON.parse(readFileSync(join(packageRoot(), BUILD_FILE), "utf8"));
    return commit ? `${version} (${commit}, ${day})` : version;
  } catch {
    return version;
  }
}

/** How a driver is installed that neither the package nor every clone has. */
export function installationOf(driver: string): string {
  return `npm install ${driver}@${(drivers ?? optionalDependencies)[driver]}`;
}
