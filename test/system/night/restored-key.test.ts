/* A backup holds secrets that are sealed with a key which it does not hold: restoring one says which key is needed. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { freshDatabase } from "../../core/database/fresh-database.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { type ChildServer, type Environment, runCommand, startChild } from "../child-server.ts";

const isCluster = (process.env.TEST_CITUS_WORKERS ?? "") !== "";
const skip = isCluster && "on a cluster each node has a backup of its own";

/** An empty place of the suite's engine, without a key. */
async function emptyPlace(): Promise<Environment> {
  const databaseUrl = await freshDatabase();
  const DATA_DIR = join(await temporaryFolder(), "data");
  return { DATA_DIR, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) };
}

/** Asks for a link to a preference page: its secret is sealed. */
async function linkStatus({ url }: ChildServer, key: string): Promise<number> {
  const path = `${url}/preference_center/v1/0f4e6c1a-7d02-4c55-9a3e-2b8d51c7f6a4/url/ada`;
  return (await fetch(path, { headers: { authorization: `Bearer ${key}` } })).status;
}

const NEEDS_KEY = /^A server does not start on it yet\. .*SECRET_KEY/m;

test("restoring a backup with sealed secrets names the key that is missing, and with that key the secrets open", {
  skip,
}, async () => {
  const place = await emptyPlace();
  const server = await startChild(place);
  const { url, key } = server;
  const event = { external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" };
  await fetch(`${url}/users/track`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ events: [event] }),
  });
  assert.equal(await linkStatus(server, key), 200);
  const file = join(await temporaryFolder(), "sealed.backup");
  const backup = await runCommand(["backup", file], { ...place, RAPPORT_URL: url });
  assert.equal(backup.code, 0, backup.stderr);
  await server.end("SIGTERM");
  const generated = (await readFile(join(place.DATA_DIR as string, "secret-key"), "utf8")).trim();

  const without = await emptyPlace();
  const restored = await runCommand(["restore", file], without);
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(restored.stderr, NEEDS_KEY);
  await assert.rejects(startChild(without), /SECRET_KEY/);

  const place2 = { ...(await emptyPlace()), SECRET_KEY: generated };
  const again = await runCommand(["restore", file], place2);
  assert.equal(again.code, 0, again.stderr);
  assert.doesNotMatch(again.stderr, NEEDS_KEY);
  const second = await startChild(place2);
  assert.equal(await linkStatus(second, key), 200);
  await second.end("SIGTERM");
});
