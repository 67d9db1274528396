/* The examples for node:test. For each change they run in a project with the packed tarballs (.ci/steps.sh). */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { packageRoot } from "../../../src/core/base/package-root.ts";

const run = promisify(execFile);

test("the examples for node:test pass, with the packages' own names", async () => {
  const folder = join(packageRoot(), "examples", "node-test");
  const examples = ["sign-up", "inactive"].map((name) => join(folder, `${name}.test.js`));
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, TEST_DATABASE_URL: undefined };
  const { stdout } = await run(process.execPath, ["--test", ...examples], { env });
  assert.match(stdout, /pass 2/);
});
