/*
 * This version serves a data folder and a backup of an earlier one unchanged. test/fixtures/earlier-version has
 * both, written by commit 5e78ba1 (migrations up to 0010), and its responses to requests about them. A response
 * may have more members now, but keeps the earlier ones. The backup restores into the earlier schema before it is
 * migrated, so on PostgreSQL it stands for a database of that version.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { freshDatabase } from "../core/database/fresh-database.ts";
import { ENGINE, TEST_SECRET_KEY } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { type Environment, post, runCommand, startChild } from "./child-server.ts";

const FIXTURES = join(packageRoot(), "test", "fixtures", "earlier-version");

const TOKENS = {
  key: "api-key-of-the-earlier-version",
  admin: "admin-token-of-the-earlier-version",
  scim: "scim-token-of-the-earlier-version",
};

const SETTINGS = { ADMIN_TOKEN: TOKENS.admin, SECRET_KEY: TEST_SECRET_KEY, DEMO: "false" };

/** A request to the earlier version, and its response. */
interface Call {
  readonly by: keyof typeof TOKENS;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
  readonly response: unknown;
}

const calls: readonly Call[] = readFileSync(join(FIXTURES, "responses.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

async function send(url: string, { by, method, path, body }: Omit<Call, "status" | "response">) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKENS[by]}`,
      "x-request-origin": "acme.example",
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, response: (await response.json()) as any };
}

/** The members of a value that the expected one has too, at every depth. */
function partLike(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    // Lists have Rapport's ready permission sets too, since there are any.
    const own = actual.filter((each) => each?.ready !== true);
    return own.map((each, index) => partLike(each, expected[index]));
  }
  const areObjects = [actual, expected].every((each) => typeof each === "object" && each !== null);
  if (!areObjects || Array.isArray(actual) || Array.isArray(expected)) return actual;
  const members = Object.entries(actual as object).filter(([name]) =>
    Object.hasOwn(expected as object, name),
  );
  return Object.fromEntries(
    members.map(([name, value]) => [name, partLike(value, (expected as any)[name])]),
  );
}

/** Reads everything back, then writes to it and opens a secret that the earlier version sealed. */
async function isServed(environment: Environment): Promise<void> {
  const server = await startChild(environment);
  for (const { status, response, ...call } of calls) {
    const now = await send(server.url, call);
    const name = `${call.method} ${call.path}`;
    assert.equal(now.status, status, name);
    assert.deepEqual(partLike(now.response, response), response, name);
  }

  const audit = await send(server.url, {
    by: "admin",
    method: "GET",
    path: "/admin/v1/audit/verify",
  });
  assert.equal(audit.response.intact, true, JSON.stringify(audit.response));

  const attributes = [{ external_id: "ada", logins: { inc: 1 } }];
  const tracked = await post(`${server.url}/users/track`, TOKENS.key, { attributes });
  assert.equal(tracked.status, 201);
  const wanted = { external_ids: ["ada"], fields_to_export: ["custom_attributes"] };
  const { body } = await post(`${server.url}/users/export/ids`, TOKENS.key, wanted);
  assert.equal(body.users[0].custom_attributes.logins, 4);

  const centers = await send(server.url, {
    by: "key",
    method: "GET",
    path: "/preference_center/v1/list",
  });
  const id = centers.response.preference_centers[0].preference_center_api_id;
  const link = await send(server.url, {
    by: "key",
    method: "GET",
    path: `/preference_center/v1/${id}/url/ada`,
  });
  const page = await fetch(link.response.preference_center_url);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /Newsletter/);
  assert.equal((await server.end("SIGTERM")).code, 0);
}

test("a data folder that an earlier version wrote is served unchanged", {
  skip: ENGINE !== "embedded",
}, async () => {
  const DATA_DIR = join(await temporaryFolder(), "data");
  mkdirSync(DATA_DIR, { mode: 0o700 });
  const input = brotliDecompressSync(readFileSync(join(FIXTURES, "data.tar.br")));
  execFileSync("tar", ["-x", "-C", DATA_DIR], { input });
  await isServed({ ...SETTINGS, DATA_DIR });
});

test("a backup of an earlier version is refused by a database that has a later schema, in words", {
  skip: ENGINE !== "postgres",
}, async () => {
  const place = { ...SETTINGS, DATABASE_URL: (await freshDatabase()) ?? "" };
  assert.equal((await runCommand(["migrate"], place)).code, 0);
  const file = join(FIXTURES, "rapport.backup");
  const { code, stderr } = await runCommand(["restore", "--unsigned", file], place);
  assert.equal(code, 1);
  assert.match(stderr, /The database has a later schema than the backup\. Restore into an empty/);
});

test("a backup that an earlier version wrote is restored and served unchanged", async () => {
  const DATA_DIR = join(await temporaryFolder(), "data");
  const databaseUrl = await freshDatabase();
  const place = { ...SETTINGS, DATA_DIR, ...(databaseUrl && { DATABASE_URL: databaseUrl }) };
  // Backups of that version have no signature.
  const file = join(FIXTURES, "rapport.backup");
  const { code, stderr } = await runCommand(["restore", "--unsigned", file], place);
  assert.equal(code, 0, stderr);
  await isServed(place);
});
