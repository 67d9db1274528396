/*
 * The wall between the core and the features: what ARCHITECTURE.md says of both, so that a feature can be taken out.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import {
  COMPOSITION,
  FEATURES,
  featureOf,
  folderOf,
  importsThat,
  isCommand,
  ROOT,
  sources,
} from "./source-tree.ts";

/** Folders of test/ that belong to no feature. */
const ABOUT_EVERYTHING = [
  "browser",
  "core",
  "debian",
  "fixtures",
  "limits",
  "long",
  "mutations",
  "server",
  "suite",
  "system",
];

/** Commands of the core that only send requests to a server. */
const CLIENT_COMMANDS = [
  "apply",
  "audit",
  "changes/changes",
  "keys",
  "reset",
  "scim-tokens",
  "status",
  "workspaces",
].map((name) => `cli/${name}.ts`);

/** All features: the folders that have a `feature.ts`. */
const FEATURE_NAMES = readdirSync(join(ROOT, "src", "features")).sort();

/** The other features that a feature imports. */
const importedBy = (feature: string): string[] => {
  const others = sources
    .filter(({ path }) => featureOf(path) === feature)
    .flatMap(({ imports }) => imports.map(featureOf))
    .filter((other): other is string => other !== undefined && other !== feature);
  return [...new Set(others)].sort();
};

