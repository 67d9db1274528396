/* `rapport changes` and `rapport users watch`: the change feed in a terminal. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, test } from "node:test";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { startServer } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { until } from "../until.ts";

const server = await startServer();

/** The command while it runs. */
function run(...args: string[]) {
  const main = join(packageRoot(), "dist", "src", "main.js");
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env.PATH, RAPPORT_URL: server.url, ADMIN_TOKEN: server.adminToken },
    stdio: ["ignore", "pipe", "inherit"],
  });
  after(() => child.kill("SIGKILL"));
  const lines: any[] = [];
  let rest = "";
  child.stdout.on("data", (text) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) lines.push(JSON.parse(part));
  });
  return { child, lines, ended: once(child, "close") };
}

test("rapport changes with a cursor file prints every change, though it is killed again and again", async () => {
  const workspace = await server.workspace({ settings: { change_feed: true } });
  const file = join(await temporaryFolder(), "cursor");
  const args = ["changes", "--follow", "--json", "--cursor-file", file];
  const seen = new Map<string, string>();
  let written = 0;
  for (let round = 0; round < 3; round++) {
    const { child, lines, ended } = run(...args, "--workspace", workspace.name);
    for (let each = 0; each < 5; each++) {
      await workspace.track({ attributes: [{ external_id: `user-${written++}`, plan: "pro" }] });
    }
    await until(() => {
      for (const { id, user } of lines) seen.set(id, user.external_id);
      return seen.size >= written;
    }, `${seen.size} of ${written}`);
    child.kill("SIGKILL");
    await workspace.track({ attributes: [{ external_id: `user-${written++}`, plan: "pro" }] });
    await ended;
  }
  const { lines, ended } = run(
    "changes",
    "--json",
    "--cursor-file",
    file,
    "--workspace",
    workspace.name,
  );
  await ended;
  for (const { id, user } of lines) seen.set(id, user.external_id);
  const expected = Array.from({ length: written }, (_, index) => `user-${index}`);
  assert.deepEqual([...seen.values()].sort(), expected.sort());
});

test("rapport users watch prints the changes of one user as they are made", async () => {
  const workspace = await server.workspace({ settings: { change_feed: true } });
  await workspace.track({ attributes: [{ external_id: "ada" }, { external_id: "bob" }] });
  const { child, lines } = run("users", "watch", "ada", "--json", "--workspace", workspace.name);
  let number = 0;
  // It takes a moment until the command listens.
  while (lines.length === 0) {
    number++;
    assert.ok(number < 1_000, "nothing was printed");
    await workspace.track({
      attributes: [
        { external_id: "bob", number },
        { external_id: "ada", number },
      ],
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.ok(lines.every(({ user }) => user.external_id === "ada"));
  child.kill();
});
