/* Stored secrets of earlier versions, a new key without secrets, and a rotation that fails. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sealingKeyOf } from "../../../src/core/admin/secrets/seal.ts";
import { checkOf, SECRET_KEY } from "../../../src/core/admin/secrets/sealing.ts";
import {
  change,
  firstLink,
  manifest,
  NEW,
  OLD,
  onOneDatabase,
  refusesPlainValues,
  SYNCED,
  start,
  startCrm,
  statusOf,
  syncOnce,
} from "../sealing-servers.ts";

await startCrm();

describe("secrets that are stored", () => {
  test("rows that were stored before there was sealing still open, and are sealed when next written", async () => {
    const settings = await onOneDatabase();
    const first = await start(settings(OLD));
    await first.admin("POST", "/admin/v1/apply", manifest());
    await firstLink(first);
    await first.stop();
    const [entry] = manifest().workspaces[0]?.integrations ?? [];
    await change(
      settings(OLD),
      `update integrations set warehouse = '${JSON.stringify(entry?.warehouse)}'
       where integration_id = '${SYNCED}'`,
    );
    await change(settings(OLD), "update link_keys set secret = 'link_of-before'");
    // Versions that leave plain values write this check value.
    await change(
      settings(OLD),
      `update shared_secrets set check_value = '${checkOf(sealingKeyOf(OLD), true)}' where name = '${SECRET_KEY}'`,
    );
    const second = await start(settings(OLD));
    assert.deepEqual(await statusOf(second), { current: 1, previous: 0, plain: 2, unreadable: 0 });
    const link = await firstLink(second);
    assert.equal(await syncOnce(second), "success");
    await second.admin("POST", "/admin/v1/apply", manifest("Renamed"));
    assert.deepEqual(await statusOf(second), { current: 2, previous: 0, plain: 1, unreadable: 0 });
    await second.admin("POST", "/admin/v1/secret-key/rotate");
    assert.deepEqual(await statusOf(second), { current: 3, previous: 0, plain: 0, unreadable: 0 });
    assert.equal((await second.get(link)).status, 200);
    await second.stop();
    await refusesPlainValues(settings);
  });
});

describe("a server with another key", () => {
  test("an embedded server with a new key starts if no secret is stored yet", async (t) => {
    const settings = await onOneDatabase();
    if (settings(OLD).databaseUrl)
      return t.skip("several-servers.test.ts says what PostgreSQL does");
    await (await start(settings(OLD))).stop();
    await (await start(settings(NEW))).stop();
  });
});

describe("a rotation", () => {
  test("a key rotation that fails halfway changes nothing", async () => {
    const settings = await onOneDatabase();
    const first = await start(settings(OLD));
    await first.admin("POST", "/admin/v1/apply", manifest());
    await firstLink(first);
    await first.stop();
    // The warehouses are sealed first; then the link secrets refuse.
    await change(
      settings(OLD),
      "alter table link_keys add constraint as_before check (created_at < '2000-01-01') not valid",
    );
    const both = await start(settings(NEW, OLD));
    await assert.rejects(both.admin("POST", "/admin/v1/secret-key/rotate"));
    assert.deepEqual(await statusOf(both), { current: 0, previous: 3, plain: 0, unreadable: 0 });
    await both.stop();
    await (await start(settings(OLD))).stop();
  });
});
