import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import fc from "fast-check";
import { packageRoot } from "../../../../../src/core/base/package-root.ts";
import { addressForm } from "../../../../../src/core/base/values/address-form.ts";
import { userNameKey } from "../../../../../src/features/dashboard-users/dashboard-user.ts";
import { anyText } from "../../../../any-text.ts";
import { spellingsOf, WORDS } from "../../../../core/people/profiles/spellings.ts";

const PAGE = readFileSync(join(packageRoot(), "docs", "decisions", "addresses.md"), "utf8");

/** The rows of a table of the page, by the heading of its second column. */
function examplesOf(heading: string): [written: string, form: string][] {
  const [, table = ""] = PAGE.split(`| written | ${heading} |\n|---|---|\n`);
  const [rows = ""] = table.split("\n\n", 1);
  return [...rows.matchAll(/^\| `(.*)` \| `(.*)` \|$/gm)].map(([, written = "", form = ""]) => [
    JSON.parse(`"${written}"`),
    JSON.parse(`"${form}"`),
  ]);
}

const address = fc.tuple(
  fc.array(fc.constantFrom(...WORDS, "a", "B", "k+news", "x.y", "ß"), {
    minLength: 1,
    maxLength: 3,
  }),
  fc.array(fc.constantFrom(...WORDS, "shop", "STRASSE", "a-b"), { minLength: 1, maxLength: 3 }),
  fc.constantFrom("example", "de", "рф", "テスト"),
);

describe("forms of addresses", () => {
  test("each of the twenty examples of docs/decisions/addresses.md has its form", () => {
    const users = examplesOf("form");
    const names = examplesOf("key");
    assert.equal(users.length, 20);
    assert.equal(names.length, 20);
    for (const [written, form] of users) assert.equal(addressForm(written), form, written);
    for (const [written, key] of names) assert.equal(userNameKey(written), key, written);
  });

  test("any two spellings of an address have one form, which is its own form", () => {
    fc.assert(
      fc.property(address, fc.nat(), ([local, domain, top], choice) => {
        const written = `${local.join(".")}@${[...domain, top].join(".")}`;
        const form = addressForm(written);
        const spellings = spellingsOf(written);
        const spelling = spellings[choice % spellings.length] as string;
        assert.equal(addressForm(spelling), form, spelling);
        assert.equal(addressForm(form), form);
        // The migration has only the lower case of what was written.
        assert.equal(addressForm(written.toLowerCase()), form);
      }),
    );
  });

  test("any text has a form that is its own form", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const form = addressForm(text);
        assert.equal(addressForm(form), form);
      }),
    );
  });

  test("a user name never has the key of a name with other ASCII letters", () => {
    const twins = [
      ["k", "\u212a"],
      ["fi", "\ufb01"],
      ["s", "\u017f"],
      ["a", "\u0430"],
      ["a", "\uff41"],
      ["i", "\u0131"],
      ["ss", "ß"],
      ["office", "xn--oce-yv3b"],
      ["kelvin", "xn--elvin-r74b"],
      ["example", "xn--example-"],
    ] as const;
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...twins), { minLength: 1, maxLength: 5 }),
        fc.constantFrom(".", ""),
        (parts, between) => {
          const join = (place: 0 | 1) => parts.map((twin) => twin[place]).join(between);
          for (const of of [
            (text: string) => `${text}@x.example`,
            (text: string) => `x@${text}.example`,
          ]) {
            assert.notEqual(userNameKey(of(join(1))), userNameKey(of(join(0))));
          }
        },
      ),
    );
  });
});
