/* Where a server listens, and with nothing said at all what it begins with. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { packageRoot } from "../src/database/migrate.ts";
import { startChild } from "./child-server.ts";
import { temporaryFolder } from "./stored-rows.ts";

const IN_MEMORY = { DATA_DIR: "memory:" };

/** A port of an address that nobody listens on; undefined where it is taken, or not this machine's. */
async function freePort(wanted = 0, host = "127.0.0.1"): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen(wanted, host);
    await once(server, "listening");
    return (server.address() as { port: number }).port;
  } catch {
    return undefined;
  } finally {
    server.close();
  }
}

const answers = async (url: string): Promise<boolean> =>
  fetch(`${url}/health/live`).then(
    (response) => response.ok,
    () => false,
  );

const otherPort = await freePort(0, "127.0.0.2");

describe("HOST and PORT", () => {
  test("decide where the server listens, and nowhere else", {
    skip: otherPort ? false : "this machine has one loopback address",
  }, async () => {
    const port = String(otherPort);
    const server = await startChild({ ...IN_MEMORY, HOST: "127.0.0.2", PORT: port });
    assert.equal(server.url, `http://127.0.0.2:${port}`);
    assert.equal(await answers(server.url), true);
    assert.equal(await answers(`http://127.0.0.1:${port}`), false);
    await server.end("SIGTERM");
  });
});

const isUsualPortFree = (await freePort(8080)) !== undefined;

test("npm start serves on http://127.0.0.1:8080 with the embedded engine in ./data where nothing is said", {
  skip: isUsualPortFree ? false : "somebody else listens on 8080",
}, async () => {
  const { scripts } = JSON.parse(await readFile(join(packageRoot(), "package.json"), "utf8"));
  const [program, main, ...args] = scripts.start.split(" ");
  assert.equal(program, "node");
  const cwd = await temporaryFolder();
  const child = spawn(process.execPath, [join(packageRoot(), main), ...args], {
    cwd,
    env: { PATH: process.env.PATH },
    stdio: ["ignore", "pipe", "ignore"],
  });
  after(() => child.kill("SIGKILL"));
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += chunk;
    if (/ready at .*\n\n$/s.test(printed)) break;
  }
  assert.match(printed, /Rapport is ready at http:\/\/127\.0\.0\.1:8080\n/);
  assert.equal(await answers("http://127.0.0.1:8080"), true);
  assert.deepEqual(await readdir(cwd), ["data"]);
  child.kill("SIGTERM");
  await once(child, "exit");
});
