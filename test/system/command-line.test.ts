/* The common behaviour of every command of `rapport`. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { lockFolder } from "../../src/core/database/embedded/folder-lock.ts";
import { freePort } from "../free-port.ts";
import { startServer, testConfig } from "../harness.ts";
import { sample } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { runCommand } from "./child-server.ts";

const server = await startServer();

const admin = { ADMIN_TOKEN: server.adminToken };

const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };

describe("the command line", { concurrency: 4 }, () => {
  test("the command line suggests the closest command or option and exits with 1", async () => {
    const { code, stderr } = await runCommand(["aply", "rapport.yaml"], {});
    assert.equal(code, 1);
    assert.match(stderr, /^error: unknown command 'aply'\n\(Did you mean apply\?\)\n/);
    const option = await runCommand(["apply", "rapport.yaml", "--prun"], {});
    assert.match(option.stderr, /unknown option '--prun'\n\(Did you mean --prune\?\)/);
  });

  test("the help of every command contains an example", async () => {
    const commands = [
      "serve",
      "migrate",
      "apply",
      "import",
      "keys rotate",
      "scim-tokens create",
      "secrets discard",
      "cdi rows",
      "cdi test",
      "users erase",
      "backup",
      "restore",
      "reset",
      "doctor",
      "completion",
    ];
    for (const command of sample(commands, 5)) {
      const { code, stdout } = await runCommand([...command.split(" "), "--help"], {});
      assert.equal(code, 0);
      assert.match(stdout, /\nExamples?:\n {2}.*rapport/, command);
    }
  });

  test("a command explains that a port is in use, that a server is not Rapport, or that none is running", async () => {
    const stranger = createServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html>");
    });
    after(() => stranger.close());
    await once(stranger.listen(0, "127.0.0.1"), "listening");
    const { port } = stranger.address() as AddressInfo;
    const taken = await runCommand(["serve"], { PORT: String(port), DATA_DIR: "memory:" });
    assert.equal(taken.code, 1);
    assert.match(
      taken.stderr,
      /^rapport: Port \d+ on 127\.0\.0\.1 is in use by another program\./m,
    );
    const other = await runCommand(["keys", "list", "demo"], {
      RAPPORT_URL: `http://127.0.0.1:${port}`,
      ...admin,
    });
    assert.match(other.stderr, /^rapport: The server at .* is not a Rapport server: .*text\/html/);
    const none = await runCommand(["keys", "list", "demo"], {
      RAPPORT_URL: `http://127.0.0.1:${await freePort()}`,
      ...admin,
    });
    assert.match(none.stderr, /no program listens there\. Start one with npx rapport-server serve/);
  });

  test("a command reads the server from RAPPORT_URL and prints its result as JSON with --json", async () => {
    const { name } = await server.workspace();
    const environment = { RAPPORT_URL: server.url, ...admin };
    const listed = await runCommand(["keys", "list", name, "--json"], environment);
    assert.deepEqual(
      JSON.parse(listed.stdout).api_keys.map((key: { name: string }) => key.name),
      ["test"],
    );
    assert.ok(!listed.stdout.includes("\u001b"), "Colour is for terminals.");
  });

  test("bash completion completes commands and options", async () => {
    const { code, stdout } = await runCommand(["completion", "bash"], {});
    assert.equal(code, 0);
    const complete = (...words: string[]) =>
      bash(`${stdout}\nCOMP_WORDS=(${words.join(" ")}); COMP_CWORD=${words.length - 1}; _rapport
        echo "\${COMPREPLY[@]}"`);
    assert.equal(await complete("rapport", "ke"), "keys\n");
    assert.equal(await complete("rapport", "keys", "cre"), "create\n");
    assert.equal(await complete("rapport", "apply", "manifest.yaml", "--dr"), "--dry-run\n");
  });
});

async function bash(script: string): Promise<string> {
  const child = spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  await once(child, "close");
  return stdout;
}

describe("rapport reset", () => {
  test("rapport reset deletes the users of a workspace only if --yes confirms it", async () => {
    const workspace = await server.workspace();
    await workspace.track({ events: [EVENT] });
    const reset = (...more: string[]) =>
      runCommand(["reset", workspace.name, "--url", server.url, ...more], admin);
    const unconfirmed = await reset();
    assert.equal(unconfirmed.code, 1);
    assert.match(unconfirmed.stderr, /deletes every user of the workspace .* pass --yes\.\n$/);
    assert.equal((await workspace.profiles({ external_ids: ["ada"] })).length, 1);
    assert.equal((await reset("--yes")).code, 0);
    assert.equal((await workspace.profiles({ external_ids: ["ada"] })).length, 0);
  });
});

describe("rapport status, init and version", () => {
  test("rapport status says whether a server is ready, and its version", async () => {
    const { code, stdout } = await runCommand(["status", "--url", server.url], {});
    assert.equal(code, 0);
    assert.match(stdout, /^server {3}http.*\nversion {2}\d+\.\d+\.\d+.*\nstate {4}ready\n$/);
    const version = await runCommand(["version"], {});
    assert.deepEqual([version.code, version.stdout], [0, (await runCommand(["-V"], {})).stdout]);
  });

  test("rapport init writes a manifest that is valid, and overwrites none", async () => {
    const path = join(await temporaryFolder(), "rapport.yaml");
    assert.equal((await runCommand(["init", path], {})).code, 0);
    const valid = await runCommand(["validate", path], { RAPPORT_KEY: "k".repeat(24) });
    assert.deepEqual([valid.code, valid.stderr], [0, ""]);
    const again = await runCommand(["init", path], {});
    assert.deepEqual([again.code, again.stderr], [1, `rapport: ${path}: it exists already.\n`]);
  });
});

describe("rapport doctor", () => {
  test("rapport doctor passes on a healthy setup and reports files that other users can read", async () => {
    const folder = await temporaryFolder();
    const { databaseUrl } = await testConfig();
    const environment = {
      PORT: "0",
      DATA_DIR: folder,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    };
    const healthy = await runCommand(["doctor", "--json"], environment);
    const { findings } = JSON.parse(healthy.stdout);
    assert.equal(healthy.code, 0, healthy.stdout);
    assert.deepEqual(
      findings
        .map((each: { check: string }) => each.check)
        .filter((name: string) => name !== "disk"),
      databaseUrl
        ? [
            "version",
            "node",
            "settings",
            "port",
            "engine",
            "schema",
            "clock",
            "locks",
            "file modes",
          ]
        : ["version", "node", "settings", "port", "data folder", "engine", "file modes"],
    );
    await writeFile(join(folder, "admin-token"), "secret");
    await chmod(join(folder, "admin-token"), 0o644);
    const open = await runCommand(["doctor"], environment);
    assert.equal(open.code, 1);
    assert.match(open.stdout, /✖ file modes .*admin-token.*\n +Run chmod -R go= /);
  });

  test("rapport doctor only warns where a server on another port has the data folder", async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, "engine"), { mode: 0o700 });
    const lock = await lockFolder(folder);
    const { code, stdout } = await runCommand(["doctor"], { PORT: "0", DATA_DIR: folder });
    await lock.release();
    assert.equal(code, 0, stdout);
    assert.match(
      stdout,
      /! engine .*A Rapport server on another port.*\n +Run doctor with the PORT/,
    );
  });

  test("rapport doctor reports an invalid setting and an unreachable database", async () => {
    const setting = await runCommand(["doctor"], { PORT: "many" });
    assert.equal(setting.code, 1);
    assert.match(setting.stdout, /✖ settings +PORT=many: a port is/);
    const environment = { PORT: "0", DATABASE_URL: "postgres://127.0.0.1:9/none" };
    const database = await runCommand(["doctor"], environment);
    assert.equal(database.code, 1);
    assert.match(database.stdout, /✖ engine .*\n +Check DATABASE_URL/);
  });
});
