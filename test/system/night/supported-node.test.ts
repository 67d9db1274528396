/*
 * The first steps of a new user, on one Node: start in a new folder, send the README's first
 * request, track users, back up while a client writes, and restore. `TEST_NODE` names another
 * Node's binary than the one that runs the tests:
 *
 *     TEST_NODE=/opt/node-26/bin/node npm test -- supported-node
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../../../src/core/base/package-root.ts";
import { AWKWARD_TEXT } from "../../awkward-text.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { type ChildServer, NODE, post, runCommand, startChild } from "../child-server.ts";

const textOf = (path: string): string => readFileSync(join(packageRoot(), path), "utf8");

const ADMIN_TOKEN = "the-admin-token-of-these-tests";
const USERS = 200;
const USERS_PER_REQUEST = 25;
const TIME = "2026-01-01T12:00:00Z";

/** The path and the body of the first request in the README. */
function firstRequest(): { path: string; body: unknown; answer: unknown } {
  const [, path = "", body = "", answer = ""] =
    /^curl http:\/\/127\.0\.0\.1:8080(\S+) .*?-d '(\{.*?\})'\n```\n\n```json\n(.*?)\n```/ms.exec(
      textOf("README.md"),
    ) ?? [];
  return { path, body: JSON.parse(body), answer: JSON.parse(answer) };
}

async function trackUsers({ url, key }: ChildServer): Promise<void> {
  for (let first = 0; first < USERS; first += USERS_PER_REQUEST) {
    const ids = Array.from({ length: USERS_PER_REQUEST }, (_, n) => `user-${first + n}`);
    const { status } = await post(`${url}/users/track`, key, {
      attributes: ids.map((external_id) => ({ external_id, first_name: AWKWARD_TEXT })),
      events: ids.map((external_id) => ({ external_id, name: "seen", time: TIME })),
    });
    assert.equal(status, 201);
  }
}

/** Writes its own users until it is stopped. */
function keepWriting({ url, key }: ChildServer): () => Promise<number> {
  let isWriting = true;
  let written = 0;
  const ended = (async () => {
    while (isWriting) {
      const attributes = [{ external_id: `writer-${written}`, first_name: AWKWARD_TEXT }];
      const { status } = await post(`${url}/users/track`, key, { attributes });
      assert.equal(status, 201);
      written += 1;
    }
    return written;
  })();
  return () => {
    isWriting = false;
    return ended;
  };
}

/** The exported users and events, without the other client's. */
async function exportFrom({ url }: ChildServer, folder: string, name: string): Promise<string[]> {
  const lines: string[] = [];
  for (const kind of ["users", "events"]) {
    const file = join(folder, `${name}-${kind}.ndjson`);
    const { code, stderr } = await runCommand(["export", kind, file], {
      ADMIN_TOKEN,
      RAPPORT_URL: url,
    });
    assert.equal(code, 0, stderr);
    lines.push(...(await readFile(file, "utf8")).split("\n").filter(Boolean));
  }
  return lines.filter((line) => !line.includes('"external_id":"writer-')).sort();
}

const version = execFileSync(NODE, ["--version"], { encoding: "utf8" }).trim();

test(`on Node ${version} a new folder serves, and what is backed up during writes is restored unchanged`, async () => {
  const folder = await temporaryFolder();
  const place = { DATA_DIR: join(folder, "data"), ADMIN_TOKEN };
  const server = await startChild(place);
  const { path, body, answer } = firstRequest();
  assert.deepEqual((await post(`${server.url}${path}`, server.key, body)).body, answer);
  await trackUsers(server);
  const stopWriting = keepWriting(server);
  const file = join(folder, "rapport.backup");
  const backup = await runCommand(["backup", file], { ...place, RAPPORT_URL: server.url });
  assert.ok((await stopWriting()) > 0);
  assert.equal(backup.code, 0, backup.stderr);
  const exported = await exportFrom(server, folder, "before");
  assert.equal(exported.length, 2 * USERS + 2);
  await server.end("SIGTERM");

  const empty = { DATA_DIR: join(folder, "restored"), ADMIN_TOKEN };
  const restore = await runCommand(["restore", file], empty);
  assert.equal(restore.code, 0, restore.stderr);
  const restored = await startChild(empty);
  assert.deepEqual(await exportFrom(restored, folder, "after"), exported);
  assert.equal((await restored.end("SIGTERM")).stderr, "");
});

describe("the oldest Node that is supported", () => {
  const { engines } = JSON.parse(textOf("package.json")) as { engines: { node: string } };
  const oldest = engines.node.replace(/^>=/, "");
  const [major = 0, minor = 0] = oldest.split(".").map(Number);

  /** The output of `rapport --version` on a Node with another version number. */
  const asVersion = (node: string) => {
    const preload = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${node}" } })`;
    return runCommand(["--version"], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}`,
    });
  };

  test("an older Node is refused in one sentence that says which one is needed", async () => {
    for (const node of [`${major}.${minor - 1}.9`, `${major - 2}.99.0`, "8.17.0"]) {
      const { code, stdout, stderr } = await asVersion(node);
      const sentence = `rapport: Rapport needs Node ${oldest} or newer, and this is Node ${node}: install a current one from https://nodejs.org.\n`;
      assert.deepEqual([code, stdout, stderr], [1, "", sentence]);
    }
    for (const node of [`${oldest}.0`, `${major + 2}.0.0`, `${major + 7}.1.0`]) {
      assert.equal((await asVersion(node)).code, 0, node);
    }
  });

  test("the executable imports nothing before it has looked at the version of Node", () => {
    assert.doesNotMatch(textOf("dist/bundle/main.js"), /^import\s*["{*\w]/m);
  });

  test("the documents name the versions that are supported", () => {
    const both = `${oldest}, 22, 24 and 26`;
    for (const page of ["README.md", "CONTRIBUTING.md"])
      assert.ok(textOf(page).includes(both), page);
    for (const page of ["docs/ci.md", "docs/operations/install.md"]) {
      assert.match(textOf(page), new RegExp(`Node(?:\\.js)? ${oldest} or newer`), page);
    }
    assert.match(textOf("Dockerfile"), /^ARG NODE_IMAGE=node:24-bookworm-slim$/m);
    assert.doesNotMatch(textOf("Dockerfile"), /^FROM node:(?!24-)/m);
  });
});
