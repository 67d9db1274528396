/*
 * Secrets that Rapport needs again are stored sealed: how they look in the database, what happens
 * with another key, and how keys change. Servers are stopped and started on one database, which
 * stays open meanwhile: that takes a tenth of the time, and restarts of the engine are tested
 * elsewhere.
 */
import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { serve } from "../../src/server/serve.ts";
import { closeDatabase, databaseOf } from "../core/database/open-engines.ts";
import { testConfig } from "../harness.ts";
import { runCommand } from "./child-server.ts";
import {
  change,
  firstLink,
  LINK_SECRET,
  manifest,
  NEW,
  OLD,
  onOneDatabase,
  PASSWORD,
  refusesPlainValues,
  S3_SECRET,
  STORED,
  SYNCED,
  sealedRows,
  start,
  startCrm,
  statusOf,
  syncOnce,
} from "./sealing-servers.ts";

await startCrm();

describe("secrets that are stored", () => {
  test("appear in no row, no log line and no response, and syncs and links work after a restart", async () => {
    const settings = await onOneDatabase();
    const first = await start(settings(OLD));
    await first.admin("POST", "/admin/v1/apply", manifest());
    const link = await firstLink(first);
    assert.equal(await syncOnce(first), "success");
    for (const path of [
      "/admin/v1/audit",
      "/admin/v1/secret-key",
      "/admin/v1/workspaces/demo/integrations",
      `/admin/v1/workspaces/demo/integrations/${STORED}`,
    ]) {
      await first.admin("GET", path);
    }
    await first.call("GET", "/cdi/integrations");
    await first.stop();

    const database = await databaseOf(settings(OLD));
    const tables = await database.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    const stored: string[] = [];
    for (const { name } of tables) {
      const rows = await database.query(`select to_jsonb(each)::text as row from ${name} each`);
      stored.push(...rows.map((row) => String(row.row)));
    }
    assert.ok(stored.some((row) => row.includes("sealed:1:")));
    for (const place of [...stored, ...first.seen]) {
      for (const secret of [S3_SECRET, PASSWORD, OLD]) {
        assert.ok(!place.includes(secret), place.slice(0, 300));
      }
      assert.doesNotMatch(place, LINK_SECRET);
    }

    const second = await start(settings(OLD));
    assert.equal((await second.get(link)).status, 200);
    assert.equal(await syncOnce(second), "success");
    const { changes } = await second.admin("POST", "/admin/v1/apply", manifest());
    assert.deepEqual(changes, []);
    await second.stop();
  });

  test("a sealed value that is copied to another row does not open", async () => {
    const settings = await onOneDatabase();
    const first = await start(settings(OLD));
    await first.admin("POST", "/admin/v1/apply", manifest());
    await first.stop();
    await change(
      settings(OLD),
      `update integrations set warehouse = jsonb_set(warehouse, '{sealed}',
         (select warehouse->'sealed' from integrations where integration_id = '${STORED}'))
       where integration_id = '${SYNCED}'`,
    );
    const second = await start(settings(OLD));
    assert.equal(
      await syncOnce(second),
      "config_error A stored secret was changed, or copied from another row. " +
        "Declare the integration again with its credentials.",
    );
    assert.deepEqual(await statusOf(second), { current: 1, previous: 0, plain: 0, unreadable: 1 });
    const { changes } = await second.admin("POST", "/admin/v1/apply", manifest());
    assert.deepEqual(
      changes.map((each: any) => [each.action, each.name]),
      [["updated", "CRM"]],
    );
    assert.equal(await syncOnce(second), "success");
    await second.stop();
  });

  test("once everything is sealed, a plain value that a writer of the database puts in its place does not open", async () => {
    const settings = await onOneDatabase();
    const first = await start(settings(OLD));
    await first.admin("POST", "/admin/v1/apply", manifest());
    await firstLink(first);
    await first.stop();
    await refusesPlainValues(settings);
    await change(settings(OLD), "delete from shared_secrets");
    await refusesPlainValues(settings);
  });
});

