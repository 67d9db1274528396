import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../harness.ts";
import { runCommand } from "./child-server.ts";

const server = await startServer();

const workspaces = (...args: string[]) =>
  runCommand(["workspaces", ...args, "--url", server.url], { ADMIN_TOKEN: server.adminToken });

describe("rapport workspaces", () => {
  test("rapport workspaces lists workspaces, and deletes one after a confirmation", async () => {
    const workspace = await server.workspace();
    const { stdout } = await workspaces("list");
    assert.ok(stdout.split("\n").includes(`${workspace.name}  allow_reset`), stdout);

    const unconfirmed = await workspaces("delete", workspace.name);
    assert.equal(unconfirmed.code, 1);
    assert.match(unconfirmed.stderr, /with everything in it.*--yes/s);
    const deleted = await workspaces("delete", workspace.name, "--yes");
    assert.deepEqual(deleted, {
      code: 0,
      stdout: `The workspace '${workspace.name}' is deleted.\n`,
      stderr: "",
    });
    const left = (await workspaces("list")).stdout.split("\n");
    assert.ok(!left.some((line) => line.startsWith(`${workspace.name} `)));
  });

  test("rapport workspaces delete says why a workspace with users stays", async () => {
    const workspace = await server.workspace({ allow_reset: false });
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const refused = await workspaces("delete", workspace.name, "--yes");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /has users, and cannot be deleted without allow_reset: true/);
  });
});
