/* The requirements of `npm test`: Node, npm and a shell. */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../../stored-rows.ts";

/** They start servers, and use `ps`, `promtool`, `curl` and a browser if they are installed. */
const FILES = ["system/workers", "system/monitoring", "system/guides", "browser/dashboard-pages"];

test("tests pass on a machine with only Node, npm and a shell", async () => {
  const folder = await temporaryFolder();
  for (const program of ["node", "npm", "npx", "sh", "bash"]) {
    const place = execFileSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" });
    symlinkSync(place.trim(), join(folder, program));
  }
  // A separate run, on the embedded engine.
  const ofThisRun = /^(?:TEST|NODE_TEST)_/;
  const environment = Object.entries(process.env).filter(([name]) => !ofThisRun.test(name));
  const suite = join(import.meta.dirname, "../../suite/suite.js");
  const { status, stdout, stderr } = spawnSync(process.execPath, [suite, ...FILES], {
    env: {
      ...Object.fromEntries(environment),
      PATH: folder,
      CHROMIUM: join(folder, "none"),
      // Each would import the server and start one.
      TEST_PROCESSES: "1",
    },
    encoding: "utf8",
  });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /ℹ pass [1-9]/);
});
