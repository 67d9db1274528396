/*
 * The rules of ARCHITECTURE.md: which folder may import which, where SQL and status codes may appear,
 * which folder writes which table, and how long a file may be.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../src/core/base/package-root.ts";

/**
 * The folders of the house, from the ground up: each imports only folders before it.
 * `main.ts` beside them imports `cli/`.
 */
const FOLDERS = [
  "base",
  "database",
  "http",
  "admin",
  "people",
  "intake",
  "delivery",
  "messaging",
  "dashboard",
  "server",
  "cli",
];

/**
 * The order of the rooms of a folder: each imports only rooms before it. `.` means the files
 * directly in the folder.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: [".", "values", "context", "observe", "threads", "outbound"],
  database: ["parameters", ".", "citus", "migrations", "postgres", "embedded", "backup"],
  admin: ["attention", "audit", "secrets", "backup", "jobs", "workspaces", "retention", "access"],
  people: [
    "changes",
    "profiles",
    "activity",
    "subscriptions",
    "quotas",
    "catalogue",
    "identity",
    "export",
    "segments",
  ],
  intake: ["track", "import", "warehouses", "capture"],
  delivery: ["segment-exports", "webhooks"],
  messaging: ["liquid", "campaigns", "translations", "preference-centers"],
  dashboard: ["users", "scim", "sign-in", "live-requests", "user-records", "overview", "pages"],
  server: ["reference", ".", "testing"],
  cli: [".", "cdi", "import", "export", "tail", "changes", "users"],
};

/** Loads the commands, whose rooms use the files beside it. */
const ABOVE_ALL_ROOMS = "cli/program.ts";

/** These put the parts together and may import anything. */
const COMPOSITION = ["server", "cli"];

const isComposition = (path: string): boolean =>
  path === "main.ts" || COMPOSITION.includes(folderOf(path));

/**
 * Which rooms call the stores of others, beside server/app.ts. The data of a user is read and
 * written in one transaction by everything that changes users; a use case in between would only
 * pass the rows on.
 */
const CALLERS_OF_STORES: Readonly<Record<string, readonly string[]>> = {
  "core/people/profiles": [
    "core/people/activity",
    "features/export",
    "core/people/identity",
    "features/preference-centers",
    "features/user-records",
    "core/people/subscriptions",
    "core/track",
  ],
  "core/people/activity": [
    "features/export",
    "core/people/identity",
    "features/user-records",
    "core/track",
  ],
  "core/people/subscriptions": ["features/export", "features/user-records"],
  "core/people/identity": ["features/user-records"],
  "core/admin/jobs": ["features/overview"],
};

/**
 * Tables whose statements take the table's name from a constant, with the room that writes them,
 * and one that its migration fills.
 */
const NAMED_BY_CONSTANT: Readonly<Record<string, string>> = {
  buckets: "database",
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
  "server/config.ts",
  "server/serve.ts",
  "server/start-checks.ts",
  "server/workers.ts",
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
  /** Rooms from which it imports more than types. */
  readonly calls: readonly string[];
}

