/*
 * Several servers on one PostgreSQL, each with its own data folder: secrets of the first one work
 * on all of them, and none starts that could not read the others' secrets.
 */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ENGINE, testConfig } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import {
  type ChildServer,
  type Environment,
  type Finished,
  post,
  runCommand,
  startChild,
} from "./child-server.ts";

const skip = ENGINE === "embedded" ? "An embedded database has one server." : false;

const KEY = "the-first-secret-key-of-this-test";
const OTHER_KEY = "the-second-secret-key-of-this-test";
const EVENT = { external_id: "ada", name: "opened", time: "2026-01-01T12:00:00Z" };

/** A new database; each call gives the settings of a server on it with a new data folder. */
async function newMachines(): Promise<(more?: Environment) => Promise<Environment>> {
  const { databaseUrl = "" } = await testConfig();
  return async (more = {}) => ({
    DATABASE_URL: databaseUrl,
    DATA_DIR: await temporaryFolder(),
    ...more,
  });
}

const read = async (machine: Environment, name: string): Promise<string> =>
  (await readFile(join(machine.DATA_DIR as string, name), "utf8")).trim();

async function statusWith({ url }: ChildServer, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${url}/admin/v1/workspaces`, { headers })).status;
}

/** Creates a link to a preference page, whose secret is sealed. */
async function sealSomething({ url, key }: ChildServer): Promise<void> {
  const path = `${url}/preference_center/v1/0f4e6c1a-7d02-4c55-9a3e-2b8d51c7f6a4/url/ada`;
  await post(`${url}/users/track`, key, { events: [EVENT] });
  const link = await fetch(path, { headers: { authorization: `Bearer ${key}` } });
  assert.equal(link.status, 200);
}

/** The token of the first server on a database. */
const generatedToken = async ({ greeting }: ChildServer): Promise<string> =>
  (await readFile(/admin token {2}in (\S+)/.exec(greeting)?.[1] ?? "", "utf8")).trim();

async function assertRefused(machine: Environment, message: RegExp): Promise<void> {
  const refused: Finished = await runCommand(["serve"], { PORT: "0", ...machine });
  assert.equal(refused.code, 1, refused.stdout);
  assert.match(refused.stderr, message);
}

describe("the admin token and the demo key of several servers on one PostgreSQL", { skip }, () => {
  test("the first server says where the token is, prints it to no log, and a second server with its own data folder accepts it and the demo key", async () => {
    const machine = await newMachines();
    const one = await machine({ SECRET_KEY: KEY });
    const two = await machine({ SECRET_KEY: KEY });
    const first = await startChild(one);
    const token = await read(one, "admin-token");
    const place = join(one.DATA_DIR as string, "admin-token");
    assert.ok(first.greeting.includes(`admin token  in ${place}\n`), first.greeting);
    assert.ok(!first.greeting.includes(token));
    assert.doesNotMatch(first.greeting, /sign-in\/link|works once/);
    const second = await startChild(two);
    const files = await readdir(two.DATA_DIR as string);
    assert.deepEqual(
      files.filter((name) => !name.endsWith(".sock")),
      [],
    );
    for (const name of ["admin-token", "demo-api-key"]) {
      const place = join(one.DATA_DIR as string, name);
      assert.ok(second.greeting.includes(`the one that was created on `), second.greeting);
      assert.ok(second.greeting.includes(`(${place}) at 20`), second.greeting);
    }
    for (const server of [first, second]) {
      assert.equal(await statusWith(server, token), 200);
      assert.equal(await statusWith(server, `${token}x`), 401);
      const { status } = await post(`${server.url}/users/track`, first.key, { events: [EVENT] });
      assert.equal(status, 201);
    }
    await first.end("SIGTERM");
    const again = await startChild(one);
    assert.ok(!again.greeting.includes(token));
    assert.ok(
      again.greeting.includes(`admin token  ${join(one.DATA_DIR as string, "admin-token")}`),
    );
    await again.end("SIGTERM");
    await second.end("SIGTERM");
  });

  test("servers that start at the same time agree on one token and one demo key", async () => {
    const machine = await newMachines();
    const machines = await Promise.all([1, 2, 3].map(() => machine({ SECRET_KEY: KEY })));
    const servers = await Promise.all(machines.map((each) => startChild(each)));
    const places = servers.flatMap(
      ({ greeting }) => /admin token {2}in (\S+)/.exec(greeting) ?? [],
    );
    const keys = servers.flatMap(({ greeting }) => /API key +(demo_\S+)/.exec(greeting) ?? []);
    assert.equal(places.length, 2, "one server has created the token");
    const token = (await readFile(places[1] as string, "utf8")).trim();
    assert.equal(keys.length, 2, "one server prints the demo key");
    for (const server of servers) {
      assert.equal(await statusWith(server, token), 200);
      const answer = await post(`${server.url}/users/track`, keys[1] as string, {
        events: [EVENT],
      });
      assert.equal(answer.status, 201);
    }
    for (const server of servers) await server.end("SIGTERM");
  });

  test("ADMIN_TOKEN replaces the generated token, which never works again", async () => {
    const machine = await newMachines();
    const one = await machine({ SECRET_KEY: KEY });
    await (await startChild(one)).end("SIGTERM");
    const given = "given-token-of-24-characters";
    const second = await startChild(await machine({ SECRET_KEY: KEY, ADMIN_TOKEN: given }));
    assert.equal(await statusWith(second, given), 200);
    assert.equal(await statusWith(second, await read(one, "admin-token")), 401);
    assert.ok(!second.greeting.includes("admin token"));
    await second.end("SIGTERM");
    // Without ADMIN_TOKEN again there is a new token.
    const retired = await read(one, "admin-token");
    const again = await startChild(one);
    assert.notEqual(await read(one, "admin-token"), retired);
    assert.equal(await statusWith(again, retired), 401);
    assert.equal(await statusWith(again, await read(one, "admin-token")), 200);
    await again.end("SIGTERM");
  });

  test("with DATA_DIR=memory: the token that the first start printed still opens the server after a restart", async () => {
    const machine = await newMachines();
    const settings = await machine({ SECRET_KEY: KEY, DATA_DIR: "memory:" });
    const first = await startChild(settings);
    const token = /admin token {2}(admin_\S+)/.exec(first.greeting)?.[1] ?? "";
    await first.end("SIGTERM");
    const again = await startChild(settings);
    assert.equal(await statusWith(again, token), 200);
    assert.match(again.greeting, /admin token {2}the one that was created on \S+ at 20/);
    await again.end("SIGTERM");
  });
});

describe("SECRET_KEY of several servers on one PostgreSQL", { skip }, () => {
  test("a second server without SECRET_KEY starts while nothing is sealed, says where the key is, and creates none", async () => {
    const machine = await newMachines();
    const one = await machine();
    const first = await startChild(one);
    const two = await machine();
    const second = await startChild({ ...two, LOG_LEVEL: "warn" });
    assert.equal(await statusWith(second, await read(one, "admin-token")), 200);
    const { stderr } = await second.end("SIGTERM");
    assert.match(
      stderr,
      /SECRET_KEY is not set, and this database seals secrets with the key [0-9a-f]{8}, which was generated on \S+ \(\S+\/secret-key\)/,
    );
    assert.deepEqual(await readdir(two.DATA_DIR as string), []);
    await first.end("SIGTERM");
  });

  test("a server with an empty data folder does not start without SECRET_KEY once something is sealed", async () => {
    const machine = await newMachines();
    const one = await machine();
    const first = await startChild(one);
    await sealSomething(first);
    const two = await machine();
    await assertRefused(
      two,
      /sealed with the key [0-9a-f]{8}, which was generated on \S+ \(\S+\/secret-key\), but SECRET_KEY is not set\. Set SECRET_KEY \(or SECRET_KEY_FILE\) to the key that sealed them\./,
    );
    assert.deepEqual(await readdir(two.DATA_DIR as string), []);
    const second = await startChild({ ...two, SECRET_KEY: await read(one, "secret-key") });
    await second.end("SIGTERM");
    await first.end("SIGTERM");
  });

  test("a second server with another SECRET_KEY does not start, even if no secret is stored yet", async () => {
    const machine = await newMachines();
    const first = await startChild(await machine({ SECRET_KEY: KEY }));
    await assertRefused(
      await machine({ SECRET_KEY: OTHER_KEY }),
      /sealed with the key [0-9a-f]{8}, but SECRET_KEY/,
    );
    const changing = await machine({ SECRET_KEY: OTHER_KEY, PREVIOUS_SECRET_KEY: KEY });
    await (await startChild(changing)).end("SIGTERM");
    await first.end("SIGTERM");
  });

  test("secrets rotate names the running servers that lack the new key, not one that was killed, and changes nothing until they have it", async () => {
    const machine = await newMachines();
    const first = await startChild(await machine({ SECRET_KEY: KEY }));
    const changing = { SECRET_KEY: OTHER_KEY, PREVIOUS_SECRET_KEY: KEY };
    const second = await startChild(await machine(changing));
    await sealSomething(first);
    const token = await generatedToken(first);
    const rotate = () =>
      runCommand(["secrets", "rotate", "--url", second.url], { ADMIN_TOKEN: token });
    const refused = await rotate();
    assert.equal(refused.code, 1, refused.stdout);
    assert.match(refused.stderr, new RegExp(`is missing on .*\\(process ${first.pid}\\)`));
    await sealSomething(first);
    await first.end("SIGKILL");
    const again = await startChild(await machine(changing));
    assert.equal((await rotate()).code, 0);
    await sealSomething({ ...again, key: first.key });
    await again.end("SIGTERM");
    await second.end("SIGTERM");
  });

  test("SECRET_KEY replaces a generated key that has sealed nothing, and no key that has", async () => {
    const machine = await newMachines();
    const one = await machine();
    await (await startChild(one)).end("SIGTERM");
    const second = await startChild(await machine({ SECRET_KEY: KEY }));
    await second.end("SIGTERM");
    await assertRefused(one, /which|sealed with the key/);

    const another = await newMachines();
    const settings = await another();
    const first = await startChild(settings);
    await sealSomething(first);
    await first.end("SIGTERM");
    await assertRefused(await another({ SECRET_KEY: KEY }), /, but SECRET_KEY holds the key/);
    await (await startChild(settings)).end("SIGTERM");
  });
});
