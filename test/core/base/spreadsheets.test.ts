/* CSV as Rapport writes it: what spreadsheets would run, and that it reads back. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { csvText, rearm } from "../../../src/core/base/values/spreadsheets.ts";

const cellOf = (cell: string | number | boolean | null): string =>
  (parse(csvText([[cell]])) as string[][])[0]?.[0] ?? "";

describe("CSV that spreadsheets open", () => {
  test("no text begins with a sign of a formula, and numbers stay numbers", () => {
    const cases: readonly (readonly [string | number | boolean | null, string])[] = [
      ["=1+1", "'=1+1"],
      ["+49 30 1234", "'+49 30 1234"],
      ["-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"],
      ["@SUM(A1)", "'@SUM(A1)"],
      ["\t=1", "'\t=1"],
      ["\r=1", "'\r=1"],
      ["\n=1", "'\n=1"],
      ["＝1+1", "'＝1+1"],
      ["'=1", "''=1"],
      ["-5", "'-5"],
      [-5, "-5"],
      [-1.5e-7, "-1.5e-7"],
      [true, "true"],
      [null, ""],
      ["it's = fine", "it's = fine"],
      ["'quoted'", "'quoted'"],
    ];
    for (const [cell, wanted] of cases) assert.equal(cellOf(cell), wanted, JSON.stringify(cell));
  });

  test("every text is read back as it was", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({
        unit: fc.constantFrom("'", "=", "+", "-", "@", "\t", "\r", "\n", "a", ",", '"'),
      }),
    );
    fc.assert(
      fc.property(text, (value) => {
        fc.pre(value !== "");
        const written = cellOf(value);
        assert.doesNotMatch(written, /^[=+\-@\t\r\n]/);
        assert.equal(rearm(written), value);
      }),
    );
  });

  test("one file writes all CSV", () => {
    const folder = join(packageRoot(), "src");
    const writers = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .filter((path) => readFileSync(join(folder, path), "utf8").includes("csv-stringify"));
    assert.deepEqual(writers, ["core/base/values/spreadsheets.ts"]);
  });
});