describe("a server with another key", () => {
  test("a server without the key of stored secrets does not start and says what to do", async () => {
    const settings = await onOneDatabase();
    const first = await start(settings(OLD));
    await first.admin("POST", "/admin/v1/apply", manifest());
    await first.stop();
    await assert.rejects(serve(settings(NEW), undefined, databaseOf(settings(NEW))), {
      message:
        /^The secrets in this database are sealed with the key [0-9a-f]{8}, but SECRET_KEY holds the key [0-9a-f]{8}\. Set SECRET_KEY .* PREVIOUS_SECRET_KEY too\. If the key is lost: npx rapport-server secrets discard/,
    });
    await (await start(settings(OLD))).stop();
  });

  test("a server starts once the secrets of a lost key are erased, and integrations keep their progress", async () => {
    const settings = await onOneDatabase();
    const first = await start(settings(OLD));
    await first.admin("POST", "/admin/v1/apply", manifest());
    const link = await firstLink(first);
    assert.equal(await syncOnce(first), "success");
    await first.stop();
    const { databaseUrl, dataDir } = settings(NEW);
    await closeDatabase(dataDir);
    const discard = (SECRET_KEY: string, ...words: string[]) =>
      runCommand(["secrets", "discard", ...words], {
        DATA_DIR: dataDir,
        DATABASE_URL: databaseUrl ?? "",
        SECRET_KEY,
      });
    assert.match(
      (await discard(NEW)).stderr,
      /stop working and cannot be restored\. .* pass --yes\./,
    );
    assert.match((await discard(OLD, "--yes")).stderr, /The key is not lost/);
    const { code, stdout } = await discard(NEW, "--yes");
    assert.equal(code, 0);
    assert.match(stdout, /^Discarded 1 link secret\.\n/);

    const second = await start(settings(NEW));
    assert.equal((await second.get(link)).status, 404);
    assert.match(await syncOnce(second), /^config_error A stored secret is sealed with a key that/);
    await second.admin("POST", "/admin/v1/apply", manifest());
    assert.equal(await syncOnce(second), "success");
    const listed = await second.call("GET", "/cdi/integrations");
    assert.equal(listed.results[0].last_updated_at, "2026-01-01T00:00:00.000000Z");
    assert.equal((await second.get(await firstLink(second))).status, 200);
    await second.stop();
  });
});

describe("a rotation", () => {
  test("seals everything with the new key; before and after it every server can read and write", async () => {
    const settings = await onOneDatabase();
    const first = await start(settings(OLD));
    await first.admin("POST", "/admin/v1/apply", manifest());
    const link = await firstLink(first);
    await first.stop();
    const before = await sealedRows(settings(OLD));
    assert.equal(before.length, 3);

    const both = await start(settings(NEW, OLD));
    // Servers that have only the old key still run, so the old one is used until the rotation.
    await both.admin("POST", "/admin/v1/apply", manifest("Renamed"));
    assert.deepEqual(await statusOf(both), { current: 0, previous: 3, plain: 0, unreadable: 0 });
    assert.equal(await syncOnce(both), "success");
    assert.equal((await both.get(link)).status, 200);
    assert.equal((await both.admin("POST", "/admin/v1/secret-key/rotate")).resealed, 3);
    assert.equal((await both.admin("POST", "/admin/v1/secret-key/rotate")).resealed, 0);
    assert.deepEqual(await statusOf(both), { current: 3, previous: 0, plain: 0, unreadable: 0 });
    await both.stop();

    await assert.rejects(
      serve(settings(OLD), undefined, databaseOf(settings(OLD))),
      /sealed with the key/,
    );
    const after = await start(settings(NEW));
    assert.equal((await after.get(link)).status, 200);
    assert.equal(await syncOnce(after), "success");
    await after.admin("POST", "/admin/v1/apply", manifest("Renamed again"));
    await after.stop();
    const rows = await sealedRows(settings(NEW));
    for (const { id, secret } of before) {
      assert.ok(
        rows.every((row) => row.secret !== secret),
        id,
      );
    }
  });
});

describe("without SECRET_KEY", () => {
  test("a key is created in the data folder, readable by its owner only, and used from then on", async () => {
    const settings = await onOneDatabase();
    const first = await start(settings(undefined));
    await first.admin("POST", "/admin/v1/apply", manifest());
    const link = await firstLink(first);
    await first.stop();
    const { mode } = await stat(join(settings(undefined).dataDir, "secret-key"));
    assert.equal(mode & 0o777, 0o600);
    const second = await start(settings(undefined));
    assert.equal((await second.get(link)).status, 200);
    await second.stop();
    const warned = [first, second].map(({ seen }) =>
      seen.some((line) => line.includes("SECRET_KEY is not set")),
    );
    assert.deepEqual(warned, [settings(undefined).databaseUrl !== undefined, false]);
  });

  test("no secret is stored in PostgreSQL where DATA_DIR keeps nothing", async (t) => {
    const config = { ...(await testConfig()), secretKey: undefined };
    if (!config.databaseUrl) return t.skip("The embedded engine keeps its key with its data.");
    const server = await start(config);
    await assert.rejects(server.admin("POST", "/admin/v1/apply", manifest()), /Set SECRET_KEY/);
    await server.stop();
    await closeDatabase(config.dataDir);
  });
});
