/* Settings and inputs that Rapport refuses, so that an unattended default is never open to others. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readConfig } from "../../../src/server/config.ts";
import { serve } from "../../../src/server/serve.ts";
import { welcomeText } from "../../../src/server/welcome.ts";
import { lastingDatabase, openPrepared } from "../../databases.ts";
import { startOwnServer, testConfig } from "../../harness.ts";

const server = await startOwnServer({ shortestSecret: 24, adminToken: "admin-token-of-this-test" });

const declared = (company: object, workspace: object) => ({
  company: { name: "Test", ...company },
  workspaces: [{ name: "strict", ...workspace }],
});

const apply = (company: object, workspace: object = {}) =>
  server.admin("POST", "/admin/v1/apply", declared(company, workspace));

const keyOf = (length: number) => [{ name: "dev", key: "k".repeat(length), permissions: [] }];

const tokenOf = (length: number) => [
  { name: "idp", token: "t".repeat(length), service_origin: "acme.example" },
];

describe("keys and tokens", () => {
  test("a manifest with an API key under 24 characters is refused with the name of the key", async () => {
    const { status, body } = await apply({}, { api_keys: keyOf(23) });
    assert.equal(status, 400);
    assert.match(body.message, /^The key of the API key 'dev' has 23 characters; .* at least 24/);
    assert.deepEqual(body.path, ["workspaces", 0, "api_keys"]);
  });

  test("a manifest with a SCIM token under 24 characters is refused", async () => {
    const { status, body } = await apply({ scim_tokens: tokenOf(23) });
    assert.equal(status, 400);
    assert.match(body.message, /^The token of the SCIM token 'idp' has 23 characters/);
  });

  test("API keys and SCIM tokens of 24 characters are accepted", async () => {
    const { status } = await apply({ scim_tokens: tokenOf(24) }, { api_keys: keyOf(24) });
    assert.equal(status, 200);
  });

  test("a server with an ADMIN_TOKEN under 24 characters does not start", async () => {
    const config = await testConfig({ adminToken: "a".repeat(23), shortestSecret: 24 });
    await assert.rejects(serve(config), /^Error: ADMIN_TOKEN has 23 characters|ADMIN_TOKEN has 23/);
  });

  test("a manifest with an API key or SCIM token that is the admin token is refused with its name", async () => {
    const key = server.adminToken;
    const asKey = await apply({}, { api_keys: [{ name: "dev", key, permissions: [] }] });
    assert.equal(asKey.status, 400);
    assert.match(asKey.body.message, /^The key of the API key 'dev' is also an admin token/);
    assert.ok(!JSON.stringify(asKey.body).includes(key));
    const previous = { previous_key: key, previous_key_until: "2036-01-01T00:00:00Z" };
    const asPrevious = await apply({}, { api_keys: [{ ...keyOf(24)[0], ...previous }] });
    assert.match(asPrevious.body.message, /'dev' is also an admin token/);
    const [token] = tokenOf(24);
    const asToken = await apply({ scim_tokens: [{ ...token, token: key }] });
    assert.match(asToken.body.message, /^The token of the SCIM token 'idp' is also an admin token/);
  });

  test("a server whose admin token is a key of its database, even a revoked one, does not start", async () => {
    const lasting = await lastingDatabase();
    const first = await startOwnServer({}, undefined, lasting);
    const key = "a-key-that-becomes-a-token";
    const api_keys = [{ name: "dev", key, permissions: [] }];
    await first.admin("POST", "/admin/v1/apply", declared({}, { api_keys }));
    await first.admin("DELETE", "/admin/v1/workspaces/strict/api-keys/dev");
    await first.stop();
    for (const tokens of [{ adminToken: key }, { previousAdminToken: key }]) {
      await assert.rejects(
        startOwnServer(tokens, undefined, lasting),
        /is also an API key or a SCIM token of this database/,
      );
    }
  });

  test("only DATA_DIR=memory: accepts keys and tokens under 24 characters", () => {
    assert.equal(readConfig({}).shortestSecret, 24);
    assert.equal(readConfig({ DATA_DIR: "memory:" }).shortestSecret, 1);
  });
});

test("an app on an unknown platform is refused with the list of platforms", async () => {
  const apps = [{ id: "a", name: "App", platform: "webb" }];
  const { status, body } = await apply({}, { apps });
  assert.equal(status, 400);
  assert.match(body.message, /platform' must be one of android, fire_os, ios, .*web/);
});

describe("a server that other machines can reach", () => {
  test("a server that other machines can reach creates no demo workspace and no key unless DEMO=true", async () => {
    assert.equal(readConfig({ HOST: "0.0.0.0" }).demo, false);
    assert.equal(readConfig({ HOST: "0.0.0.0", DEMO: "true" }).demo, true);
    for (const HOST of ["127.0.0.1", "localhost", "::1"])
      assert.equal(readConfig({ HOST }).demo, true);

    const DATABASE_URL = "postgres://localhost/rapport";
    assert.equal(readConfig({ DATABASE_URL }).demo, false);
    assert.equal(readConfig({ DATABASE_URL, DEMO: "true" }).demo, true);

    const config = await testConfig({ host: "0.0.0.0", demo: false, databaseUrl: undefined });
    const open = await serve(config, undefined, openPrepared(config));
    try {
      const { url, adminToken, demo } = open.welcome;
      assert.equal(demo, undefined);
      const headers = { authorization: `Bearer ${adminToken.secret}` };
      const response = await fetch(`${url}/admin/v1/workspaces`, { headers });
      assert.deepEqual(((await response.json()) as { workspaces: unknown }).workspaces, []);
      const text = welcomeText(open.welcome, config, true);
      assert.match(text, /No demo workspace is created, because 0\.0\.0\.0 may be reachable/);
      assert.doesNotMatch(text, /API key/);
    } finally {
      await open.stop();
    }
  });

  test("PREVIOUS_ADMIN_TOKEN works beside ADMIN_TOKEN, and no other token does", async () => {
    const own = await startOwnServer({ previousAdminToken: "the-earlier-admin-token" });
    const statuses: number[] = [];
    for (const key of [own.adminToken, "the-earlier-admin-token", "another-token"]) {
      statuses.push((await own.send("GET", "/admin/v1/workspaces", undefined, { key })).status);
    }
    assert.deepEqual(statuses, [200, 200, 401]);
  });

  test("metrics listen on a loopback address by default, even if HOST is a public address", () => {
    const config = readConfig({ HOST: "0.0.0.0", METRICS_PORT: "9090" });
    assert.equal(config.metricsHost, "127.0.0.1");
  });
});
