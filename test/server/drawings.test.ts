import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { DRAWINGS, draw, drawings } from "../../build/write-drawings.ts";

describe("the drawings of the documents", () => {
  test("each drawing is what its text says", () => {
    const all = drawings();
    assert.ok(all.size > 1);
    for (const [name, drawing] of all) {
      assert.equal(
        readFileSync(join(DRAWINGS, name), "utf8"),
        drawing,
        `Run \`npx tsc && node dist/build/write-drawings.js\` for ${name}.`,
      );
    }
  });

  test("a line that is none of a drawing, or names no box and no column, is refused", () => {
    const texts = [
      "boxes a 1,1 A",
      "box a 1,1 A\narrow a -> b",
      "who a A\na -> b call",
      "bar b label",
    ];
    for (const text of texts) {
      assert.throws(() => draw(text), /Not a line of a drawing/, text);
    }
  });
});
