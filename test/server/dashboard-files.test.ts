/* How the files of the dashboard are served; their behaviour is tested with the front end. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startOwnServer } from "../harness.ts";

const PAGE =
  '<!doctype html><script type="module" src="/dashboard/assets/index-AbCd1234.js"></script>';
const SCRIPT = `console.log("dashboard");${" ".repeat(4_000)}`;

const folder = await mkdtemp(join(tmpdir(), "rapport-web-"));
await mkdir(join(folder, "assets"));
await writeFile(join(folder, "index.html"), PAGE);
await writeFile(join(folder, "favicon.svg"), "<svg xmlns='http://www.w3.org/2000/svg'/>");
await writeFile(join(folder, "assets", "index-AbCd1234.js"), SCRIPT);
await writeFile(join(folder, "secret.key"), "no part of the dashboard");

const server = await startOwnServer({ webFolder: folder });

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/dashboard${path}`, { headers });

test("the dashboard's page runs only scripts of this server, cannot be framed and sends no referrer", async () => {
  const { headers } = await get("/");
  const policy = headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'; script-src 'self';/);
  assert.match(policy, /connect-src 'self'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.match(policy, /base-uri 'none'/);
  assert.doesNotMatch(policy, /https?:|unsafe-eval|unsafe-inline|\*/);
  assert.equal(headers.get("referrer-policy"), "no-referrer");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.equal(headers.get("x-frame-options"), "DENY");
});

test("every view of the dashboard has an address that serves its page, without a session", async () => {
  for (const path of ["", "/", "/w/demo/users", "/w/demo/users/ada%2Flovelace?tab=events"]) {
    const response = await get(path);
    assert.equal(response.status, 200, path);
    assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
    assert.equal(response.headers.get("cache-control"), "no-cache");
    assert.equal(await response.text(), PAGE);
  }
});

test("an asset whose name changes with its content is cached for ever, and everything else is requested again", async () => {
  const script = await get("/assets/index-AbCd1234.js");
  assert.equal(script.headers.get("content-type"), "text/javascript; charset=utf-8");
  assert.equal(script.headers.get("cache-control"), "public, max-age=31536000, immutable");
  assert.equal(await script.text(), SCRIPT);
  const icon = await get("/favicon.svg");
  assert.equal(icon.headers.get("content-type"), "image/svg+xml");
  assert.equal(icon.headers.get("cache-control"), "no-cache");
  const etag = (await get("/")).headers.get("etag") ?? "";
  assert.equal((await get("/", { "if-none-match": etag })).status, 304);
});

test("files are sent packed to browsers that unpack them, in no coding that they give a weight of 0", async () => {
  for (const [accepted, sent] of [
    ["gzip, deflate, br", "br"],
    ["gzip", "gzip"],
    ["identity", null],
    ["br;q=0, gzip", "gzip"],
    ["br; q=0.000, gzip;q=0", null],
    ["br;q=0.5", "br"],
  ] as const) {
    const response = await get("/assets/index-AbCd1234.js", { "accept-encoding": accepted });
    assert.equal(response.headers.get("content-encoding"), sent);
    assert.equal(response.headers.get("vary"), "accept-encoding");
    assert.equal(await response.text(), SCRIPT);
  }
});

test("an asset that is missing gets 404, and no path leads out of the folder of the dashboard", async () => {
  assert.equal((await get("/assets/gone-AbCd1234.js")).status, 404);
  for (const path of ["/..%2f..%2fpackage.json", "/%2e%2e/package.json", "/secret.key"]) {
    const text = await (await get(path)).text();
    assert.ok(!text.includes("dependencies") && !text.includes("no part"), path);
  }
});

test("a server without a built dashboard says so in a page", async () => {
  const bare = await startOwnServer({ webFolder: join(folder, "nowhere") });
  const response = await fetch(`${bare.url}/dashboard/`);
  assert.equal(response.status, 200);
  assert.match(await response.text(), /The dashboard is not part of this build/);
});
