/* SECURITY.md names the tests of each of its sentences: those tests exist. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../src/base/package-root.ts";

const lines = readFileSync(join(packageRoot(), "SECURITY.md"), "utf8").split("\n");

/** The rows of the tables of defences, as pairs of cells. */
function defences(): [defence: string, tests: string][] {
  const rows: [string, string][] = [];
  let isDefences = false;
  for (const line of lines) {
    if (line === "| defence | test |") isDefences = true;
    else if (!line.startsWith("|")) isDefences = false;
    else if (isDefences && !line.startsWith("|---")) {
      const [, defence = "", tests = ""] = line.split("|");
      rows.push([defence.trim(), tests.trim()]);
    }
  }
  return rows;
}

describe("SECURITY.md", () => {
  test("every defence names tests, and each of them is one file of the suite with a test in it", () => {
    const folder = join(packageRoot(), "test");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const rows = defences();
    assert.ok(rows.length > 30);
    for (const [defence, tests] of rows) {
      const named = [...tests.matchAll(/`([\w-]+\.test\.ts)`/g)].map(([, name]) => name as string);
      assert.ok(named.length > 0, `no test is named for: ${defence}`);
      for (const name of named) {
        const found = files.filter((file) => basename(file) === name);
        assert.equal(found.length, 1, `${name}, named for: ${defence}`);
        const text = readFileSync(join(folder, found[0] as string), "utf8");
        assert.match(text, /\b(?:test|it)\(/, name);
      }
    }
  });
});
