/*
 * The archives with Node are written, and one of them is started where there is nothing else. It takes npm's packages of Node
 * and two minutes, so that it runs only if TEST_ARCHIVE is set: in the night.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { freePort } from "../free-port.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { until } from "../until.ts";

const LARGEST = 60_000_000;

/** What the header of a binary says of its machine (ELF, e_machine). */
const MACHINES = { x64: 62, arm64: 183 } as const;

describe("the archives", {
  skip: process.env.TEST_ARCHIVE === undefined && "TEST_ARCHIVE is not set",
}, async () => {
  if (process.env.TEST_ARCHIVE === undefined) return;
  const folder = await temporaryFolder();
  const archive = (architecture: string) => join(folder, `rapport-linux-${architecture}.tar.gz`);
  execFileSync(process.execPath, [join(packageRoot(), "dist", "build", "archive.js"), folder], {
    encoding: "utf8",
  });

  for (const [architecture, machine] of Object.entries(MACHINES)) {
    test(`the archive for ${architecture} takes at most 60 MB, and has Node for it and the licences of all it holds`, async () => {
      const root = join(folder, architecture);
      await mkdir(root);
      assert.ok(statSync(archive(architecture)).size <= LARGEST);
      execFileSync("tar", ["-xzf", archive(architecture), "--strip-components=1", "-C", root]);
      assert.equal(readFileSync(join(root, "node", "node")).readUInt16LE(18), machine);
      for (const file of ["LICENSE", "THIRD-PARTY-NOTICES", "node/LICENSE"]) {
        assert.ok(statSync(join(root, file)).size > 1_000, file);
      }
      const { components } = JSON.parse(readFileSync(join(root, "sbom.json"), "utf8"));
      const names = components.map(({ name }: { name: string }) => name);
      assert.ok(names.includes("node") && names.includes("fastify"));
    });
  }

  const isX64 = process.arch === "x64";
  test("./rapport serves the first request without an environment, and through a link", {
    skip: !isX64 && "this machine cannot run it",
  }, async () => {
    const program = join(folder, "x64", "rapport");
    const link = join(folder, "rapport");
    await symlink(program, link);
    const port = String(await freePort());
    // `env -i`: no variable but these, and no program on the path.
    const env = { PORT: port, PATH: "/nonexistent" };
    const child = spawn(program, [], { cwd: folder, env });
    after(() => child.kill("SIGKILL"));
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text;
      });
    }
    await until(() => {
      assert.equal(child.exitCode, null, printed);
      return printed.includes("Rapport is ready");
    });
    const key = readFileSync(join(folder, "data", "demo-api-key"), "utf8").trim();
    const response = await fetch(`http://127.0.0.1:${port}/users/track`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: '{"attributes":[{"external_id":"ada","first_name":"Ada"}]}',
    });
    assert.equal(response.status, 201);
    // The command line finds its server through the data folder.
    const asked = spawnSync(link, ["keys", "list", "demo"], { cwd: folder, encoding: "utf8" });
    assert.equal(asked.status, 0, asked.stderr);
    for (const called of [link, program, "./rapport"]) {
      const { stdout } = spawnSync(called, ["keys", "--help"], { cwd: folder, encoding: "utf8" });
      assert.ok(stdout.includes(`  ${called} keys create`), stdout);
    }
    child.kill("SIGTERM");
    assert.deepEqual(await once(child, "close"), [0, null]);
  });
});
