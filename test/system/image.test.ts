/*
 * The image is built and started from a clean clone, without a container engine (image.ts). It takes two minutes, so
 * that it runs only if TEST_IMAGE is set: in the night, and if something changed that the image is made of.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { freePort } from "../free-port.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { until } from "../until.ts";

import { buildImage, canMount, isLeftOut, makeContext, startArguments } from "./image.ts";

describe("the context of the image", () => {
  const PATTERNS = ".git\n**/node_modules\n*.log\n# a comment\ndata\n!data/kept\n";
  const CASES: Readonly<Record<string, boolean>> = {
    ".git/config": true,
    "client/node_modules/a/b.js": true,
    "node_modules/a": true,
    "npm.log": true,
    "deep/npm.log": false,
    ".gitignore": false,
    "data/x": true,
    "data/kept": false,
  };
  for (const [path, isOut] of Object.entries(CASES)) {
    test(`${path} is ${isOut ? "left out" : "copied"}`, () => {
      assert.equal(isLeftOut(path, PATTERNS), isOut);
    });
  }
});

describe("the image", {
  skip: process.env.TEST_IMAGE === undefined && "TEST_IMAGE is not set",
}, async () => {
  if (process.env.TEST_IMAGE === undefined) return;
  const folder = await temporaryFolder();

  test("the image is built from a clean clone, and serves the first request as a user without rights on a read-only root", async (t) => {
    if (!canMount(folder)) return t.skip("it takes root and overlayfs");
    const context = join(folder, "context");
    makeContext(packageRoot(), context);
    const image = buildImage(context, folder);
    const port = String(await freePort());
    const child = spawn("env", startArguments(image), {
      env: { ...image.environment, HOST: "127.0.0.1", PORT: port },
    });
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
    assert.match(printed, /a link that signs in: docker exec \S+ rapport sign-in/);
    assert.throws(() => writeFileSync(join(image.root, "app", "x"), ""), /EROFS/);
    const key = readFileSync(join(image.root, "data", "demo-api-key"), "utf8").trim();
    const response = await fetch(`http://127.0.0.1:${port}/users/track`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ attributes: [{ external_id: "ada" }] }),
    });
    assert.equal(response.status, 201, await response.text());
    child.kill("SIGTERM");
    const [code] = await once(child, "close");
    assert.equal(code, 0, printed);
  });
});
