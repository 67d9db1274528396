/*
 * The rules of ARCHITECTURE.md: which folder may import which, where SQL and status codes may appear,
 * which folder writes which table, and how long a file may be.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
  COMPOSITION,
  CORE,
  folderOf,
  importsThat,
  isCommand,
  isComposition,
  ROOT,
  SUBFOLDERS,
  sources,
  subfolderHeightOf,
  subfolderOf,
} from "./source-tree.ts";

/**
 * Which subfolders call the stores of others, beside server/core-parts.ts. The data of a user is read and
 * written in one transaction by everything that changes users; a use case in between would only
 * pass the rows on.
 */
const CALLERS_OF_STORES: Readonly<Record<string, readonly string[]>> = {
  "core/people/changes": ["features/user-records", "features/webhooks"],
  "core/people/profiles": [
    "core/people/identity",
    "core/people/subscriptions",
    "core/track",
    "features/catalogue",
    "features/export",
    "features/preference-centers",
    "features/undo",
    "features/user-records",
  ],
  "core/people/activity": [
    "core/people/identity",
    "core/track",
    "features/export",
    "features/undo",
  ],
  "core/people/subscriptions": ["core/people/identity", "features/undo"],
  "core/people/identity": ["features/undo", "features/user-records"],
  "core/admin/jobs": ["core/mail", "features/overview"],
};

/**
 * Tables whose statements take the table's name from a constant, with the subfolder that writes them,
 * and one that its migration fills.
 */
const NAMED_BY_CONSTANT: Readonly<Record<string, string>> = {
  buckets: "core/database",
  api_keys: "core/admin/access",
  scim_tokens: "core/admin/access",
  app_usages: "core/people/activity",
  devices: "core/people/activity",
  interactions: "core/people/activity",
  message_history: "core/people/activity",
};

/** The files that read settings from the environment. */
const READERS = [
  "main.ts",
  "core/base/command.ts",
  "server/config.ts",
  "server/serve.ts",
  "server/start-checks.ts",
  "server/workers.ts",
];

const LONGEST_FILE_LINES = 400;

