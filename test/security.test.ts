/* security-defences.yaml names the tests of each defence in SECURITY.md: a file and a part of a title. Those tests exist. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { packageRoot } from "../src/core/base/package-root.ts";
import { titlesIn } from "./titles.ts";

const folder = join(packageRoot(), "test");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" });

/** The defences of the page, in their order: the lists of that part. */
function defencesIn(page: string): string[] {
  const [, part = ""] = page.split(/^## Defences$/m);
  const [defences = ""] = part.split(/^## /m);
  return [...defences.matchAll(/^- (.*)$/gm)].map(([, defence = ""]) => defence);
}

interface Defence {
  readonly defence: string;
  /** Each a file, and a part of a title in it. */
  readonly tests: readonly string[];
}

const REFERENCE = /^([\w-]+): (\S.*)$/;

/** A shorter part could be of any title. */
const SHORTEST_PART = 12;

/** The fault of a reference to a test; undefined if one file has a test with such a title. */
function faultIn(reference: string): string | undefined {
  const [, name, part = ""] = REFERENCE.exec(reference) ?? [];
  if (name === undefined) return "it is not written as `file: part of the title`";
  const found = files.filter((file) => basename(file) === `${name}.test.ts`);
  if (found.length !== 1) return `${found.length} files have this name`;
  if (part.length < SHORTEST_PART) return "the part of the title is too short to tell it";
  const titles = titlesIn(readFileSync(join(folder, found[0] as string), "utf8"));
  return titles.some((title) => title.includes(part)) ? undefined : "no title there has this part";
}

describe("SECURITY.md", () => {
  test("every defence names tests by their titles, and each of them exists", () => {
    const page = readFileSync(join(packageRoot(), "SECURITY.md"), "utf8");
    const listed: Defence[] = parse(readFileSync(join(folder, "security-defences.yaml"), "utf8"));
    const defences = listed.map(({ defence }) => defence);
    assert.deepEqual(defencesIn(page), defences);
    assert.ok(defences.length > 45, String(defences.length));
    const faults = listed.flatMap(({ defence, tests }) => {
      assert.ok(tests.length > 0, defence);
      return tests.flatMap((reference) => {
        const fault = faultIn(reference);
        return fault === undefined ? [] : [`${defence}: ${reference}: ${fault}`];
      });
    });
    assert.deepEqual(faults, []);
  });

  test("a reference to a test that is renamed, removed or only a file is found", () => {
    const title = "every defence names tests by their titles";
    assert.equal(faultIn(`security: ${title}`), undefined);
    for (const reference of [
      "security",
      "security: every",
      `no-such: ${title}`,
      `security: ${title.toUpperCase()}`,
    ]) {
      assert.ok(faultIn(reference), reference);
    }
  });
});
