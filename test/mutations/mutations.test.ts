/* The rules that `npm run mutate` and `npm run torture -- --seeded-faults` break can still be broken. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { SEEDED } from "../../lab/torture/seeded-faults.ts";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { testFiles } from "../suite/suite-files.ts";
import { findPlace } from "./broken-rule.ts";
import type { Mutation } from "./mutation-check.ts";

const root = packageRoot();
const mutations = parse(
  readFileSync(join(root, "test", "mutations", "mutations.yaml"), "utf8"),
) as Mutation[];

// In a copy of the repository with a broken rule this would pass for the test that noticed.
const skip = process.env.RULE_IS_BROKEN === "1" && "a rule is broken on purpose";

describe("rules that are broken on purpose", { skip }, () => {
  test("every rule to be broken stands exactly once in the compiled code", () => {
    for (const each of [...mutations, ...SEEDED]) findPlace(root, each);
  });

  test("every rule to be broken names test files that exist, and no rule stands twice", () => {
    const names = new Set(testFiles(join(root, "dist", "test")).map((path) => basename(path)));
    for (const { rule, tests } of mutations) {
      assert.ok(tests.length > 0, rule);
      for (const name of tests) {
        assert.ok(names.has(`${name}.test.js`), `${rule}: ${name}`);
      }
    }
    const rules = mutations.map(({ rule }) => rule);
    assert.equal(new Set(rules).size, rules.length);
  });
});
