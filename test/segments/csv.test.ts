import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parse } from "csv-parse/sync";
import { columnOfAttribute, headerLine, userLine } from "../../src/features/segments/csv.ts";

describe("a CSV of users", () => {
  test("reads back as the same texts, whatever is in them, and a formula begins with an apostrophe", () => {
    const columns = ["external_id", "email", columnOfAttribute("plan"), columnOfAttribute("a.b")];
    const cases = [
      ["a,b", "a,b"],
      ['"', '"'],
      ["two\nlines", "two\nlines"],
      [" blanks ", " blanks "],
      ["=1+1", "'=1+1"],
      ["@SUM(A1)", "'@SUM(A1)"],
      ["\uFF1D1", "'\uFF1D1"],
      [-5, "-5"],
      [true, "true"],
      [null, ""],
      [undefined, ""],
      [["=x"], '["=x"]'],
      [{ a: "," }, '{"a":","}'],
      ["\u00d6zdemir", "\u00d6zdemir"],
    ] as const;
    const text =
      headerLine(columns) +
      cases
        .map(([value]) =>
          userLine(
            { external_id: value, email: null, custom_attributes: { plan: value, "a.b": value } },
            columns,
          ),
        )
        .join("");
    const [header, ...rows] = parse(text, { trim: false }) as string[][];
    assert.deepEqual(header, columns);
    assert.deepEqual(
      rows,
      cases.map(([, cell]) => [cell, "", cell, cell]),
    );
  });

  test("a user without custom attributes has empty cells", () => {
    assert.equal(
      userLine({ external_id: "ada" }, ["external_id", columnOfAttribute("plan")]),
      "ada,\n",
    );
  });
});
