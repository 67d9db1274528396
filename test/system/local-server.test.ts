/* How commands find the server of their machine: through its data folder, not through a port that any program may hold. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { access, mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { freshDatabase } from "../core/database/fresh-database.ts";
import { ENGINE } from "../harness.ts";
import { sample } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { type Environment, runCommand, startChild } from "./child-server.ts";

/** Nothing for the embedded engine, whose database is in the data folder. */
async function freshEngine(): Promise<Environment> {
  const databaseUrl = await freshDatabase();
  return databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl };
}

/**
 * A program on a separate port that responds like a server which made a copy; and the requests it
 * got.
 */
async function impostor(answer: object) {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    sent.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...answer, message: "success" }));
  });
  after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { sent, port: String((server.address() as AddressInfo).port) };
}

async function precious(): Promise<string> {
  const folder = join(await temporaryFolder(), "precious");
  await mkdir(folder);
  await writeFile(join(folder, "years-of-work"), "irreplaceable");
  return folder;
}

const folder = await temporaryFolder();

describe("a program that holds the port of a stopped server", {
  skip: ENGINE === "postgres" && "with DATABASE_URL no copy is made",
}, () => {
  const DATA_DIR = join(folder, "data");
  before(async () => {
    await (await startChild({ DATA_DIR })).end("SIGTERM");
  });

  test("gets no token from a local command, and rapport backup reads the stopped server's folder", async () => {
    const victim = await precious();
    const { sent, port } = await impostor({ folder: victim });
    const file = join(await temporaryFolder(), "a.backup");
    const backup = await runCommand(["backup", file], { DATA_DIR, PORT: port });
    assert.equal(backup.code, 0, backup.stderr);
    const listed = await runCommand(["keys", "list", "demo"], { DATA_DIR, PORT: port });
    assert.match(
      listed.stderr,
      /No server runs on the data folder .* with the port \d+\. Start one/,
    );
    assert.deepEqual(sent, []);
    assert.deepEqual(await readdir(victim), ["years-of-work"]);
  });

  test("cannot make rapport backup open, create or remove a folder, even at the URL that was given", async () => {
    const victim = await precious();
    const found = await readdir(DATA_DIR);
    const answers = [
      { folder: victim, id: "../precious" },
      { folder: victim },
      { folder: victim, id: "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e" },
    ];
    for (const answer of sample(answers, 1)) {
      const { port } = await impostor(answer);
      const file = join(await temporaryFolder(), "a.backup");
      const url = `http://127.0.0.1:${port}`;
      const { code, stderr } = await runCommand(["backup", file, "--url", url], { DATA_DIR });
      assert.equal(code, 1);
      assert.match(stderr, /has another version than this command|The server's copy is not in/);
      await assert.rejects(access(file));
      assert.deepEqual(await readdir(victim), ["years-of-work"]);
      assert.deepEqual(await readdir(DATA_DIR), found);
    }
  });
});

describe("a command without --url", () => {
  const places: [what: string, below: string][] = [
    ["a data folder", "data"],
    ["a data folder with a very long path", join("deep".repeat(20), "deeper".repeat(20))],
  ];
  for (const [what, below] of sample(places, 1)) {
    test(`reaches the server of ${what} through a socket that only its owner can use`, async () => {
      const DATA_DIR = join(await temporaryFolder(), below);
      const environment: Environment = { DATA_DIR, ...(await freshEngine()) };
      const server = await startChild(environment);
      const sockets = (await readdir(DATA_DIR)).filter((name) => name.endsWith(".sock"));
      assert.equal(sockets.length, 1);
      assert.equal((await stat(DATA_DIR)).mode & 0o777, 0o700);
      assert.equal((await stat(join(DATA_DIR, sockets[0] ?? ""))).mode & 0o777, 0o600);
      const found = await runCommand(["keys", "list", "demo"], environment);
      assert.match(found.stdout, /^demo {2}permissions all/, found.stderr);
      const { port } = new URL(server.url);
      assert.equal(
        (await runCommand(["keys", "list", "demo"], { ...environment, PORT: port })).code,
        0,
      );
      const link = await runCommand(["sign-in"], environment);
      assert.ok(link.stdout.startsWith(`http://127.0.0.1:${port}/dashboard/sign-in`), link.stdout);
      await server.end("SIGTERM");
      assert.deepEqual(
        (await readdir(DATA_DIR)).filter((name) => /\.(sock|lock)$/.test(name)),
        [],
      );
      const gone = await runCommand(["keys", "list", "demo"], environment);
      assert.match(gone.stderr, /^rapport: No server runs on the data folder/);
    });
  }

  test("takes no token on the command line, where other users of the machine would see it", async () => {
    const { code, stderr } = await runCommand(["sign-in", "--admin-token", "secret"], {});
    assert.equal(code, 1);
    assert.match(stderr, /unknown option '--admin-token'/);
  });
});
