/*
 * Starting and stopping the server as its users do: its output, its data, its refusals, and its
 * end. A start takes a second, so one server on one folder goes through all tests in their order,
 * and is stopped and started again on the way.
 */
import assert from "node:assert/strict";
import { AsyncResource } from "node:async_hooks";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { freePort } from "../free-port.ts";
import { ENGINE, testConfig } from "../harness.ts";
import { sample } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { until } from "../until.ts";
import {
  type ChildServer,
  type Environment,
  post,
  runCommand,
  startChild,
} from "./child-server.ts";
import { skipWithoutCurl } from "./curl.ts";

const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };

async function place(): Promise<{ DATA_DIR: string } & Environment> {
  const { databaseUrl } = await testConfig();
  return {
    DATA_DIR: await temporaryFolder(),
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
}

async function eventsOf({ url, key }: ChildServer, external_id = "ada") {
  const answer = await post(`${url}/users/export/ids`, key, { external_ids: [external_id] });
  return answer.body.users[0]?.custom_events.map((event: any) => [event.name, event.count]);
}

const track = ({ url, key }: ChildServer, ...events: object[]) =>
  post(`${url}/users/track`, key, { events });

/** If the whole of 127.0.0.0/8 is the machine itself. */
const isLinux = process.platform === "linux";

const home = await place();
/** What a test starts with it goes on after that test. */
const startFor = AsyncResource.bind((environment: Environment) => startChild(environment));
const first = await startFor(home);
let server = first;
const firstToken = await readFile(join(home.DATA_DIR, "admin-token"), "utf8");

const resetOf = ({ url }: ChildServer, token: string) =>
  post(`${url}/admin/v1/workspaces/demo/reset`, token, {});

describe("the first start", () => {
  test("the first start prints the base URL and a working key of the demo workspace", async () => {
    assert.match(server.greeting, /^\s*Rapport is ready at http:\/\/127\.0\.0\.1:\d+\n/);
    assert.match(server.greeting, /API key +\S{20,} \(workspace demo\)/);
    assert.equal((await track(server, EVENT)).status, 201);
    assert.deepEqual(await eventsOf(server), [["opened", 1]]);
  });

  test("the first start prints a curl command that works when pasted", {
    skip: skipWithoutCurl,
  }, async () => {
    const line = /^ *(curl .*)$/m.exec(server.greeting)?.[1] ?? "";
    const { stdout } = await promisify(execFile)("sh", ["-c", line]);
    assert.deepEqual(JSON.parse(stdout), { events_processed: 1, message: "success" });
    assert.deepEqual(await eventsOf(server), [
      ["opened", 1],
      ["signed_up", 1],
    ]);
  });

  test("the log of a server has no link that signs in, which only a terminal shows", () => {
    assert.doesNotMatch(server.greeting, /sign-in\?token/);
  });

  test("the first start creates an admin token in the data folder, readable only by its owner", async () => {
    const path = join(home.DATA_DIR, "admin-token");
    assert.ok(server.greeting.includes(path));
    const token = (await readFile(path, "utf8")).trim();
    // A child process's output ends up in a log.
    assert.ok(!server.greeting.includes(token));
    for (const name of ["admin-token", "demo-api-key"]) {
      assert.equal((await stat(join(home.DATA_DIR, name))).mode & 0o777, 0o600);
    }
    assert.equal((await resetOf(server, "another")).status, 401);
    assert.equal((await resetOf(server, token)).status, 200);
    assert.equal(await eventsOf(server), undefined);
  });
});

describe("a start that fails", () => {
  test("a start on a data folder in use exits with an explanation and does not affect the running server", {
    skip: ENGINE !== "embedded",
  }, async () => {
    const second = await runCommand(["serve"], { PORT: "0", ...home });
    assert.equal(second.code, 1);
    assert.equal(
      second.stderr,
      `rapport: The data folder ${home.DATA_DIR} is in use by another Rapport server. ` +
        "Stop that one first, or set DATA_DIR to another folder.\n",
    );
    assert.equal((await track(server, EVENT)).status, 201);
  });

  test("a start on a port in use exits with an explanation that names the port", async () => {
    const { port } = new URL(server.url);
    // Servers on one PostgreSQL seal with one key, which is in the data folder here.
    const DATA_DIR = ENGINE === "embedded" ? "memory:" : home.DATA_DIR;
    const refused = await runCommand(["serve"], { ...home, DATA_DIR, PORT: port });
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      new RegExp(
        `^rapport: Port ${port} on .* is in use by another program\\. Stop that program, or choose`,
        "m",
      ),
    );
  });

  test("a start without the database of DATABASE_URL exits with an explanation and reveals no password", async () => {
    const DATABASE_URL = "postgres://nobody:secret@127.0.0.1:9/none";
    for (const command of ["serve", "migrate"]) {
      const refused = await runCommand([command], { PORT: "0", DATABASE_URL, DATABASE_WAIT: "0" });
      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /^rapport: The database of DATABASE_URL cannot be used: .*127\.0\.0\.1:9\.$/m,
      );
      assert.ok(!refused.stderr.includes("secret"));
    }
  });
});

