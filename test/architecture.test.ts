/*
 * The house rules (ARCHITECTURE.md), kept by a test: which folder may import which, where SQL and
 * status codes may stand, and how long a file may be.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../src/database/migrate.ts";

/**
 * The order of the house: a folder imports only folders that stand above it. The files at the top
 * of `src/` stand above all folders, except the ones that put everything together.
 */
const FOLDERS = [
  "database",
  "access",
  "http",
  "jobs",
  "audit",
  "workspaces",
  "profiles",
  "subscriptions",
  "track",
  "engagement",
  "scim",
  "translations",
  "preference-centers",
  "export",
  "identity",
  "cdi",
  "health",
];

/** These put the parts together: they import anything, and nobody in a folder imports them. */
const COMPOSITION = [
  "main.ts",
  "serve.ts",
  "app.ts",
  "admin-client.ts",
  "apply-command.ts",
  "cdi-command.ts",
  "import-command.ts",
  "keys-command.ts",
  "welcome.ts",
  "cluster.ts",
];

const LONGEST_FILE_LINES = 400;

const ROOT = packageRoot();
const SOURCES = join(ROOT, "src");

interface Source {
  /** Relative to `src/`. */
  readonly path: string;
  readonly text: string;
  /** The files it imports, relative to `src/`. */
  readonly imports: readonly string[];
}

const sources: Source[] = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => {
    const text = readFileSync(join(SOURCES, path), "utf8");
    const imports = [...text.matchAll(/(?:from|import)\s+"(\.[^"]+)"/g)].map(([, specifier]) =>
      relative(SOURCES, resolve(SOURCES, dirname(path), specifier as string)),
    );
    return { path, text, imports };
  });

const folderOf = (path: string): string =>
  path.includes("/") ? (path.split("/", 1)[0] ?? "") : "";

/** A place in the house: composition above all, then the folders from below, then the top files. */
function heightOf(path: string): number {
  if (COMPOSITION.includes(path)) return FOLDERS.length;
  return FOLDERS.indexOf(folderOf(path));
}

describe("the house", () => {
  test("every folder of src/ has its place in the order", () => {
    const unknown = new Set(sources.map((each) => folderOf(each.path)).filter(Boolean));
    for (const folder of FOLDERS) unknown.delete(folder);
    assert.deepEqual([...unknown], [], "Enter the folder in FOLDERS, below what it imports.");
  });

  test("a folder imports only what stands above it", () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter((imported) => folderOf(imported) !== folderOf(path) || folderOf(path) === "")
        .filter((imported) => heightOf(imported) > heightOf(path))
        .map((imported) => `${path} imports ${imported}`),
    );
    assert.deepEqual(wrong, [], "Move what is shared up, or hand it over as an argument.");
  });

  test("files do not import each other in a circle", () => {
    const graph = new Map(sources.map((each) => [each.path, each.imports]));
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): void => {
      assert.ok(!trail.includes(path), `A circle: ${[...trail, path].join(" → ")}`);
      if (done.has(path)) return;
      for (const imported of graph.get(path) ?? []) visit(imported, [...trail, path]);
      done.add(path);
    };
    for (const path of graph.keys()) visit(path, []);
  });

  test("SQL stands only in stores, in database/ and in migrations/", () => {
    const statement = /[`"]\s*(?:select\s[^`"]*\sfrom|insert into|update \w+ set|delete from)\s/;
    const wrong = sources
      .filter(({ path }) => !path.endsWith("store.ts") && folderOf(path) !== "database")
      // What is asked of other people's warehouses is not about our tables.
      .filter(({ path }) => !path.startsWith("cdi/sources/"))
      .filter(({ path, text }) => path !== "health/endpoints.ts" && statement.test(text));
    assert.deepEqual(
      wrong.map((each) => each.path),
      [],
      "Put the statement into the store.ts of its folder.",
    );
  });

  test("a table is written by exactly one store", () => {
    const writers = new Map<string, Set<string>>();
    for (const { path, text } of sources) {
      for (const [, table] of text.matchAll(
        /(?:insert into|delete from|^\s*`?update) ([a-z_]+)\b/gm,
      )) {
        writers.set(table as string, (writers.get(table as string) ?? new Set()).add(path));
      }
    }
    const shared = [...writers].filter(([, paths]) => paths.size > 1);
    assert.deepEqual(
      shared.map(([table, paths]) => `${table}: ${[...paths].join(", ")}`),
      [],
      "Call the use case of the folder that owns the table.",
    );
  });

  test("a store is imported only in its own folder and by the list of the app", () => {
    // People are read by everybody; who writes them goes through people.ts and save-people.ts.
    const open = ["profiles/store.ts"];
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter((imported) => imported.endsWith("/store.ts") && !open.includes(imported))
        .filter((imported) => folderOf(imported) !== folderOf(path) && path !== "app.ts")
        .map((imported) => `${path} imports ${imported}`),
    );
    assert.deepEqual(wrong, [], "Call a use case instead.");
  });

  test("the environment is read in config.ts alone", () => {
    const readers = sources.filter(
      ({ path, text }) => text.includes("process.env") && !COMPOSITION.includes(path),
    );
    assert.deepEqual(
      readers.map((each) => each.path),
      ["config.ts"],
    );
  });

  test("statements that are started together are waited for together", () => {
    // These wait for no statements. With Promise.all the first that fails ends the transaction, and
    // one that is still to be sent would never be answered: see allDone.
    const open = ["cluster.ts", "database/", "jobs/worker.ts"];
    const wrong = sources
      .filter(({ path }) => !open.some((each) => path.startsWith(each)))
      .filter(({ text }) => text.includes("Promise.all("));
    assert.deepEqual(
      wrong.map((each) => each.path),
      [],
      "Wait with allDone (database/database.ts).",
    );
  });

  test("status codes stand in http/ and in declarations alone", () => {
    const status = /\bstatus(?:Code)?\s*(?:===|!==|<|>=?)\s*[1-5]\d\d\b|\.code\([1-5]\d\d\)/;
    const wrong = sources.filter(
      ({ path, text }) =>
        folderOf(path) !== "http" && !COMPOSITION.includes(path) && status.test(text),
    );
    assert.deepEqual(
      wrong.map((each) => each.path),
      [],
      "Throw a Problem and let http/respond.ts choose the status.",
    );
  });

  test("no file is longer than 400 lines", () => {
    const long = [...sources, ...testFiles()]
      .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
      .filter(({ lines }) => lines > LONGEST_FILE_LINES);
    assert.deepEqual(long, [], "Split the file by what it is about.");
  });

  test("no folder is a drawer for everything", () => {
    const drawer = /(?:^|\/)(?:utils?|helpers?|common|shared|lib|types|index)(?:\/|\.ts$)/;
    assert.deepEqual(
      sources.map((each) => each.path).filter((path) => drawer.test(path)),
      [],
      "Name the file after what it holds.",
    );
  });
});

function testFiles(): { path: string; text: string }[] {
  return readdirSync(join(ROOT, "test"))
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({
      path: `test/${name}`,
      text: readFileSync(join(ROOT, "test", name), "utf8"),
    }));
}
