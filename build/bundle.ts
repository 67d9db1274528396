import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative } from "node:path";
import { type OutputAsset, type OutputChunk, rolldown } from "rolldown";
import { packageRoot } from "../src/core/base/package-root.ts";
import { BUILD_FILE } from "../src/core/base/version.ts";
import { allPartsTogether } from "./parts-together.ts";
import { noteThirdParty, packagesOf } from "./third-party.ts";

/*
 * Run by the build: joins the compiled files and the libraries into the few that `rapport` runs.
 * Node needs a quarter of the time to load them, because it neither looks for nor opens 1,700
 * files. Names stay unchanged, and source maps to TypeScript are beside the bundle, for the stacks
 * in the log; they do not contain the sources.
 */

/**
 * Entry points with their own names: the program, the package's export, and the functions that
 * threads run.
 */
const ENTRIES = [
  "main.js",
  "server/testing/start-rapport.js",
  "server/testing/rapport-thread.js",
  "core/database/embedded/pglite-thread.js",
  "core/base/threads/thread-entry.js",
  "features/campaigns/text-work.js",
  "features/preference-centers/page-work.js",
  "features/translations/file-work.js",
  "features/translations/render-work.js",
];

const { optionalDependencies } = JSON.parse(
  readFileSync(join(packageRoot(), "package.json"), "utf8"),
) as { optionalDependencies: Readonly<Record<string, string>> };

/** They look for files beside their own, or are not always installed. */
const LEFT_OUT = [/^@electric-sql\/pglite/, ...Object.keys(optionalDependencies)];

/** The threads of Tinypool begin here, in a folder beside the file that starts them. */
const TINYPOOL_ENTRY = "entry/worker";

writeBuild();

const compiled = join(packageRoot(), "dist", "src");
const dir = join(packageRoot(), "dist", "bundle");

const program = join(dir, "main.js");

if (!isCurrent()) {
  const bundle = await rolldown({
    input: Object.fromEntries([
      ...ENTRIES.map((entry) => [basename(entry, ".js"), join(compiled, entry)]),
      [TINYPOOL_ENTRY, join(packageRoot(), "node_modules/tinypool/dist", `${TINYPOOL_ENTRY}.js`)],
    ]),
    platform: "node",
    external: LEFT_OUT,
    logLevel: "warn",
    plugins: [{ name: "compiler's maps", load: loadWithMap }, allPartsTogether(compiled)],
  });
  // Modules find their threads' files beside them, as in the sources: all files are in one folder.
  const { output } = await bundle.write({
    dir,
    format: "esm",
    sourcemap: true,
    entryFileNames: "[name].js",
    chunkFileNames: "part-[name]-[hash].js",
    // Licences are in THIRD-PARTY-NOTICES, and the rest is in the sources.
    comments: false,
  });
  await bundle.close();
  chmodSync(program, 0o755);
  for (const { fileName } of output.filter(({ fileName }) => fileName.endsWith(".map"))) {
    const { sourcesContent: _, ...map } = JSON.parse(readFileSync(join(dir, fileName), "utf8"));
    writeFileSync(join(dir, fileName), JSON.stringify(map));
  }
  noteThirdParty(packageRoot(), "server", packagesOf(modulesOf(output)));
  const written = new Set(output.map(({ fileName }) => fileName));
  for (const file of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    if (file.isFile() && !written.has(relative(dir, path))) rmSync(path);
  }
}

const client = join(packageRoot(), "client", "dist");
await writeCommonJs(join(compiled, "server", "testing", "start-rapport.js"), dir);
const ofClient = await writeCommonJs(join(client, "client.js"), client);
noteThirdParty(packageRoot(), "client", packagesOf(ofClient));
declareForCommonJs(join(compiled, "server", "testing"));
declareForCommonJs(client);

/** For `require`: one file with everything that it imports. @returns the modules in it. */
async function writeCommonJs(input: string, folder: string): Promise<string[]> {
  const bundle = await rolldown({ input, platform: "node", logLevel: "warn" });
  const file = join(folder, basename(input, ".js").concat(".cjs"));
  const { output } = await bundle.write({ file, format: "cjs" });
  await bundle.close();
  return modulesOf(output);
}

/** The modules of which a bundle has code. */
function modulesOf(output: readonly (OutputChunk | OutputAsset)[]): string[] {
  const chunks = output.filter((each) => each.type === "chunk");
  return chunks.flatMap(({ modules }) =>
    Object.keys(modules).filter((id) => (modules[id]?.renderedLength ?? 0) > 0),
  );
}

/**
 * TypeScript reads `.d.cts` beside a CommonJS file. Declarations import each other as compiled files, so that
 * every kind of module resolution finds them.
 */
function declareForCommonJs(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(".d.ts")) continue;
    const text = readFileSync(join(folder, name), "utf8");
    const importing = (extension: string) =>
      text.replaceAll(/"(\.\/[\w-]+)\.(?:ts|js)"/g, `"$1.${extension}"`);
    writeFileSync(join(folder, name), importing("js"));
    writeFileSync(join(folder, name.replace(/\.d\.ts$/, ".d.cts")), importing("cjs"));
  }
}

/** Records the commit of this build; a copy without a repository keeps the present record, or has one without a commit. */
function writeBuild(): void {
  const { status, stdout } = spawnSync("git", ["log", "-1", "--format=%h %cs", "--abbrev=8"], {
    cwd: packageRoot(),
    encoding: "utf8",
  });
  const file = join(packageRoot(), BUILD_FILE);
  if (status !== 0 && existsSync(file)) return;
  const [commit, day] = status === 0 ? stdout.trim().split(" ") : [];
  writeFileSync(file, `${JSON.stringify({ commit, day })}\n`);
}

/** A compiled file with the compiler's messages about it. */
function loadWithMap(id: string) {
  if (!id.startsWith(compiled) || !existsSync(`${id}.map`)) return null;
  return { code: readFileSync(id, "utf8"), map: readFileSync(`${id}.map`, "utf8") };
}

/** Whether nothing was compiled or installed since: the tests that run may be using these files. */
function isCurrent(): boolean {
  const compiledFiles = readdirSync(compiled, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.js(?:on)?$/.test(name))
    .map((name) => join(compiled, name));
  const others = ["package-lock.json", "node_modules/postgres/src/connection.js"].map((name) =>
    join(packageRoot(), name),
  );
  others.push(join(import.meta.dirname, "third-party.js"));
  const bundledAt = statSync(program, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return [...compiledFiles, ...others].every((file) => statSync(file).mtimeMs < bundledAt);
}
