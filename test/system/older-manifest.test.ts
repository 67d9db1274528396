/*
 * Servers with different manifests on one database, started one after the other: the older one undoes nothing. The database
 * stays open meanwhile, which takes a tenth of the time.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import type { Config } from "../../src/server/config.ts";
import { serve } from "../../src/server/serve.ts";
import { closeDatabase, databaseOf } from "../core/database/open-engines.ts";
import { testConfig } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";

/** A database, and a way to start a server with a manifest there, to look at its keys, and to stop it. */
async function newDatabase() {
  let folder = "";
  // Registered before the folder and the database are made, because hooks run in order.
  after(() => closeDatabase(folder));
  folder = await temporaryFolder();
  const config = await testConfig({ dataDir: folder, logLevel: "info" });
  return async (manifest: object, more: Partial<Config> = {}) => {
    const path = join(folder, "manifest.json");
    await writeFile(path, JSON.stringify(manifest));
    const lines: string[] = [];
    const settings = { ...config, manifest: path, ...more };
    const log = { write: (line: string) => void lines.push(line) };
    const server = await serve(settings, log, databaseOf(settings));
    const { url, adminToken } = server.welcome;
    const response = await fetch(`${url}/admin/v1/workspaces/shop/api-keys`, {
      headers: { authorization: `Bearer ${adminToken.secret}` },
    });
    const { api_keys } = (await response.json()) as { api_keys: any[] };
    await server.stop();
    const valid = api_keys.filter((key) => key.revoked_at === null);
    return {
      keys: valid.map((key) => key.name).sort(),
      // On PostgreSQL the first start also prints its migrations.
      log: lines
        .filter((line) => line.includes("manifest"))
        .map((line) => JSON.parse(line))
        .filter(({ msg }) => msg !== "migrated"),
    };
  };
}

const manifestOf = (names: readonly string[], version?: number) => ({
  ...(version !== undefined && { version }),
  company: { name: "Acme" },
  workspaces: [
    {
      name: "shop",
      api_keys: names.map((name) => ({
        name,
        key: `a-key-of-24-characters-${name}`,
        permissions: ["all"],
      })),
    },
  ],
});

describe("a manifest that a newer one replaced", () => {
  test("a server that starts with an older manifest does not apply it and says so, unless it is forced", async () => {
    const start = await newDatabase();
    const first = await start(manifestOf(["app"]));
    assert.deepEqual(first.keys, ["app"]);
    assert.match(first.log[0].msg, /^manifest applied$/);
    assert.ok(first.log[0].changes.includes("created api_key app in shop"), first.log[0].changes);
    assert.deepEqual((await start(manifestOf(["app", "new"]))).keys, ["app", "new"]);

    const old = await start(manifestOf(["app"]));
    assert.deepEqual(old.keys, ["app", "new"]);
    assert.equal(old.log[0].level, "warn");
    assert.match(
      old.log[0].msg,
      /^The manifest is not applied\. A newer manifest was applied on .*--force/,
    );

    const again = await start(manifestOf(["app", "new"]));
    assert.deepEqual([again.keys, again.log[0].count], [["app", "new"], 0]);
    const forced = await start(manifestOf(["app"]), { manifestForce: true });
    assert.deepEqual(forced.keys, ["app"]);
    assert.ok(forced.log[0].changes.some((change: string) => /api_key new in shop/.test(change)));
    // Now it is the newest.
    assert.deepEqual((await start(manifestOf(["app"]))).keys, ["app"]);
  });

  test("a manifest with a lower version than the applied one is not applied, even if it never was", async () => {
    const start = await newDatabase();
    assert.deepEqual((await start(manifestOf(["app", "new"], 2))).keys, ["app", "new"]);
    const lower = await start(manifestOf(["app"], 1));
    assert.deepEqual(lower.keys, ["app", "new"]);
    assert.match(lower.log[0].msg, /A newer manifest \(version 2\) was applied/);
    assert.deepEqual((await start(manifestOf(["app"], 3))).keys, ["app"]);
    assert.deepEqual((await start(manifestOf(["app", "new"], 4))).keys, ["app", "new"]);
  });
});
