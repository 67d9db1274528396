/* Which files the suite runs on which engine. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "./stored-rows.ts";
import { suiteFiles } from "./suite-files.ts";

const HERE = import.meta.dirname;

test("on the embedded engine the suite leaves out no file", () => {
  const { taken, leftOut } = suiteFiles(HERE, [], "embedded");
  assert.ok(taken.includes("suite-files.test.js"));
  assert.deepEqual(leftOut, []);
});

test("on PostgreSQL the suite runs every file that can reach PostgreSQL, directly or through what it imports", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "test"));
  const files = {
    "test/direct.test.js": "process.env.TEST_DATABASE_URL;",
    "test/static.test.js": 'import assert from "node:assert";\nimport { x } from "./a.js";',
    "test/dynamic.test.js": 'await import("./b.js");',
    "test/pure.test.js": 'import { y } from "../pure.js";',
    "test/a.js": 'export * from "./b.js";',
    "test/b.js": 'import "../helper.js"; import "./a.js";',
    "helper.js": "process.env.TEST_DATABASE_URL;",
    "pure.js": "export const y = 1;",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const { taken, leftOut } = suiteFiles(join(folder, "test"), [], "postgres");
  assert.deepEqual(taken.sort(), ["direct.test.js", "dynamic.test.js", "static.test.js"]);
  assert.deepEqual(leftOut, ["pure.test.js"]);
});

test("on PostgreSQL the suite runs the files that use a server, and leaves out rules without a database", () => {
  const { taken, leftOut } = suiteFiles(HERE, [], "postgres");
  for (const name of ["track", "startup", "guides", "dashboard-pages", "start-rapport", "backup"]) {
    assert.ok(taken.includes(`${name}.test.js`), name);
  }
  for (const name of ["liquid", "scim-filter", "folder-lock", "usual-start"]) {
    assert.ok(leftOut.includes(`${name}.test.js`), name);
  }
});

test("a file that is asked for by name runs on every engine", () => {
  const { taken } = suiteFiles(HERE, ["liquid"], "postgres");
  assert.ok(taken.includes("liquid.test.js"));
});
