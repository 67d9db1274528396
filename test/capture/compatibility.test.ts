/* docs/compatibility.md lists every public endpoint, with whether it is served or captured. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CAPTURED_PERMISSIONS } from "../../src/core/base/context/permissions.ts";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { pathsOf } from "../../src/core/http/endpoint.ts";
import { PUBLIC_CALLS } from "../../src/features/capture/public-calls.ts";
import { ENDPOINTS } from "../../src/server/assembled.ts";

const page = readFileSync(join(packageRoot(), "docs", "compatibility.md"), "utf8");

/** The calls that the first column of a section lists. */
function listedIn(section: string): string[] {
  const [, text = ""] = page.split(`\n## ${section}\n`);
  const [rows = ""] = text.split("\n## ");
  return [...rows.matchAll(/^\| `((?:GET|POST|PUT|PATCH|DELETE) [^`]+)`/gm)].map(
    ([, call = ""]) => call,
  );
}

const asWritten = (path: string) => path.replaceAll(/:(\w+)/g, "{$1}");

test("the compatibility page lists every endpoint that takes an API key as served, and no other", () => {
  const listed = listedIn("Served");
  const served = ENDPOINTS.map(({ contract }) => contract).filter(
    ({ access }) => access.by === "key",
  );
  const spellings = served.map((contract) =>
    pathsOf(contract).map((path) => `${contract.method} ${asWritten(path)}`),
  );
  // A second method or spelling may be in the remark of the first.
  const unlisted = spellings.filter((names) => !names.some((name) => listed.includes(name)));
  assert.deepEqual(unlisted, [["POST /preference_center/v1/{preference_center_id}"]]);
  assert.deepEqual(
    listed.filter((call) => !spellings.flat().includes(call)),
    [],
  );
});

test("the compatibility page lists every captured call with its permission", () => {
  assert.deepEqual(
    listedIn("Captured"),
    PUBLIC_CALLS.map(([method, path]) => `${method} ${asWritten(path)}`),
  );
  for (const [method, path, permission] of PUBLIC_CALLS) {
    assert.ok(page.includes(`| \`${method} ${asWritten(path)}\` | \`${permission}\` |`), path);
  }
});

test("no captured call replaces a served one, and each has a separate permission", () => {
  const served = new Set(
    ENDPOINTS.flatMap(({ contract }) =>
      pathsOf(contract).map((path) => `${contract.method} ${path}`),
    ),
  );
  assert.deepEqual(
    PUBLIC_CALLS.filter(([method, path]) => served.has(`${method} ${path}`)),
    [],
  );
  assert.deepEqual(
    PUBLIC_CALLS.map(([, , permission]) => permission).sort(),
    [...CAPTURED_PERMISSIONS].sort(),
  );
});
