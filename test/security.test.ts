/* SECURITY.md names the tests of each of its sentences: a file and a part of a title. Those tests exist. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../src/base/package-root.ts";
import { titlesIn } from "./titles.ts";

const folder = join(packageRoot(), "test");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" });

/** The rows of the tables of defences, as pairs of cells. */
function defencesIn(page: string): [defence: string, tests: string][] {
  const rows: [string, string][] = [];
  let isDefences = false;
  for (const line of page.split("\n")) {
    if (line === "| defence | test |") isDefences = true;
    else if (!line.startsWith("|")) isDefences = false;
    else if (isDefences && !line.startsWith("|---")) {
      const [, defence = "", tests = ""] = line.split("|");
      rows.push([defence.trim(), tests.trim()]);
    }
  }
  return rows;
}

const REFERENCE = /^`([\w-]+\.test\.ts)`: (\S.*)$/;

/** A shorter part could be of any title. */
const SHORTEST_PART = 12;

/** The fault of a reference to a test; undefined if one file has a test with such a title. */
function faultIn(reference: string): string | undefined {
  const [, name, part = ""] = REFERENCE.exec(reference) ?? [];
  if (name === undefined) return "it is not written as `file.test.ts`: part of the title";
  const found = files.filter((file) => basename(file) === name);
  if (found.length !== 1) return `${found.length} files have this name`;
  if (part.length < SHORTEST_PART) return "the part of the title is too short to tell it";
  const titles = titlesIn(readFileSync(join(folder, found[0] as string), "utf8"));
  return titles.some((title) => title.includes(part)) ? undefined : "no title there has this part";
}

describe("SECURITY.md", () => {
  test("every defence names tests by their titles, and each of them exists", () => {
    const rows = defencesIn(readFileSync(join(packageRoot(), "SECURITY.md"), "utf8"));
    assert.ok(rows.length > 45, String(rows.length));
    const faults = rows.flatMap(([defence, tests]) =>
      tests.split("<br>").flatMap((reference) => {
        const fault = faultIn(reference);
        return fault === undefined ? [] : [`${defence}: ${reference}: ${fault}`];
      }),
    );
    assert.deepEqual(faults, []);
  });

  test("a reference to a test that is renamed, removed or only a file is found", () => {
    const title = "every defence names tests by their titles";
    assert.equal(faultIn(`\`security.test.ts\`: ${title}`), undefined);
    for (const reference of [
      "`security.test.ts`",
      "`security.test.ts`: every",
      `\`no-such.test.ts\`: ${title}`,
      `\`security.test.ts\`: ${title.toUpperCase()}`,
    ]) {
      assert.ok(faultIn(reference), reference);
    }
  });
});