const IMPORT = /\b(?:import|export)\s+(type\s+)?([^;"]*?)\s*from\s+"(\.[^"]+)"/g;

const isOnlyTypes = (names: string): boolean =>
  names
    .replace(/[{}]/g, "")
    .split(",")
    .filter((name) => name.trim() !== "")
    .every((name) => name.trim().startsWith("type "));

const sources: Source[] = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
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

const folderOf = (path: string): string =>
  path.includes("/") ? (path.split("/", 1)[0] ?? "") : "";

/** The folder and the room of a file: `core/people/identity`, or `http` for a folder without rooms. */
function roomOf(path: string): string {
  const [folder = "", room = "", file] = path.split("/");
  return ROOMS[folder] && file !== undefined ? `${folder}/${room}` : folder;
}

/** The position of a file's folder. */
const heightOf = (path: string): number =>
  path === "main.ts" ? FOLDERS.length : FOLDERS.indexOf(folderOf(path));

/** The position of a file's room in its folder. */
function roomHeightOf(path: string): number {
  const [folder = "", room = "", file] = path.split("/");
  if (path === ABOVE_ALL_ROOMS) return Number.POSITIVE_INFINITY;
  return ROOMS[folder]?.indexOf(file === undefined ? "." : room) ?? 0;
}

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
  test("every file of src/ is in a folder and a room that has a place in the import order", () => {
    const lost = sources
      .map(({ path }) => path)
      .filter((path) => path !== "main.ts" && (heightOf(path) < 0 || roomHeightOf(path) < 0));
    assert.deepEqual(lost, [], "Add the room to ROOMS, after the rooms it imports.");
  });

  test("the map in ARCHITECTURE.md has the folders and rooms of src/ in their import order", () => {
    const [, map = ""] = /\nsrc\/\n(.*?)\n {2}main\.ts/s.exec(
      readFileSync(join(ROOT, "ARCHITECTURE.md"), "utf8"),
    ) ?? [""];
    const entries = map.split(/^ {2}(?=\w)/m).filter(Boolean);
    const mapped = entries.map((entry) => entry.slice(0, entry.indexOf("/")));
    assert.deepEqual(mapped, FOLDERS);
    for (const [folder, rooms] of Object.entries(ROOMS)) {
      const entry = entries[FOLDERS.indexOf(folder)] ?? "";
      const named = rooms.filter((room) => room !== ".");
      const inLines = [...entry.matchAll(/^ {4}([\w-]+)\//gm)].map(([, room]) => room);
      if (inLines.length > 0) assert.deepEqual(inLines, named, folder);
      const missing = named.filter((room) => !new RegExp(`(?<![\\w-])${room}/`).test(entry));
      assert.deepEqual(missing, [], `The entry of ${folder}/ names every room.`);
    }
  });

  test("a source folder imports only folders that precede it in the import order", () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter((imported) => heightOf(imported) > heightOf(path))
        .map((imported) => `${path} imports ${imported}`),
    );
    assert.deepEqual(
      wrong.sort(),
      [],
      "Move what both need into a folder before them, or pass it as an argument.",
    );
  });

  test("a room imports only rooms of its folder that precede it in their order", () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter((imported) => folderOf(imported) === folderOf(path))
        .filter((imported) => roomHeightOf(imported) > roomHeightOf(path))
        .map((imported) => `${path} imports ${imported}`),
    );
    assert.deepEqual(wrong.sort(), [], "Move what both need into a room before them.");
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
      .filter(({ path }) => !isStore(path) && folderOf(path) !== "database")
      // Queries to a customer's warehouse do not concern our tables.
      .filter(({ path }) => !path.startsWith("features/warehouses/sources/"))
      // Each condition of a filter has its SQL beside its predicate and its words.
      .filter(({ path }) => !/^people\/segments\/[a-z]+-subjects?\.ts$/.test(path))
      .filter(({ path, text }) => path !== "server/health-endpoints.ts" && statement.test(text));
    assert.deepEqual(
      wrong.map((each) => each.path),
      [],
      "Move the statement into a store (*store.ts) of its folder.",
    );
  });

  test("each table is written by the stores of one room", () => {
    const writers = new Map<string, Set<string>>(
      Object.entries(NAMED_BY_CONSTANT).map(([table, folder]) => [table, new Set([folder])]),
    );
    for (const { path, text } of sources) {
      for (const [, table = ""] of text.matchAll(WRITE)) {
        writers.set(
          table,
          (writers.get(table) ?? new Set()).add(roomOf(path).replace(/^database\/.*/, "database")),
        );
      }
    }
    assert.deepEqual(
      [...writers]
        .filter(([, folders]) => folders.size > 1)
        .map(([table, folders]) => `${table}: ${[...folders].join(", ")}`),
      [],
      "Let one room write the table, and call a use case of that room from the others.",
    );
    assert.deepEqual(
      tablesOfMigrations().filter((table) => !writers.has(table)),
      [],
      "Write the table from a store. If the statement takes its name from a constant, enter it in " +
        "NAMED_BY_CONSTANT; if nothing writes it any more, drop the table.",
    );
  });

  test("a store is called only within its room, and those of users and their activity by a few other rooms", () => {
    const wrong = callsOfStores(
      (path, store) =>
        roomOf(store) !== roomOf(path) &&
        path !== "server/app.ts" &&
        !CALLERS_OF_STORES[roomOf(store)]?.includes(roomOf(path)),
    );
    assert.deepEqual(
      wrong,
      [],
      "Call a use case of the room that owns the store. If what is read or written belongs to the same " +
        "transaction, and a use case would only pass it on, enter the room in CALLERS_OF_STORES.",
    );
    const calls = callsOfStores((path, store) => roomOf(store) !== roomOf(path));
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
        text.includes("process.env") && folderOf(path) !== "cli" && !READERS.includes(path),
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
    const open = ["server/workers.ts", "database/", "core/admin/jobs/worker.ts"];
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
        ({ path, text }) => folderOf(path) !== "http" && !isComposition(path) && status.test(text),
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
