/* The messages of a start with an unusable data folder. */
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ENGINE } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { runCommand } from "./child-server.ts";

test("a start on an incomplete data folder explains what is missing and what to do", {
  skip: ENGINE !== "embedded",
}, async () => {
  const DATA_DIR = await temporaryFolder();
  assert.equal((await runCommand(["migrate"], { DATA_DIR })).code, 0);
  await rm(join(DATA_DIR, "engine", "global", "pg_control"));
  const { code, stderr } = await runCommand(["serve"], { DATA_DIR, PORT: "0" });
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `rapport: The data folder ${join(DATA_DIR, "engine")} is damaged, or was copied incompletely: ` +
      "global/pg_control missing. Restore a backup, or move the folder away to start with an empty database.\n",
  );
});