describe("a server that is stopping", () => {
  for (const signal of sample(["SIGTERM", "SIGINT"] as const, 1)) {
    test(`a server stopped by ${signal} completes requests in flight, accepts no new ones and exits with 0`, async () => {
      const before = (await eventsOf(server, signal)) ?? [];
      assert.deepEqual(before, []);
      const idle = await fetch(`${server.url}/health/live`);
      await idle.text();
      const silent = connect(Number(new URL(server.url).port), "127.0.0.1");
      await once(silent, "connect");

      // The server has read the headers once it asks for the body.
      const inFlight = request(`${server.url}/users/track`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${server.key}`,
          "content-type": "application/json",
          expect: "100-continue",
        },
      });
      inFlight.flushHeaders();
      await once(inFlight, "continue");
      server.signal(signal);
      await until(async () => !(await isListening(server.url)));

      inFlight.end(JSON.stringify({ events: [{ ...EVENT, external_id: signal }] }));
      const [response] = await once(inFlight, "response");
      assert.equal(response.statusCode, 201);
      response.resume();
      const { code, stderr } = await server.finished;
      assert.deepEqual([code, stderr], [0, ""]);

      server = await startFor(home);
      assert.deepEqual(await eventsOf(server, signal), [["opened", 1]]);
    });
  }

  test("a server stopped during many writes keeps every write that got 201", async () => {
    const users = Array.from({ length: 16 }, (_, index) => `user-${index}`);
    let taken = 0;
    const writing = Promise.all(
      users.map(async (external_id) => {
        for (let count = 0; ; count++) {
          const answer = await track(server, { ...EVENT, external_id }).catch(() => undefined);
          if (answer?.status !== 201) return { external_id, count, last: answer?.status };
          taken++;
        }
      }),
    );
    await until(() => taken >= 100);
    assert.equal((await server.end("SIGTERM")).code, 0);
    server = await startFor(home);
    for (const { external_id, count, last } of await writing) {
      assert.ok(last === undefined || last === 503, String(last));
      assert.deepEqual(
        await eventsOf(server, external_id),
        count ? [["opened", count]] : undefined,
      );
    }
  });
});

/** In memory, if the engine is embedded. */
const elsewhere = async (): Promise<Environment> =>
  ENGINE === "embedded" ? { DATA_DIR: "memory:" } : place();

/** It has stopped. */
let inMemory: ChildServer | undefined;

describe("HOST and PORT", () => {
  test("the server listens only where HOST and PORT say", { skip: !isLinux }, async () => {
    const PORT = String(await freePort("127.0.0.2"));
    const own = await startChild({ ...(await elsewhere()), HOST: "127.0.0.2", PORT });
    assert.equal(own.url, `http://127.0.0.2:${PORT}`);
    assert.equal((await fetch(`${own.url}/health/live`)).status, 200);
    await assert.rejects(fetch(`http://127.0.0.1:${PORT}/health/live`));
    assert.equal((await track(own, EVENT)).status, 201);
    await own.end("SIGTERM");
    inMemory = own;
  });
});

describe("a later start", () => {
  test("the key of the demo workspace is printed by the first start only, and later starts name its file", () => {
    assert.notEqual(server, first);
    assert.equal(first.greeting.split(first.key).length, 2);
    assert.equal(server.key, first.key);
    assert.ok(!server.greeting.includes(first.key));
    assert.ok(server.greeting.includes(join(home.DATA_DIR, "demo-api-key")));
  });

  test("a later start has the data, the key and the admin token of the one before", async () => {
    assert.notEqual(server, first);
    assert.equal(server.key, first.key);
    // Written before the last stop.
    assert.deepEqual(await eventsOf(server, "SIGTERM"), [["opened", 1]]);
    assert.equal(await readFile(join(home.DATA_DIR, "admin-token"), "utf8"), firstToken);
    assert.equal((await resetOf(server, firstToken.trim())).status, 200);
    assert.equal((await server.end("SIGTERM")).code, 0);
  });

  test("ADMIN_TOKEN retires the admin token of the data folder, and removes its file", async () => {
    const kept = (await readFile(join(home.DATA_DIR, "admin-token"), "utf8")).trim();
    server = await startFor({ ...home, ADMIN_TOKEN: "given-token-of-24-characters" });
    assert.equal((await resetOf(server, "given-token-of-24-characters")).status, 200);
    assert.equal((await resetOf(server, kept)).status, 401);
    await assert.rejects(readFile(join(home.DATA_DIR, "admin-token")), { code: "ENOENT" });
    await server.end("SIGTERM");
  });

  test("a start with DATA_DIR=memory: begins without data and with a new key", {
    skip: ENGINE !== "embedded",
  }, async () => {
    // Linux alone listens on all of 127.0.0.0/8.
    const before = inMemory ?? first;
    const after = await startChild({ DATA_DIR: "memory:" });
    assert.ok(before.key.length >= 20);
    assert.notEqual(after.key, before.key);
    assert.equal(await eventsOf(after), undefined);
    await after.end("SIGTERM");
  });
});

async function isListening(url: string): Promise<boolean> {
  const probe = request(`${url}/health/live`, { agent: false });
  probe.end();
  return once(probe, "response").then(
    ([response]) => {
      response.resume();
      return true;
    },
    () => false,
  );
}