/** A statement that writes a table, which it names. */
const WRITE = /(?:\binsert into|\bdelete from|(?:^|[`"(])\s*update) ([a-z_]+)\b/gm;

const isStore = (path: string): boolean => path.endsWith("store.ts");

/** Imports of more than types from a store, as "a.ts imports b-store.ts". */
const callsOfStores = (isWrong: (path: string, store: string) => boolean): string[] =>
  sources
    .flatMap(({ path, calls }) =>
      calls
        .filter((called) => isStore(called) && isWrong(path, called))
        .map((called) => `${path} imports ${called}`),
    )
    .sort();

/** The tables that are there after all migrations. */
function tablesOfMigrations(): string[] {
  const sql = readdirSync(join(ROOT, "migrations"))
    .filter((name) => name.endsWith(".sql"))
    .map((name) => readFileSync(join(ROOT, "migrations", name), "utf8"))
    .join("\n");
  const named = (statement: RegExp) => [...sql.matchAll(statement)].map(([, table = ""]) => table);
  const dropped = named(/^drop table ([a-z_]+)/gm);
  return named(/^create table (?:if not exists )?([a-z_]+)/gm).filter(
    (table) => !dropped.includes(table),
  );
}

describe("the source code structure", () => {
  test("every file of src/ is in a folder and a subfolder that has a place in the import order", () => {
    const folders = [...CORE, "features", ...COMPOSITION];
    const lost = sources
      .map(({ path }) => path)
      .filter((path) => path !== "main.ts")
      .filter((path) => !folders.includes(folderOf(path)) || subfolderHeightOf(path) < 0);
    assert.deepEqual(
      lost,
      [],
      "Put the file into a feature, or into a subfolder of the core. A new subfolder has its place in SUBFOLDERS, after the subfolders it imports.",
    );
  });

  test("the map in ARCHITECTURE.md has the folders and subfolders of src/, each above what it imports", () => {
    const [, features = "", core = ""] =
      /\n {2}features\/(.*?)\n {2}core\/(.*?)\n\w/s.exec(
        readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8"),
      ) ?? [];
    const entries = core.split(/^ {4}(?=\w)/m).filter((entry) => /^[\w-]+\//.test(entry));
    assert.deepEqual(
      entries.map((entry) => `core/${entry.slice(0, entry.indexOf("/"))}`),
      CORE.filter((folder) => folder !== "core").reverse(),
      "Name each folder of the core in one entry, above the folders that it imports.",
    );
    for (const [folder, subfolders] of Object.entries(SUBFOLDERS)) {
      const entry = entries.find((each) => `core/${each}`.startsWith(`${folder}/`)) ?? "";
      const named = subfolders.filter((subfolder) => subfolder !== ".").reverse();
      const inLines = [...entry.matchAll(/^ {6}([\w-]+)\//gm)].map(([, subfolder]) => subfolder);
      if (inLines.length > 0)
        assert.deepEqual(inLines, named, `Order ${folder}/: each above those that it imports.`);
      const missing = named.filter(
        (subfolder) => !new RegExp(`(?<![\\w-])${subfolder}/`).test(entry),
      );
      assert.deepEqual(missing, [], `The entry of ${folder}/ names every subfolder.`);
    }
    const mapped = [...features.matchAll(/^ {4}([\w-]+)\//gm)].map(([, name]) => name);
    const found = readdirSync(join(ROOT, "src", "features"));
    assert.deepEqual(mapped.sort(), found.sort(), "Name the feature, in one line.");
  });

  test("a source folder imports only folders that precede it in the import order", () => {
    const heightOf = (path: string) => CORE.indexOf(folderOf(path));
    assert.deepEqual(
      importsThat(
        (path, imported) => path.startsWith("core/") && heightOf(imported) > heightOf(path),
      ),
      [],
      "Move what both need into a folder before them, or pass it as an argument.",
    );
  });

  test("a subfolder imports only subfolders of its folder that precede it in their order", () => {
    assert.deepEqual(
      importsThat(
        (path, imported) =>
          path.startsWith("core/") &&
          folderOf(imported) === folderOf(path) &&
          subfolderHeightOf(imported) > subfolderHeightOf(path),
      ),
      [],
      "Move what both need into a subfolder before them.",
    );
  });

  test("source imports have no cycles", () => {
    const graph = new Map(sources.map((each) => [each.path, each.imports]));
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): void => {
      assert.ok(!trail.includes(path), `Break this import cycle: ${[...trail, path].join(" → ")}`);
      if (done.has(path)) return;
      for (const imported of graph.get(path) ?? []) visit(imported, [...trail, path]);
      done.add(path);
    };
    for (const path of graph.keys()) visit(path, []);
  });

  test("SQL appears only in stores, database/ and migrations/", () => {
    const statement = /[`"]\s*(?:select\s[^`"]*\sfrom|insert into|update \w+ set|delete from)\s/;
    const wrong = sources
      .filter(({ path }) => !isStore(path) && !path.startsWith("core/database/"))
      // Queries to a customer's warehouse do not concern our tables.
      .filter(({ path }) => !path.startsWith("features/warehouses/sources/"))
      // Each condition of a filter has its SQL beside its words.
      .filter(({ path }) => !/^features\/segments\/[a-z]+-subjects?\.ts$/.test(path))
      .filter(({ path, text }) => path !== "server/health-endpoints.ts" && statement.test(text));
    assert.deepEqual(
      wrong.map((each) => each.path),
      [],
      "Move the statement into a store (*store.ts) of its folder.",
    );
  });

  test("each table is written by the stores of one subfolder", () => {
    const writers = new Map<string, Set<string>>(
      Object.entries(NAMED_BY_CONSTANT).map(([table, folder]) => [table, new Set([folder])]),
    );
    for (const { path, text } of sources) {
      for (const [, table = ""] of text.matchAll(WRITE)) {
        writers.set(
          table,
          (writers.get(table) ?? new Set()).add(
            subfolderOf(path).replace(/^core\/database\/.*/, "core/database"),
          ),
        );
      }
    }
    assert.deepEqual(
      [...writers]
        .filter(([, folders]) => folders.size > 1)
        .map(([table, folders]) => `${table}: ${[...folders].join(", ")}`),
      [],
      "Let one subfolder write the table, and call a use case of that subfolder from the others.",
    );
    assert.deepEqual(
      tablesOfMigrations().filter((table) => !writers.has(table)),
      [],
      "Write the table from a store. If the statement takes its name from a constant, enter it in " +
        "NAMED_BY_CONSTANT; if nothing writes it any more, drop the table.",
    );
  });

  test("a store is called only within its subfolder, and those of users and their activity by a few other subfolders", () => {
    const wrong = callsOfStores(
      (path, store) =>
        subfolderOf(store) !== subfolderOf(path) &&
        path !== "server/core-parts.ts" &&
        !CALLERS_OF_STORES[subfolderOf(store)]?.includes(subfolderOf(path)),
    );
    assert.deepEqual(
      wrong,
      [],
      "Call a use case of the subfolder that owns the store. If what is read or written belongs to the same " +
        "transaction, and a use case would only pass it on, enter the subfolder in CALLERS_OF_STORES.",
    );
    const calls = callsOfStores((path, store) => subfolderOf(store) !== subfolderOf(path));
    const unused = Object.entries(CALLERS_OF_STORES).flatMap(([owner, callers]) =>
      callers
        .filter(
          (caller) =>
            !calls.some((call) => call.startsWith(`${caller}/`) && call.includes(` ${owner}/`)),
        )
        .map((caller) => `${caller} calls no store of ${owner}`),
    );
    assert.deepEqual(unused, [], "Remove it from CALLERS_OF_STORES.");
  });

  test("an endpoint calls use cases, never a store", () => {
    assert.deepEqual(
      callsOfStores((path) => path.endsWith("endpoints.ts")),
      [],
      "Move the call into a use case beside the endpoint.",
    );
  });

  test("only configuration files and commands read environment variables", () => {
    const readers = sources.filter(
      ({ path, text }) =>
        text.includes("process.env") && !isCommand(path) && !READERS.includes(path),
    );
    assert.deepEqual(
      readers.map((each) => each.path),
      [],
      "Add a setting to server/config.ts and pass it as an argument.",
    );
  });

  test("concurrent statements are awaited with settleAll, not Promise.all", () => {
    // These wait for no statements. With Promise.all the first failure ends the transaction, and a
    // statement that is still to be sent would never be answered: see settleAll.
    const open = [
      "server/workers.ts",
      "server/assemble.ts",
      "cli/program.ts",
      "core/database/",
      "core/admin/jobs/worker.ts",
      "features/demo/fill.ts",
    ];
    const wrong = sources
      .filter(({ path }) => !open.some((each) => path.startsWith(each)))
      .filter(({ text }) => text.includes("Promise.all("));
    assert.deepEqual(
      wrong.map((each) => each.path),
      [],
      "Wait with settleAll (core/database/database.ts).",
    );
  });

  test("HTTP status codes appear only in http/ and in declarations", () => {
    const status = /\bstatus(?:Code)?\s*(?:===|!==|<|>=?)\s*[1-5]\d\d\b|\.code\([1-5]\d\d\)/;
    const wrong = sources
      // The responses of a customer's warehouse do not affect ours.
      .filter(({ path }) => !path.startsWith("features/warehouses/sources/"))
      .filter(
        ({ path, text }) =>
          folderOf(path) !== "core/http" && !isComposition(path) && status.test(text),
      );
    assert.deepEqual(
      wrong.map((each) => each.path),
      [],
      "Throw a Problem and let core/http/respond.ts choose the status.",
    );
  });

  test("no source or test file is longer than 400 lines", () => {
    const long = [...sources, ...testFiles()]
      .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
      .filter(({ lines }) => lines > LONGEST_FILE_LINES);
    assert.deepEqual(long, [], "Split the file by subject.");
  });

  test("every class in the styles of the dashboard is used by one of its pages", () => {
    const web = join(ROOT, "web", "src");
    const filesOf = (ending: RegExp) =>
      readdirSync(web, { recursive: true, encoding: "utf8" })
        .filter((path) => ending.test(path))
        .map((path) => readFileSync(join(web, path), "utf8").replaceAll(/\/\*.*?\*\//gs, ""));
    const used = new Set(filesOf(/\.tsx?$/).flatMap((text) => text.match(/[\w-]+/g) ?? []));
    const selectors = filesOf(/\.css$/).flatMap((text) => text.match(/[^{};]+(?=\{)/g) ?? []);
    const classes = selectors.flatMap((text) => text.match(/(?<=\.)[a-z][\w-]*/gi) ?? []);
    // Libraries give these to elements of theirs.
    const own = classes.filter((name) => !/^(?:u-|mantine-)/.test(name));
    assert.ok(own.length > 100);
    assert.deepEqual([...new Set(own.filter((name) => !used.has(name)))], [], "Delete its rules.");
  });

  test("no source file or folder has a catch-all name", () => {
    const drawer = /(?:^|\/)(?:utils?|helpers?|common|shared|lib|types|index)(?:\/|\.ts$)/;
    assert.deepEqual(
      sources.map((each) => each.path).filter((path) => drawer.test(path)),
      [],
      "Name the file after its content.",
    );
  });
});

function testFiles(): { path: string; text: string }[] {
  return readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => ({
      path: `test/${name}`,
      text: readFileSync(join(ROOT, "test", name), "utf8"),
    }));
}
