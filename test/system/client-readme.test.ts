/*
 * The examples of client/README.md, run as they stand against a real server: a line that ends in a comment prints
 * what the comment says.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { packageRoot } from "../../src/base/package-root.ts";
import { startOwnServer } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";

const README = join(packageRoot(), "client", "README.md");

const text = readFileSync(README, "utf8");
const examples = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""]) => code);

const server = await startOwnServer();
const { key } = await server.workspace();

const folder = await temporaryFolder();
await mkdir(join(folder, "node_modules"), { recursive: true });
await symlink(join(packageRoot(), "client"), join(folder, "node_modules", "rapport-client"));

const run = promisify(execFile);

describe("the README of the client", () => {
  test("the README of the client has at least five examples", () =>
    assert.ok(examples.length >= 5));

  for (const [index, example] of examples.entries()) {
    test(`example ${index + 1} runs and prints what its comments say`, async () => {
      const file = join(folder, `example-${index}.mjs`);
      await writeFile(file, example.replaceAll("http://127.0.0.1:8080", server.url));
      const env = { ...process.env, RAPPORT_KEY: key, ADMIN_TOKEN: server.adminToken };
      const { stdout } = await run(process.execPath, [file], { cwd: folder, env });
      const said = [...example.matchAll(/console\.log\(.*\);? \/\/ (.*)/g)].map(([, what]) => what);
      assert.deepEqual(stdout.trim().split("\n").filter(Boolean), said);
    });
  }

  test("states the size of the package with its dependency", () => {
    const dist = join(packageRoot(), "client", "dist");
    const files = ["client", "operations", "refusal", "retry", "tracker"].map((name) =>
      join(dist, `${name}.js`),
    );
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
