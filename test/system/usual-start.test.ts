/* The defaults of a server without any settings. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { sample } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";

/** Whether the port is free. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  return once(server, "listening").then(
    () => new Promise((resolve) => server.close(() => resolve(true))),
    () => false,
  );
}

const answers = async (url: string): Promise<boolean> =>
  fetch(`${url}/health/live`).then(
    (response) => response.ok,
    () => false,
  );

test("npm start without settings serves http://127.0.0.1:8080 with the embedded engine in ./data", {
  skip: (await isFree(8080)) ? false : "another process listens on port 8080",
}, async () => {
  const { scripts } = JSON.parse(await readFile(join(packageRoot(), "package.json"), "utf8"));
  const [exec, program, main, ...args] = scripts.start.split(" ");
  assert.deepEqual([exec, program], ["exec", "node"]);
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

/** A free port of this machine. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const SIGNALS = ["SIGTERM", "SIGINT", "SIGKILL"] as const;

for (const signal of sample(SIGNALS, 1)) {
  test(`npm start leaves no server behind when npm gets ${signal}`, async () => {
    const port = await freePort();
    const child = spawn("npm", ["start"], {
      cwd: packageRoot(),
      env: { ...process.env, PORT: String(port), DATA_DIR: "memory:", LOG_LEVEL: "silent" },
      stdio: "ignore",
    });
    const url = `http://127.0.0.1:${port}`;
    const deadline = Date.now() + 60_000;
    const until = async (isReached: () => Promise<boolean>) => {
      while (!(await isReached())) {
        assert.ok(Date.now() < deadline, "in a minute");
        await wait(100);
      }
    };
    await until(() => answers(url));
    child.kill(signal);
    await until(() => isFree(port));
  });
}
