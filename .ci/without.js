/*
 * Takes a feature out of a copy of this repository, as ARCHITECTURE.md says how.
 *
 *     node .ci/without.js                  the features that no other imports, one a line
 *     node .ci/without.js FEATURE FOLDER   copies what is committed or new into the empty folder, without the feature
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = join(import.meta.dirname, "..");
const [feature, copy] = process.argv.slice(2);

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));

/** The files of ours that a file imports. */
const importsOf = (file) =>
  [...readFileSync(file, "utf8").matchAll(/\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g)].map(
    ([, path]) => resolve(dirname(file), path),
  );

if (feature === undefined) {
  const folder = join(root, "src", "features");
  const imported = new Set();
  for (const place of ["src/features", "src/server", "src/cli"]) {
    for (const name of filesOf(join(root, place))) {
      const own = place === "src/features" ? name.split("/")[0] : undefined;
      const text = readFileSync(join(root, place, name), "utf8");
      for (const [, other] of text.matchAll(/from "[./]*\/([\w-]+)\/feature\.ts"/g)) {
        if (other !== own) imported.add(other);
      }
    }
  }
  const free = readdirSync(folder).filter((name) => !imported.has(name));
  process.stdout.write(`${free.join("\n")}\n`);
} else {
  const list = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
  });
  const generated = ["client/src/schema.ts", "client/src/operations.ts"];
  for (const file of [...list.split("\0"), ...generated].filter(
    (name) => name && existsSync(join(root, name)),
  )) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file));
  }
  for (const modules of ["node_modules", "client/node_modules", "web/node_modules"]) {
    if (existsSync(join(root, modules))) symlinkSync(join(root, modules), join(copy, modules));
  }
  for (const folder of [
    `src/features/${feature}`,
    `test/${feature}`,
    `web/src/features/${feature}`,
  ]) {
    rmSync(join(copy, folder), { recursive: true, force: true });
  }
  // Tests of several features or of the core that use it or its tests, those that use one of these, and the test of lab/bench/.
  const gone = new Set(["long/bench.test.ts"]);
  const rest = filesOf(join(copy, "test")).filter((name) => name !== "wall.test.ts");
  const imports = new Map(rest.map((name) => [name, importsOf(join(copy, "test", name))]));
  const isUsed = (path) =>
    path.includes(`/features/${feature}/`) ||
    path.startsWith(join(copy, "test", feature, "/")) ||
    gone.has(relative(join(copy, "test"), path));
  for (let found; found !== gone.size; ) {
    found = gone.size;
    for (const [name, paths] of imports) if (paths.some(isUsed)) gone.add(name);
  }
  for (const name of gone) {
    process.stdout.write(`Left out with ${feature}: test/${name}\n`);
    rmSync(join(copy, "test", name));
  }
  // Its entry in PARTS.
  const app = join(copy, "src", "server", "app.ts");
  const text = readFileSync(app, "utf8");
  const entry = new RegExp(
    `\\n  "?${feature}"?: \\{(?:[^\\n]*\\},(?=\\n)|\\n(?:    [^\\n]*\\n)*  \\},)`,
  );
  if (!entry.test(text)) throw new Error(`src/server/app.ts has no entry of ${feature}.`);
  writeFileSync(app, text.replace(entry, ""));
  // Its line in the list of the dashboard.
  const pages = join(copy, "web", "src", "features.ts");
  const lines = readFileSync(pages, "utf8").split("\n");
  writeFileSync(
    pages,
    lines.filter((line) => !line.includes(`"./features/${feature}/feature.ts"`)).join("\n"),
  );
  // What only measures may use any feature: of lab/ only what tests use is compiled.
  const config = join(copy, "tsconfig.json");
  writeFileSync(config, readFileSync(config, "utf8").replace('"lab", ', ""));
}
