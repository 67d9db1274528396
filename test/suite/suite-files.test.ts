/* The files that the suite runs on each engine. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../stored-rows.ts";
import { PARTS, type Part, partOf, reaches, suiteFiles, testFiles } from "./suite-files.ts";

const FOLDER = join(import.meta.dirname, "..");

test("a run takes the files of its parts", () => {
  const filesOf = (part: Part) => suiteFiles(FOLDER, { parts: [part], engine: "embedded" }).taken;
  assert.ok(filesOf("main").includes("core/track/track.test.js"));
  for (const part of PARTS) {
    const files = filesOf(part);
    assert.ok(files.length > 0, part);
    assert.deepEqual([...new Set(files.map(partOf))], [part]);
  }
  const { taken, leftOut } = suiteFiles(FOLDER, { parts: PARTS, engine: "embedded" });
  assert.deepEqual(taken, testFiles(FOLDER));
  assert.deepEqual(leftOut, []);
});

test("what a file starts when it is loaded belongs to one test file, because it goes when that one ends", () => {
  const helpers = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".js") && !path.endsWith(".test.js"),
  );
  for (const helper of helpers) {
    const text = readFileSync(join(FOLDER, helper), "utf8");
    const [started] = /^export const \w+ = await start\w*\(/m.exec(text) ?? [];
    if (started === undefined) continue;
    const users = testFiles(FOLDER).filter((path) => reaches(join(FOLDER, path), started));
    assert.ok(users.length <= 1, `${helper}: ${users}`);
  }
});

test("on PostgreSQL the suite runs every file that can reach PostgreSQL, directly or through its imports", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "test", "people"), { recursive: true });
  const files = {
    "test/direct.test.js": "process.env.TEST_DATABASE_URL;",
    "test/people/static.test.js": 'import assert from "node:assert";\nimport { x } from "../a.js";',
    "test/dynamic.test.js": 'await import("./b.js");',
    "test/pure.test.js": 'import { y } from "../pure.js";',
    "test/a.js": 'export * from "./b.js";',
    "test/b.js": 'import "../helper.js"; import "./a.js";',
    "helper.js": "process.env.TEST_DATABASE_URL;",
    "pure.js": "export const y = 1;",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const { taken, leftOut } = suiteFiles(join(folder, "test"), { engine: "postgres" });
  assert.deepEqual(taken, ["direct.test.js", "dynamic.test.js", "people/static.test.js"]);
  assert.deepEqual(leftOut, ["pure.test.js"]);
});

test("on PostgreSQL the suite runs the files that use a server, and leaves out rules without a database", () => {
  const { taken, leftOut } = suiteFiles(FOLDER, { parts: PARTS, engine: "postgres" });
  for (const name of ["core/track/track", "system/startup", "browser/dashboard-pages"]) {
    assert.ok(taken.includes(`${name}.test.js`), name);
  }
  for (const name of ["liquid/long/liquid", "scim/scim-filter", "system/folder-lock"]) {
    assert.ok(leftOut.includes(`${name}.test.js`), name);
  }
});

test("on PostgreSQL the suite leaves out commands that only send HTTP to the shared server, but for round trips", () => {
  const { taken, leftOut } = suiteFiles(FOLDER, { parts: ["system", "night"], engine: "postgres" });
  for (const name of [
    "system/keys-command",
    "import/system/import-files",
    "warehouses/system/warehouse-kinds",
  ]) {
    assert.ok(leftOut.includes(`${name}.test.js`), name);
  }
  for (const name of [
    "system/night/round-trip",
    "system/night/large-round-trip",
    "system/crash",
    "system/backup",
    "webhooks/system/webhook-restarts",
  ]) {
    assert.ok(taken.includes(`${name}.test.js`), name);
  }
});

test("a file that is requested by a part of its path runs in any part and on any engine", () => {
  const { taken } = suiteFiles(FOLDER, { wanted: ["liquid", "system/usual"], engine: "postgres" });
  assert.deepEqual(taken, ["liquid/long/liquid.test.js", "system/usual-start.test.js"]);
});

test("a name that begins with a slash is the beginning of a path", () => {
  const { taken } = suiteFiles(FOLDER, { wanted: ["/core/http/"], engine: "embedded" });
  assert.deepEqual(
    taken,
    testFiles(FOLDER).filter((path) => path.startsWith("core/http/")),
  );
});

test("what a part leaves out on PostgreSQL is what it has without an engine", () => {
  const onPostgres = suiteFiles(FOLDER, { parts: ["long"], engine: "postgres" });
  const elsewhere = suiteFiles(FOLDER, { parts: [], engineless: ["long"], engine: "embedded" });
  assert.ok(onPostgres.leftOut.length > 0);
  assert.deepEqual(elsewhere.taken, onPostgres.leftOut);
});

test("no two test files have the same name, so that a name is enough to find one", () => {
  const names = testFiles(FOLDER).map((path) => basename(path));
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});
