/* The rules of migrations/README.md, checked on the files themselves. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { migrationHashes } from "../../../src/core/database/migrations/migrate.ts";
import {
  extendRecord,
  parseRecord,
} from "../../../src/core/database/migrations/migration-record.ts";

const FOLDER = join(packageRoot(), "migrations");

const FILES = readdirSync(FOLDER).filter((name) => name.endsWith(".sql"));

test("every migration has a unique number and a descriptive name", () => {
  for (const name of FILES) assert.match(name, /^\d{4}-[a-z0-9-]+\.sql$/);
  const numbers = FILES.map((name) => name.slice(0, 4));
  assert.equal(new Set(numbers).size, numbers.length);
});

test("every migration declares in its first line whether the previous version keeps working", () => {
  const declaration = /^-- alongside the previous version: (?:safe|unsafe, because .{10,})$/;
  for (const name of FILES) {
    const [first = ""] = readFileSync(join(FOLDER, name), "utf8").split("\n", 1);
    assert.match(first, declaration, `${name} must begin as migrations/README.md says.`);
  }
});

test("a recorded migration never changes", async () => {
  const record = readFileSync(join(FOLDER, "SHA256SUMS"), "utf8");
  assert.equal(
    record,
    extendRecord(parseRecord(record), await migrationHashes()),
    "Run `npm run migrations:record` after adding a migration, " +
      "or after editing the baseline before the first release.",
  );
});

test("the record of migrations accepts new files and an edited baseline, and no other change", () => {
  const recorded = new Map([
    ["0001-baseline.sql", "a"],
    ["0002-more.sql", "b"],
  ]);
  const files = new Map([...recorded, ["0001-baseline.sql", "edited"], ["0003-new.sql", "c"]]);
  assert.deepEqual(parseRecord(extendRecord(recorded, files)), files);
  const appendOnly = /^Migrations are append-only, but 0002-more\.sql changed\./;
  for (const [change, expected] of [
    [new Map([...files, ["0002-more.sql", "edited"]]), { message: appendOnly }],
    [new Map([...files].filter(([name]) => name !== "0002-more.sql")), { message: appendOnly }],
  ] as const) {
    assert.throws(() => extendRecord(recorded, change), expected);
  }
});
