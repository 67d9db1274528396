/* `rapport import`: a client of the admin API that imports a file, one user a line. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runCommand } from "./child-server.ts";
import { startServer, WEB_APP } from "./harness.ts";
import { temporaryFolder } from "./stored-rows.ts";

const server = await startServer();
const folder = await temporaryFolder();

async function importing(name: string, lines: readonly unknown[], workspace: string) {
  const path = join(folder, name);
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  await writeFile(path, `${text.join("\n")}\n`);
  const args = ["import", workspace, path, "--url", server.url];
  return { path, ...(await runCommand(args, { ADMIN_TOKEN: server.adminToken })) };
}

const TIME = "2026-01-01T12:00:00.000Z";
const usage = (sessions: number) => [
  { app_id: WEB_APP, sessions, first_used: TIME, last_used: TIME },
];

describe("rapport import", () => {
  test("imports every line, in several requests, and again without a change", async () => {
    const workspace = await server.workspace();
    const users = Array.from({ length: 1_201 }, (_, index) => ({
      external_id: `user ${index}`,
      apps: usage(index),
    }));
    for (const _time of ["first", "second"]) {
      const { code, stdout, stderr } = await importing("users.ndjson", users, workspace.name);
      assert.deepEqual([code, stderr], [0, ""]);
      assert.match(stdout, /users sent, [\d,]+ users\/s, 0 errors\n1,201 users imported, 0 not\n$/);
    }
    const [last] = await workspace.profiles({ external_ids: ["user 1200"] });
    assert.equal(last?.apps[0].sessions, 1_200);
  });

  test("names each line that cannot be imported with the reason, imports the others, ends with 2", async () => {
    const workspace = await server.workspace();
    const lines = [
      { external_id: "ada", apps: usage(1) },
      "{ no json",
      "",
      { external_id: "bob", apps: "none" },
      { platform_id: "00000000-0000-7000-8000-000000000000", apps: usage(1) },
      { external_id: "eve", apps: usage(2) },
    ];
    const { code, stdout, stderr, path } = await importing("some.ndjson", lines, workspace.name);
    assert.equal(code, 2);
    assert.match(stdout, /\n2 users imported, 3 not\n$/);
    const reasons = stderr.trim().split("\n");
    assert.deepEqual(
      reasons.map((line) => line.slice(path.length, path.length + 3)),
      [":2:", ":4:", ":5:"],
    );
    assert.match(reasons[0] ?? "", /it is not one JSON value$/);
    assert.match(reasons[1] ?? "", /'apps'/);
    assert.equal((await workspace.profiles({ external_ids: ["ada", "bob", "eve"] })).length, 2);
  });

  test("counts one user in the singular", async () => {
    const workspace = await server.workspace();
    const lines = [{ external_id: "ada", apps: usage(1) }, "{ no json"];
    const { stdout } = await importing("singular.ndjson", lines, workspace.name);
    assert.match(stdout, /^1 user sent, [\d,]+ users\/s, 1 error\n1 user imported, 1 not\n$/);
  });

  test("ends with 1 and says why where there is no file, workspace or server", async () => {
    const workspace = await server.workspace();
    const missing = ["import", workspace.name, join(folder, "missing"), "--url", server.url];
    const noFile = await runCommand(missing, { ADMIN_TOKEN: server.adminToken });
    assert.deepEqual([noFile.code, noFile.stdout], [1, ""]);
    assert.equal(noFile.stderr, `rapport: ${missing[2]}: it cannot be read (ENOENT).\n`);
    const noWorkspace = await importing("one.ndjson", [{ external_id: "ada" }], "nowhere");
    assert.equal(noWorkspace.code, 1);
    assert.match(noWorkspace.stderr, /:1 and what follows: .*'nowhere'/);
    for (const url of ["nonsense", "ftp://localhost", "localhost:8080"]) {
      const lost = await runCommand(["keys", "list", "demo", "--url", url], { ADMIN_TOKEN: "x" });
      assert.equal(
        lost.stderr,
        `rapport: '${url}' is not an address such as http://127.0.0.1:8080.\n`,
      );
    }
  });
});
