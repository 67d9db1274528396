import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/*
 * What others wrote and we pass on: each bundler notes the packages of which it took code, and the build writes their
 * licences and a bill of materials from these notes (write-notices.ts).
 */

export interface ThirdParty {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  readonly author: string;
  /** The texts of its licence and notices. */
  readonly texts: readonly string[];
}

type Bundle = "server" | "client" | "web";

const folderOf = (root: string) => join(root, "dist", "third-party");

/** Files that packages carry their licences in. */
const TEXTS = /^(licen[cs]e|copying|notice|ofl)([-.].*)?$/i;

/** The packages of which modules are part, from the paths of the modules. */
export function packagesOf(modules: Iterable<string>): ThirdParty[] {
  const found = new Map<string, ThirdParty>();
  for (const module of modules) {
    const folder = packageFolder(module);
    if (folder === undefined || found.has(folder)) continue;
    found.set(folder, describe(folder));
  }
  return [...found.values()];
}

/** The folder of the package in which a module is. Folders inside a package may have a package.json without a name. */
function packageFolder(module: string): string | undefined {
  const path = module.replace(/^\0/, "").replace(/\?.*$/, "");
  if (!path.includes("/node_modules/")) return undefined;
  for (let folder = dirname(path); !folder.endsWith("node_modules"); folder = dirname(folder)) {
    const file = join(folder, "package.json");
    if (existsSync(file) && JSON.parse(readFileSync(file, "utf8")).version) return folder;
  }
  return undefined;
}

export function describe(folder: string): ThirdParty {
  const { name, version, license, licenses, author, contributors } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const files = readdirSync(folder).filter((file) => TEXTS.test(file));
  return {
    name,
    version,
    license: String(license?.type ?? license ?? licenses?.[0]?.type).replace("MIT/X11", "MIT"),
    author: [author ?? contributors ?? `the authors of ${name}`]
      .flat()
      .map((each) => each.name ?? each)
      .join(", "),
    texts: files.map((file) => readFileSync(join(folder, file), "utf8").trim()),
  };
}

/** Notes the packages of a bundle for the end of the build. */
export function noteThirdParty(
  root: string,
  bundle: Bundle,
  packages: readonly ThirdParty[],
): void {
  mkdirSync(folderOf(root), { recursive: true });
  writeFileSync(join(folderOf(root), `${bundle}.json`), JSON.stringify(packages));
}

/** The noted packages of a bundle. @throws Error if the bundler has noted none. */
export const notedThirdParty = (root: string, bundle: Bundle): ThirdParty[] =>
  JSON.parse(readFileSync(join(folderOf(root), `${bundle}.json`), "utf8"));
