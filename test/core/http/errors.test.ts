/* docs/errors.md is checked against the program: codes, statuses, and the words of the sentences. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { STATUS_OF } from "../../../src/core/http/respond.ts";

const ROOT = packageRoot();
const SOURCES = join(ROOT, "src");

/** Settings and file names look like codes; a driver's codes never reach a caller. */
const NOT_ERRORS = [
  "server/config.ts",
  "server/serve.ts",
  "server/server-secrets.ts",
  "core/database/embedded/explain-open.ts",
  "core/database/postgres/postgres.ts",
];

const sources = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts") && !NOT_ERRORS.includes(path))
  .map((path) => readFileSync(join(SOURCES, path), "utf8"))
  // Sentences that are written on several lines are one sentence.
  .map((text) => text.replaceAll(/["`] \+\s+["`]/g, ""));

interface Row {
  readonly code: string;
  readonly status: number | undefined;
  readonly sentences: readonly string[];
}

const rows: Row[] = readFileSync(join(ROOT, "docs/errors.md"), "utf8")
  .split("\n")
  .filter((line) => /^\| `[A-Z_]+` \|/.test(line))
  .map((line) => {
    const cells = line.split(" | ").map((cell) => cell.replace(/^\| /, "").replace(/ \|$/, ""));
    const status = cells.length === 4 ? Number(cells[1]) : undefined;
    const sentences = cells.at(-2)?.matchAll(/`([^`]+)`/g) ?? [];
    return {
      code: cells[0]?.replaceAll("`", "") ?? "",
      status,
      sentences: [...sentences].map(([, sentence]) => sentence as string),
    };
  });

const used = new Set([
  ...Object.keys(STATUS_OF),
  ...sources.flatMap((text) =>
    // Names of settings and columns, and what Node, the framework and clients call their errors, are no codes.
    [
      ...text.matchAll(
        /"(?!HPE_|ERR_|EAI_|FST_|OAUTH_|EXTERNAL_LINKS"|JSON_ARRAY"|KEYPAIR_JWT"|OTEL_|CONNECTION_|YOUR_|API_KEY_|(?:PREVIOUS_)?ADMIN_TOKEN"|DATABASE_URL"|UPDATED_AT")([A-Z]+(?:_[A-Z]+)+)"/g,
      ),
    ].map(([, code]) => code as string),
  ),
]);

describe("docs/errors.md", () => {
  test("docs/errors.md has one row for every error code in the source, and no other rows", () => {
    const described = rows.map((row) => row.code);
    assert.deepEqual(
      [...used].filter((code) => !described.includes(code)),
      [],
      "Add the code to docs/errors.md: its meaning, and what to do.",
    );
    assert.deepEqual(
      described.filter((code) => !used.has(code)),
      [],
      "Remove the unused code from docs/errors.md.",
    );
    assert.equal(new Set(described).size, described.length, "One row for each code.");
  });

  test("docs/errors.md gives the HTTP status of every error code that a request can get", () => {
    const statuses = rows.flatMap(({ code, status }) => (status ? [[code, status]] : []));
    assert.deepEqual(Object.fromEntries(statuses), STATUS_OF);
  });

  test("docs/errors.md quotes only messages that occur in the source", () => {
    for (const { code, sentences } of rows) {
      assert.ok(sentences.length > 0, `${code} needs a sentence.`);
      for (const part of sentences.flatMap((sentence) =>
        sentence.split("…").map((words) => words.trim()),
      )) {
        const isUsed = sources.some((text) => text.includes(part));
        assert.ok(isUsed, `${code}: nothing in src/ says "${part}".`);
      }
    }
  });
});
