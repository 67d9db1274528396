/* The files of src/ with their imports, for the tests of the architecture. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { packageRoot } from "../src/core/base/package-root.ts";

/**
 * The folders of the core, from the ground up: each imports only folders before it. `core` means the
 * files directly in it.
 */
export const CORE = [
  "core/base",
  "core/outbound",
  "core/database",
  "core/http",
  "core/admin",
  "core/mail",
  "core/people",
  "core/track",
  "core",
];

/**
 * The order of the subfolders of a folder: each imports only subfolders before it. `.` means the files
 * directly in the folder.
 */
export const SUBFOLDERS: Readonly<Record<string, readonly string[]>> = {
  "core/base": [".", "values", "context", "observe", "threads"],
  "core/database": ["parameters", ".", "citus", "migrations", "postgres", "embedded", "backup"],
  "core/admin": ["attention", "audit", "secrets", "jobs", "workspaces", "retention", "access"],
  "core/people": ["changes", "profiles", "activity", "subscriptions", "quotas", "identity"],
};

/** The folders above the features. They put the parts together. */
export const COMPOSITION = ["server", "cli"];

export const FEATURES = "features/";

/** The feature of a file; undefined for all other files. */
export const featureOf = (path: string): string | undefined =>
  path.startsWith(FEATURES) ? path.split("/")[1] : undefined;

/** The commands of a feature lie with it, and use what all commands have in common. */
export const isCommand = (path: string): boolean => /^(?:cli|features\/[\w-]+\/cli)\//.test(path);

export const isComposition = (path: string): boolean =>
  path === "main.ts" || COMPOSITION.includes(folderOf(path)) || isCommand(path);

export const ROOT = packageRoot();
const SOURCES = join(ROOT, "src");

interface Source {
  /** Relative to `src/`. */
  readonly path: string;
  readonly text: string;
  /** The files it imports, relative to `src/`. */
  readonly imports: readonly string[];
  /** Subfolders from which it imports more than types. */
  readonly calls: readonly string[];
}

const IMPORT = /\b(?:import|export)\s+(type\s+)?([^;"]*?)\s*from\s+"(\.[^"]+)"/g;

const isOnlyTypes = (names: string): boolean =>
  names
    .replace(/[{}]/g, "")
    .split(",")
    .filter((name) => name.trim() !== "")
    .every((name) => name.trim().startsWith("type "));

export const sources: Source[] = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => {
    const text = readFileSync(join(SOURCES, path), "utf8");
    const pathOf = (specifier = ""): string =>
      relative(SOURCES, resolve(SOURCES, dirname(path), specifier));
    const imports = [...text.matchAll(/(?:from|import)\s+"(\.[^"]+)"/g)].map(([, specifier]) =>
      pathOf(specifier),
    );
    const calls = [...text.matchAll(IMPORT)]
      .filter(([, type, names = ""]) => type === undefined && !isOnlyTypes(names))
      .map(([, , , specifier]) => pathOf(specifier));
    return { path, text, imports, calls };
  });

/** The folder that has a place in the order: `core/people`, `features`, `server`. */
export function folderOf(path: string): string {
  const [first = "", second, ...rest] = path.split("/");
  if (second === undefined) return "";
  return first === "core" && rest.length > 0 ? `core/${second}` : first;
}

/** The subfolder of a file: `core/people/identity`, `core/http`, or a whole feature. */
export function subfolderOf(path: string): string {
  const folder = folderOf(path);
  const feature = featureOf(path);
  if (feature !== undefined) return `${FEATURES}${feature}`;
  const [subfolder = "", file] = path.slice(folder.length + 1).split("/");
  return SUBFOLDERS[folder] && file !== undefined ? `${folder}/${subfolder}` : folder;
}

/** The position of a file's subfolder in its folder. */
export function subfolderHeightOf(path: string): number {
  const folder = folderOf(path);
  const [subfolder = "", file] = path.slice(folder.length + 1).split("/");
  return SUBFOLDERS[folder]?.indexOf(file === undefined ? "." : subfolder) ?? 0;
}

/** Imports as "a.ts imports b.ts". */
export const importsThat = (isWrong: (path: string, imported: string) => boolean): string[] =>
  sources
    .flatMap(({ path, imports }) =>
      imports
        .filter((imported) => isWrong(path, imported))
        .map((imported) => `${path} imports ${imported}`),
    )
    .sort();
