/* The pictures of the documents: `npm run pictures` takes all of them, from the demo. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { recordedSums, sumsOf } from "../lab/pictures/picture-sums.ts";
import { PICTURES } from "../lab/pictures/pictures.ts";
import { packageRoot } from "../src/core/base/package-root.ts";

const folder = join(packageRoot(), "docs", "images");

test("every picture is one that npm run pictures has taken, and nothing has changed it since", () => {
  const pictures = PICTURES.map(({ file }) => `${file}.png`);
  const files = readdirSync(folder).filter((name) => !name.endsWith(".sha256"));
  assert.deepEqual(files.sort(), [...new Set(pictures)].sort());
  assert.equal(sumsOf(folder), recordedSums(folder), "Run npm run pictures.");
});

test("every picture of a document is there, and every picture is in a document", () => {
  const documents = ["README.md", "client/README.md", "web/README.md"].concat(
    readdirSync(join(packageRoot(), "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join("docs", name)),
  );
  const shown = documents.flatMap((name) =>
    [...readFileSync(join(packageRoot(), name), "utf8").matchAll(/images\/([\w.-]+\.png)/g)].map(
      ([, file = ""]) => file,
    ),
  );
  const files = readdirSync(folder).filter((name) => name.endsWith(".png"));
  assert.deepEqual([...new Set(shown)].sort(), files.sort());
});
