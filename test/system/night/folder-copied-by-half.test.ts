/* A data folder of which a copy ended early. */
import assert from "node:assert/strict";
import { cp, readdir, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ENGINE } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { post, runCommand, startChild } from "../child-server.ts";

const isEmbedded = ENGINE === "embedded";

test("a data folder that was copied by half is refused with a message, and the whole one still starts", {
  skip: !isEmbedded && "PostgreSQL has no data folder",
}, async () => {
  const DATA_DIR = await temporaryFolder();
  const server = await startChild({ DATA_DIR });
  const attributes = [{ external_id: "ada", seen: true }];
  assert.equal((await post(`${server.url}/users/track`, server.key, { attributes })).status, 201);
  await server.end("SIGTERM");

  const copy = await temporaryFolder();
  await cp(DATA_DIR, copy, { recursive: true });
  // The copy ended within the log of the engine.
  const log = join(copy, "engine", "pg_wal");
  for (const name of await readdir(log)) {
    if ((await stat(join(log, name))).isFile()) await truncate(join(log, name), 0);
  }
  const { code, stderr } = await runCommand(["serve"], { DATA_DIR: copy, PORT: "0" });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^rapport: The data folder .* cannot be opened and may be damaged .*Restore a backup/,
  );

  const again = await startChild({ DATA_DIR });
  const { body } = await post(`${again.url}/users/export/ids`, again.key, {
    external_ids: ["ada"],
  });
  assert.equal(body.users.length, 1);
});