describe("the wall between the core and the features", () => {
  test("the core imports no feature, and nothing of the server or of the commands", () => {
    assert.deepEqual(
      importsThat((path, imported) => path.startsWith("core/") && !imported.startsWith("core/")),
      [],
      "Move what both need into the core, or let the feature offer it: a field of its feature.ts (core/feature.ts), which " +
        "server/ passes to the core.",
    );
  });

  test("a feature imports the core, and of another feature only its feature.ts", () => {
    assert.deepEqual(
      importsThat((path, imported) => {
        const own = featureOf(path);
        const other = featureOf(imported);
        if (own === undefined || other === own || imported.startsWith("core/")) return false;
        if (other !== undefined) return imported !== `${FEATURES}${other}/feature.ts`;
        return !(isCommand(path) && imported.startsWith("cli/") && imported !== "cli/program.ts");
      }),
      [],
      "Export it from the other feature's feature.ts, move it into the core, or get it as a service. Commands in cli/ may use src/cli/.",
    );
  });

  test("server/ and cli/ know of a feature only its feature.ts, and server/app.ts its commands", () => {
    assert.deepEqual(
      importsThat(
        (path, imported) =>
          COMPOSITION.includes(folderOf(path)) &&
          featureOf(imported) !== undefined &&
          !imported.endsWith("/feature.ts"),
      ),
      [],
      "Let the feature offer it: a field of its feature.ts (core/feature.ts).",
    );
    const named = sources
      .filter(({ path }) => COMPOSITION.includes(folderOf(path)) && path !== "server/app.ts")
      .flatMap(({ path, text }) =>
        [...text.matchAll(/import\("([^"]*features\/[^"]+)"\)/g)].map(([, at]) => `${path}: ${at}`),
      );
    assert.deepEqual(named, [], "Load it through the list of parts: server/assemble.ts.");
  });

  test("server/app.ts lists every feature, with the commands of those that have some", () => {
    const app = sources.find(({ path }) => path === "server/app.ts")?.text ?? "";
    const listed = (file: string) =>
      [...app.matchAll(/"\.\.\/features\/([\w-]+)\/(\w+)\.ts"/g)]
        .filter(([, , name]) => name === file)
        .map(([, feature]) => feature)
        .sort();
    const withFile = (file: string) =>
      FEATURE_NAMES.filter((name) =>
        sources.some(({ path }) => path === `${FEATURES}${name}/${file}.ts`),
      );
    for (const file of ["feature", "commands"]) {
      assert.deepEqual(listed(file), withFile(file), `Enter the feature's ${file}.ts in PARTS.`);
    }
    assert.deepEqual(withFile("feature"), FEATURE_NAMES, "Write the feature.ts of the feature.");
  });

  test("the table in ARCHITECTURE.md says which feature imports which, and none imports itself in a circle", () => {
    const page = readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8");
    const [, table = ""] = /\n\| feature \| imports \|\n\|-+\|-+\|\n((?:\|.*\n)+)/.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| ([\w-]+) \| (.*) \|$/gm)].map(([, name, imports = ""]) => [
      name,
      imports.split(", "),
    ]);
    const wanted = FEATURE_NAMES.map((name) => [name, importedBy(name)] as const).filter(
      ([, imports]) => imports.length > 0,
    );
    assert.deepEqual(rows, wanted, "Write the table anew: a feature and what it imports, by name.");
    const reached = (feature: string, seen = new Set<string>()): Set<string> => {
      for (const next of importedBy(feature)) {
        if (!seen.has(next)) reached(next, seen.add(next));
      }
      return seen;
    };
    const circles = FEATURE_NAMES.filter((name) => reached(name).has(name));
    assert.deepEqual(circles, [], "Move what both need into the core.");
  });

  test("the tests and the pages of a feature lie in folders of its name", () => {
    const foldersIn = (folder: string) =>
      readdirSync(join(ROOT, folder), { withFileTypes: true })
        .filter((each) => each.isDirectory())
        .map(({ name }) => name);
    const wrong = (folder: string, others: readonly string[]) =>
      foldersIn(folder).filter((name) => !FEATURE_NAMES.includes(name) && !others.includes(name));
    assert.deepEqual(
      [...wrong("test", ABOUT_EVERYTHING), ...wrong("web/src/features", [])],
      [],
      "Name the folder after the feature. What concerns no feature is in test/core/ or in web/src/pages/.",
    );
  });

  test("web/src/features.ts lists every feature with pages, and nothing else in web/ names one", () => {
    const pages = readdirSync(join(ROOT, "web", "src"), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => ({ path, text: readFileSync(join(ROOT, "web", "src", path), "utf8") }));
    const list = pages.find(({ path }) => path === "features.ts")?.text ?? "";
    const listed = [...list.matchAll(/"\.\/features\/([\w-]+)\/feature\.ts"/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual(
      listed.sort(),
      readdirSync(join(ROOT, "web", "src", "features")).sort(),
      "Give the folder a feature.ts (web/src/feature.ts), and enter it in web/src/features.ts.",
    );
    const wrong = pages
      .filter(({ path }) => path !== "features.ts")
      .flatMap(({ path, text }) =>
        [...text.matchAll(/(?:from|import)\s*\(?"(\.[^"]+)"/g)]
          .map(([, specifier]) => join(dirname(path), specifier ?? ""))
          .filter((imported) => {
            // src/ is ../../src/ from web/src/.
            const [, name] = /^(?:\.\.\/\.\.\/src\/)?features\/([\w-]+)\//.exec(imported) ?? [];
            return name !== undefined && featureOf(path) !== name;
          })
          .map((imported) => `${path} imports ${imported}`),
      );
    assert.deepEqual(
      wrong,
      [],
      "Move what both need into web/src/components/ or web/src/api/; FeatureLink leads to a page of another feature.",
    );
  });

  test("a page leads to a page of another feature by FeatureLink, which is a text where the feature is taken out", () => {
    const folder = join(ROOT, "web", "src");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => ({ path, text: readFileSync(join(folder, path), "utf8") }));
    const owners = new Map<string, string | undefined>(
      files
        .filter(({ path }) => path.startsWith("features/") && path.endsWith("/feature.ts"))
        .flatMap(({ path, text }) =>
          [...text.matchAll(/\bpage\("([^"]+)"/g)].map(
            ([, to = ""]) => [to, featureOf(path)] as const,
          ),
        ),
    );
    // The others cannot be taken out by themselves.
    const printed = execFileSync(process.execPath, [join(ROOT, ".ci", "without.js")]);
    const free = new Set(String(printed).trim().split("\n"));
    assert.ok(free.has(owners.get("catalogue") ?? ""));
    const wrong = files.flatMap(({ path, text }) =>
      [
        ...text.matchAll(/<(?:Link|Navigate)\b[^>]*?\bto="\/w\/\$workspace\/([^"]+)"/g),
        ...text.matchAll(/\bnavigate\(\{\s*to: "\/w\/\$workspace\/([^"]+)"/g),
      ]
        .filter(
          ([, to = ""]) => free.has(owners.get(to) ?? "") && owners.get(to) !== featureOf(path),
        )
        .map(([, to]) => `${path} leads to ${to}`),
    );
    assert.deepEqual(wrong, []);
  });

  test("rapport --help and a client command load no file of the database", () => {
    const commands = sources.filter(({ path }) => /^features\/[\w-]+\/commands\.ts$/.test(path));
    const ofFeatures = commands.flatMap(({ path, text }) =>
      [...text.matchAll(/import\("\.\/([^"]+)"\)/g)].map(([, file]) =>
        join(dirname(path), file ?? ""),
      ),
    );
    assert.ok(ofFeatures.length > 5);
    const loaded = (path: string, seen = new Set<string>()): Set<string> => {
      if (seen.has(path)) return seen;
      seen.add(path);
      for (const next of sources.find((each) => each.path === path)?.calls ?? [])
        loaded(next, seen);
      return seen;
    };
    const roots = [
      "cli/program.ts",
      ...CLIENT_COMMANDS,
      ...commands.map(({ path }) => path),
      ...ofFeatures,
    ];
    const wrong = roots.flatMap((root) =>
      [...loaded(root)]
        .filter((path) => path.startsWith("core/database/") || path.endsWith("/feature.ts"))
        .map((path) => `${root} loads ${path}`),
    );
    assert.deepEqual(wrong, [], "Load it where it is needed: await import().");
  });
});
