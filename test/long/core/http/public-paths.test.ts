/* Repeated slashes and one at the end of a path: docs/compatibility.md#paths */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../../../../src/core/base/package-root.ts";
import { pathsOf } from "../../../../src/core/http/endpoint.ts";
import { ENDPOINTS } from "../../../../src/server/assembled.ts";
import { startServer } from "../../../harness.ts";

const server = await startServer();
const workspace = await server.workspace();

/** Spellings of a path that mean the same. */
const spellingsOf = (path: string): string[] => [
  `/${path}`,
  `////${path}`,
  `${path}/`,
  `${path}//`,
  `/${path}/`,
  path.replaceAll("/", "//"),
];

const event = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };

describe("a path of the public API", () => {
  test("repeated slashes and one at the end change nothing about a call", async () => {
    for (const path of spellingsOf("/users/track")) {
      const answer = await workspace.call("POST", path, { events: [event] });
      assert.equal(answer.status, 201, path);
    }
    for (const path of spellingsOf("/cdi/integrations")) {
      for (const method of ["GET", "HEAD"]) {
        assert.equal((await workspace.call(method, `${path}?x=//y/`)).status, 200, path);
      }
    }
    for (const path of spellingsOf("/campaign/translations")) {
      assert.equal((await workspace.call("GET", path)).status, 400, path);
    }
    const other = await workspace.call("GET", "//users/track/");
    assert.equal(other.status, 405);
    assert.equal(other.headers.get("allow"), "POST");
  });

  test("permission, limit and live requests see one path for every spelling", async () => {
    const limited = await server.workspace({
      api_keys: [
        { name: "track", key: "key-of-slashes", permissions: ["users.track"] },
        { name: "other", key: "other-key-of-slashes", permissions: ["users.delete"] },
      ],
      settings: { rate_limits: { "users.track": { requests: 3, per_seconds: 3_600 } } },
    });
    const send = (path: string, key: string) =>
      server.send("POST", path, { events: [event] }, { key });
    for (const path of spellingsOf("/users/track")) {
      assert.equal((await send(path, "other-key-of-slashes")).status, 403, path);
    }
    const statuses: number[] = [];
    for (const path of spellingsOf("/users/track")) {
      statuses.push((await send(path, "key-of-slashes")).status);
    }
    assert.deepEqual(statuses, [201, 201, 201, 429, 429, 429]);
    const live = await server.admin("GET", `/admin/v1/workspaces/${limited.name}/requests`);
    const paths = new Set(live.body.requests.map(({ path }: { path: string }) => path));
    assert.deepEqual([...paths], ["/users/track"]);
  });

  test("a retry with an Idempotency-Key may spell the path in another way", async () => {
    const options = { headers: { "idempotency-key": "slashes" } };
    const body = { attributes: [{ external_id: "retry", visits: { inc: 1 } }] };
    for (const path of spellingsOf("/users/track")) {
      assert.equal((await workspace.call("POST", path, body, options)).status, 201);
    }
    const { custom_attributes } = await workspace.profile({ external_ids: ["retry"] });
    assert.deepEqual(custom_attributes, { visits: 1 });
  });

  test("nothing in a path is decoded", async () => {
    for (const path of ["/%2Fusers/track", "/users%2Ftrack", "/users/track%2F"]) {
      assert.equal((await workspace.call("POST", path, { events: [event] })).status, 404, path);
    }
    const escaped = await workspace.call("POST", "//%75sers/track", { events: [event] });
    assert.equal(escaped.status, 400);
  });

  test("an empty parameter of a path stays 404, and never means a path without it", async () => {
    const paths: [method: string, path: string][] = [
      ["POST", "/preference_center/v1/"],
      ["PUT", "//preference_center/v1//"],
      ["GET", "/preference_center/v1//url/ada"],
      ["GET", "/preference_center/v1/main/url/"],
      ["GET", "/cdi/integrations//job_sync_status"],
      ["POST", "/cdi/integrations//sync"],
      ["DELETE", "//catalogs//items"],
      ["DELETE", "/catalogs//items/tea"],
      ["DELETE", "/catalogs///items//"],
    ];
    const capturing = await server.workspace({ settings: { capture_unsupported: true } });
    for (const [method, path] of paths) {
      assert.equal((await capturing.call(method, path, {})).status, 404, `${method} ${path}`);
    }
    const created = await capturing.call("POST", "//preference_center/v1", {});
    assert.equal(created.status, 400);
    for (const path of ["/catalogs/", "//catalogs", "/catalogs/shop/items//tea/"]) {
      assert.equal((await capturing.call("GET", path)).status, 200, path);
    }
  });

  test("thousands of slashes are read in no time worth measuring", async () => {
    const path = `${"/".repeat(20_000)}users${"/".repeat(20_000)}track`;
    assert.equal((await workspace.call("POST", path, { events: [event] })).status, 201);
  });
});

/** The rules of a proxy that let nobody from outside through, as deploy/nginx.conf has them. */
const GUARDED = [
  ...readFileSync(join(packageRoot(), "deploy", "nginx.conf"), "utf8").matchAll(
    /location ~ (\^\S+) \{[^}]*deny all/g,
  ),
].map(([, pattern = ""]) => new RegExp(pattern));

describe("a path that proxies guard", () => {
  test("a path outside the public API is served only exactly as it is declared", async () => {
    const publicPaths = new Set(
      ENDPOINTS.filter(({ contract }) => contract.access.by === "key").flatMap(({ contract }) =>
        pathsOf(contract),
      ),
    );
    const all = new Set(ENDPOINTS.flatMap(({ contract }) => pathsOf(contract)));
    const isOpen = (path: string) => /^\/dashboard\b/.test(path);
    let tried = 0;
    for (const { contract } of ENDPOINTS) {
      for (const declared of pathsOf(contract)) {
        if (publicPaths.has(declared) || declared.includes("*")) continue;
        const path = declared.replaceAll(/:\w+/g, "any");
        for (const spelling of spellingsOf(path)) {
          // The pages of the dashboard have paths of their own: docs/dashboard.md
          if (all.has(spelling) || isOpen(spelling)) continue;
          const answer = await server.send(contract.method, spelling, undefined, {
            key: server.adminToken,
          });
          const what = `${contract.method} ${spelling}: ${answer.status}`;
          assert.ok([404, 405].includes(answer.status), what);
          tried++;
        }
      }
    }
    assert.ok(tried > 500);
  });

  test("no spelling of a path reaches what deploy/nginx.conf denies to the outside", async () => {
    assert.equal(GUARDED.length, 2);
    const isDenied = (path: string) => GUARDED.some((pattern) => pattern.test(path));
    const guarded = ["/admin/v1/workspaces", "/admin/v1/audit", "/dashboard"];
    for (const path of guarded) assert.ok(isDenied(path));
    for (const path of guarded.flatMap(spellingsOf)) {
      const answer = await server.send("GET", path, undefined, { key: server.adminToken });
      assert.ok(isDenied(path) || answer.status === 404, `${path}: ${answer.status}`);
    }
  });
});
