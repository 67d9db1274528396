/*
 * The examples of client/README.md, run unchanged against a real server: a line that ends in a
 * comment prints the comment. A receiver of webhooks gets a delivery.
 */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { Webhook } from "standardwebhooks";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { freePort } from "../free-port.ts";
import { startOwnServer } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";

const README = join(packageRoot(), "client", "README.md");

const text = readFileSync(README, "utf8");
const examples = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => code);

const server = await startOwnServer();
const { key } = await server.workspace({ settings: { change_feed: true } });

const folder = await temporaryFolder();
await mkdir(join(folder, "node_modules"), { recursive: true });
await symlink(join(packageRoot(), "client"), join(folder, "node_modules", "rapport-client"));

const run = promisify(execFile);

/** The output of a webhook's receiver that gets a delivery, after one that was changed. */
async function outputOfReceiver(file: string): Promise<string> {
  const port = await freePort();
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: { ...process.env, PORT: `${port}`, WEBHOOK_SECRET: secret },
    stdio: ["ignore", "pipe", "ignore"],
  });
  let printed = "";
  child.stdout.on("data", (text) => {
    printed += text;
  });
  const ended = once(child, "close");
  try {
    const body = JSON.stringify({ changes: [{ type: "event.logged" }] });
    const now = new Date();
    const headers = {
      "webhook-id": "msg_1",
      "webhook-timestamp": `${Math.floor(now.getTime() / 1_000)}`,
      "webhook-signature": new Webhook(secret).sign("msg_1", now, body),
    };
    for (const [sent, status] of [
      [`${body} `, 500],
      [body, 204],
    ] as const) {
      const response = await fetchOnceListening(port, { method: "POST", headers, body: sent });
      assert.equal(response.status, status);
    }
  } finally {
    child.kill();
    await ended;
  }
  return printed;
}

async function fetchOnceListening(port: number, request: RequestInit): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await fetch(`http://127.0.0.1:${port}`, request);
    } catch (error) {
      if (attempt === 600) throw error;
      await sleep(50);
    }
  }
}

describe("the README of the client", () => {
  test("the README of the client has at least five examples", () =>
    assert.ok(examples.length >= 5));

  for (const [index, example] of examples.entries()) {
    test(`example ${index + 1} runs and prints what its comments say`, async () => {
      const file = join(folder, `example-${index}.mjs`);
      await writeFile(file, example.replaceAll("http://127.0.0.1:8080", server.url));
      const env = { ...process.env, RAPPORT_KEY: key, ADMIN_TOKEN: server.adminToken };
      const stdout = example.includes("createServer(")
        ? await outputOfReceiver(file)
        : (await run(process.execPath, [file], { cwd: folder, env })).stdout;
      const said = [...example.matchAll(/console\.log\(.*\);? \/\/ (.*)/g)].map(([, what]) => what);
      assert.deepEqual(stdout.trim().split("\n").filter(Boolean), said);
    });
  }

  test("states the size of the package with its dependency", () => {
    const dist = join(packageRoot(), "client", "dist");
    const files = readdirSync(dist)
      .filter((name) => name.endsWith(".js"))
      .map((name) => join(dist, name));
    const fetch = join(packageRoot(), "node_modules", "openapi-fetch", "dist", "index.mjs");
    const code = [...files, fetch].map((file) => readFileSync(file, "utf8")).join("\n");
    const [, kilobytes, compressed] =
      /(\d+) KB of JavaScript.*?(\d+) KB\s+compressed/s.exec(text) ?? [];
    assert.ok(code.length <= Number(kilobytes) * 1_024, `${code.length} bytes`);
    assert.ok(
      gzipSync(code).length <= Number(compressed) * 1_024,
      `${gzipSync(code).length} bytes`,
    );
  });
});
