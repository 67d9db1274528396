import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { startServer } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";

const server = await startServer();

const EVENT = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };

const opens = async (key: string): Promise<boolean> =>
  (await server.send("POST", "/users/track", EVENT, { key })).status === 201;

const run = promisify(execFile);

const tokenFile = join(await temporaryFolder(), "token");
await writeFile(tokenFile, `${server.adminToken}\n`);

const rapport = (...args: string[]) =>
  run(process.execPath, [
    join(packageRoot(), "dist/bundle/main.js"),
    ...args,
    "--url",
    server.url,
    "--admin-token-file",
    tokenFile,
  ]);

describe("rapport keys", () => {
  const keys = (...args: string[]) => rapport("keys", ...args);

  test("rapport keys creates, lists, rotates and revokes a key of a running server", async () => {
    const workspace = await server.workspace();
    const { stdout: older } = await keys(
      "create",
      workspace.name,
      "ci",
      "--permission",
      "users.track",
    );
    assert.ok(await opens(older.trim()));
    const { stdout: newer, stderr } = await keys("rotate", workspace.name, "ci", "--overlap", "2h");
    assert.match(stderr, /The older secret works until 20/);
    assert.deepEqual([await opens(older.trim()), await opens(newer.trim())], [true, true]);
    const { stdout: list } = await keys("list", workspace.name);
    assert.match(list, /^ci {2}permissions users\.track {2}created 20.* {2}older secret until 20/m);
    await keys("revoke", workspace.name, "ci", "--yes");
    assert.deepEqual([await opens(older.trim()), await opens(newer.trim())], [false, false]);
  });

  test("rapport keys explains why a command fails", async () => {
    const workspace = await server.workspace();
    await assert.rejects(keys("rotate", workspace.name, "nobody"), /There is no API key 'nobody'/);
    await assert.rejects(keys("rotate", workspace.name, "test", "--overlap", "soon"), /30m, 24h/);
  });
});

describe("rapport scim-tokens", () => {
  const tokens = (...args: string[]) => rapport("scim-tokens", ...args);

  const admits = async (token: string, headers: Record<string, string> = {}): Promise<boolean> =>
    (await server.send("GET", "/scim/v2/Users", undefined, { key: token, headers })).status === 200;

  test("rapport scim-tokens creates, lists, rotates and revokes a token of a running server", async () => {
    await server.workspace();
    const origin = { "x-request-origin": "acme.example" };
    const { stdout: made } = await tokens("create", "okta", "--service-origin", "acme.example");
    const older = made.trim();
    assert.deepEqual([await admits(older), await admits(older, origin)], [false, true]);
    const { stdout, stderr } = await tokens("rotate", "okta", "--overlap", "2h");
    const newer = stdout.trim();
    assert.match(stderr, /The older secret works until 20/);
    assert.deepEqual([await admits(older, origin), await admits(newer, origin)], [true, true]);
    const { stdout: list } = await tokens("list");
    assert.match(
      list,
      /^okta {2}origin acme\.example {2}grants manage_company_settings {2}created 20.* {2}older secret until 20/m,
    );
    await tokens("revoke", "okta", "--yes");
    assert.deepEqual([await admits(older, origin), await admits(newer, origin)], [false, false]);
    assert.match((await tokens("list")).stdout, /^okta .* {2}revoked 20/m);
  });

  test("rapport scim-tokens creates a token for a provider that sends no origin header", async () => {
    const { stdout } = await tokens(
      "create",
      "entra",
      "--service-origin",
      "acme.example",
      "--no-require-origin",
    );
    assert.equal(await admits(stdout.trim()), true);
  });
});
