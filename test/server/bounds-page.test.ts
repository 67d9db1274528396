/* docs/security-bounds.md has a row for every operation, with what bounds it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { BOUNDS_PAGE, boundsIn, boundsPage, NOT_WRITTEN } from "../../build/write-bounds.ts";

const page = readFileSync(BOUNDS_PAGE, "utf8");

test("the page of bounds has a row for every operation, under its declared path", () => {
  assert.equal(
    page,
    boundsPage(page),
    "Run `npx tsc && node dist/build/write-bounds.js` and write what bounds each new operation.",
  );
});

test("every row of the page of bounds says what bounds the work of the operation", () => {
  const missing = [...boundsIn(page)].filter(([, bound]) => bound === NOT_WRITTEN || !bound.trim());
  assert.deepEqual(missing, [], "Write in docs/security-bounds.md what bounds these operations.");
});
