/* `rapport backup` and `rapport restore`, on the engine of the suite and from one engine to the other. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { AWKWARD_TEXT, LONG_ATTRIBUTES } from "../awkward-text.ts";
import { freshDatabase } from "../core/database/fresh-database.ts";
import { TEST_SECRET_KEY } from "../harness.ts";
import { oneIn, sized } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { until } from "../until.ts";
import {
  type ChildServer,
  type Environment,
  post,
  runCommand,
  startChild,
} from "./child-server.ts";

const TIME = "2026-01-01T12:00:00Z";
const ADMIN_TOKEN = "the-admin-token-of-these-tests";

/** An empty place of the suite's engine. */
async function emptyPlace(): Promise<Environment> {
  const databaseUrl = await freshDatabase();
  const DATA_DIR = join(await temporaryFolder(), "data");
  const secrets = { ADMIN_TOKEN, SECRET_KEY: TEST_SECRET_KEY };
  return { DATA_DIR, ...secrets, ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }) };
}

/**
 * An event of two users each, and a counter beside: one transaction if the request has an
 * Idempotency-Key.
 */
const step = (n: number) => ({
  attributes: [{ external_id: "ada", steps: { inc: 1 }, [`text ${n % 5}`]: AWKWARD_TEXT }],
  events: ["ada", "bob"].map((external_id) => ({ external_id, name: "stepped", time: TIME })),
});

const EVE = { external_id: "eve", ...LONG_ATTRIBUTES, [AWKWARD_TEXT.slice(1, 200)]: 1 };

/** Asks for a link to a preference page: its secret is sealed. */
async function linkStatus({ url }: ChildServer, key: string): Promise<number> {
  const path = `${url}/preference_center/v1/0f4e6c1a-7d02-4c55-9a3e-2b8d51c7f6a4/url/ada`;
  return (await fetch(path, { headers: { authorization: `Bearer ${key}` } })).status;
}

async function read(url: string, key: string) {
  const { body } = await post(`${url}/users/export/ids`, key, { external_ids: ["ada", "bob"] });
  const [ada, bob] = ["ada", "bob"].map((id) =>
    body.users.find((user: { external_id: string }) => user.external_id === id),
  );
  const count = (user: any): number => user.custom_events[0].count;
  assert.equal(ada.custom_attributes["text 1"], AWKWARD_TEXT);
  return { ada: count(ada), bob: count(bob), steps: ada.custom_attributes.steps as number };
}

const isCluster = (process.env.TEST_CITUS_WORKERS ?? "") !== "";
const skip = isCluster && "on a cluster each node has a backup of its own";

const folder = await temporaryFolder();
const place = await emptyPlace();
const server = await startChild(place);
const at = { ...place, RAPPORT_URL: server.url };
const file = join(folder, "first.backup");

test("rapport backup is refused on a Citus cluster, and tells how to back up its nodes", {
  skip: !isCluster && "no cluster",
}, async () => {
  const { code, stderr } = await runCommand(["backup", file], place);
  assert.equal(code, 1);
  assert.match(stderr, /^rapport: This is a Citus cluster.*citus_create_restore_point/);
});

const NEEDS_KEY = /^A server does not start on it yet\. .*SECRET_KEY/m;

describe("rapport backup", { skip }, () => {
  let acknowledged = 0;
  /** Of a server on what was restored. */
  let restored: { eve: unknown; link: number };

  test("a backup during writes contains every write that was acknowledged before it began, each whole", async () => {
    const tracked = await post(`${server.url}/users/track`, server.key, { attributes: [EVE] });
    assert.equal(tracked.status, 201, JSON.stringify(tracked.body));
    await post(`${server.url}/users/track`, server.key, step(0));
    assert.equal(await linkStatus(server, server.key), 200);
    acknowledged += 1;
    let isWriting = true;
    const write = async () => {
      while (isWriting) {
        const whole = { "idempotency-key": randomUUID() };
        const { status } = await post(
          `${server.url}/users/track`,
          server.key,
          step(acknowledged),
          whole,
        );
        if (status === 201) acknowledged += 1;
        await sleep(10);
      }
    };
    const writers = Array.from({ length: 4 }, write);
    await until(() => acknowledged >= 50);
    const before = acknowledged;
    const { code, stdout, stderr } = await runCommand(["backup", file], at);
    const after = acknowledged;
    isWriting = false;
    await Promise.all(writers);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Backed up and verified: [\d,]+ rows of \d+ tables, [\d.]+ MB\n$/);
    assert.ok(after > before, "The server wrote while the backup ran.");
    assert.equal((await stat(file)).mode & 0o777, 0o600);

    const empty = await emptyPlace();
    const restoring = await runCommand(["restore", file], empty);
    assert.equal(restoring.code, 0, restoring.stderr);
    assert.doesNotMatch(restoring.stderr, NEEDS_KEY);
    const second = await startChild(empty);
    const { ada, bob, steps } = await read(second.url, server.key);
    const external_ids = ["eve"];
    const { body } = await post(`${second.url}/users/export/ids`, server.key, { external_ids });
    const [eve] = body.users;
    restored = { eve: eve?.custom_attributes, link: await linkStatus(second, server.key) };
    await second.end("SIGTERM");
    assert.ok(ada >= before && ada <= after + 4, `${before} ≤ ${ada} ≤ ${after}`);
    assert.deepEqual([bob, steps], [ada, ada]);
  });

  test("a backup leaves nothing but its file and never overwrites one", async () => {
    assert.deepEqual(await readdir(folder), ["first.backup"]);
    const before = await readFile(file);
    const { code, stderr } = await runCommand(["backup", file], at);
    assert.deepEqual(
      [code, stderr],
      [1, `rapport: ${file} exists already. Choose another name.\n`],
    );
    assert.deepEqual(await readFile(file), before);
    const copies = await readdir(place.DATA_DIR as string);
    assert.deepEqual(
      copies.filter((name) => name.startsWith("copy-")),
      [],
    );
  });

  test("a backup without room on the disk leaves no file and reports the reason", async () => {
    const full = join(folder, "full.backup");
    // As on a full disk: the system refuses to make a file larger than a few KiB. The writer alone, because the
    // embedded engine would be refused, too.
    const module = (name: string) => JSON.stringify(join(packageRoot(), "dist/src", name));
    const script = `
      import { randomBytes } from "node:crypto";
      import { writeBackup } from ${module("core/database/backup/backup-file.js")};
      import { explainError } from ${module("cli/explain-error.js")};
      const rows = () => [JSON.stringify([randomBytes(100_000).toString("hex")])];
      await writeBackup(${JSON.stringify(full)}, async (writer) => {
        await writer.header({ rapport_backup: 1, version: "", created_at: "", migrations: {} });
        await writer.table({ table: "t", columns: [] });
        for (let n = 0; n < 100; n++) await writer.rows(rows());
      }).catch((error) => console.log(explainError(error)));`;
    const limited = `trap '' XFSZ; ulimit -f 4; exec "$0" --input-type=module -e "$1"`;
    const { stdout } = await promisify(execFile)("bash", ["-c", limited, process.execPath, script]);
    assert.equal(stdout, "The file would be larger than this system or user may write.\n");
    assert.deepEqual(await readdir(folder), ["first.backup"]);
  });

  test("a backup with a row of a megabyte on one line restores it unchanged, and sealed secrets that open with the key", () => {
    const { external_id, ...attributes } = EVE;
    assert.deepEqual(restored, { eve: attributes, link: 200 });
  });

  test("a backup of a stopped server restores into the other engine and back with the same rows", {
    skip: sized(!place.DATABASE_URL, false) && "the other engine is tried on PostgreSQL",
  }, async () => {
    await server.end("SIGTERM");
    const stopped = join(folder, "stopped.backup");
    assert.equal((await runCommand(["backup", stopped], at)).code, 0);
    const embedded = { DATA_DIR: join(await temporaryFolder(), "data"), PORT: "1" };
    assert.equal((await runCommand(["restore", stopped], embedded)).code, 0);
    const again = join(folder, "again.backup");
    const { code, stderr } = await runCommand(["backup", again], {
      ...embedded,
      ADMIN_TOKEN,
      RAPPORT_URL: server.url,
    });
    assert.equal(code, 0, stderr);
    const rowsOf = async (path: string) =>
      gunzipSync(await readFile(path))
        .toString()
        .split("\n")
        .slice(1, -2);
    assert.deepEqual(await rowsOf(again), await rowsOf(stopped));
  });
});

describe("rapport restore", { skip }, () => {
  test("rapport restore refuses a database that is not empty", async () => {
    const { code, stderr } = await runCommand(["restore", file], place);
    assert.equal(code, 1);
    assert.match(stderr, /^rapport: (The database is not empty|.*engine exists already)/);
  });

  const good = (): Promise<Buffer> => readFile(file);
  const edited = async (edit: (text: string) => string): Promise<Buffer> =>
    gzipSync(edit(gunzipSync(await good()).toString()));

  const refused: [what: string, content: () => Promise<Uint8Array>, message: RegExp][] = [
    ["that is cut off", async () => (await good()).subarray(0, -100), / is cut off\.$/],
    [
      "that lacks its last line",
      () => edited((text) => text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1)),
      / is cut off: its last line is missing\.$/,
    ],
    [
      "of which one value was changed",
      () => edited((text) => text.replace("stepped", "skipped")),
      / is damaged: its checksum does not match its content\.$/,
    ],
    [
      "with a line over 32 MiB",
      () => edited((text) => text.replace("stepped", "stepped".repeat(10_000_000))),
      / is damaged: its line \d+ is longer than 32 MiB\.$/,
    ],
    ["that is something else", async () => gzipSync("hello\n"), / is no backup\.$/],
    ["that is not packed", async () => Buffer.from("hello\n"), / is no backup\.$/],
  ];
  /** All of them are refused: it stays empty, or the next one would be refused for its contents. */
  const untouched = emptyPlace();

  const isTried = oneIn(2);
  for (const [what, content, message] of refused.filter(isTried)) {
    test(`rapport restore refuses a file ${what} and writes nothing`, async () => {
      const path = join(folder, `${what.replaceAll(" ", "-")}.backup`);
      await writeFile(path, await content());
      const { code, stdout, stderr } = await runCommand(["restore", path], await untouched);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr.trim(), message);
    });
  }

  /** A backup with edited lines and the checksum of them, as anybody can write it. */
  const forged = async (edit: (text: string) => string): Promise<string> => {
    const lines = gunzipSync(await good())
      .toString()
      .split("\n")
      .slice(0, -2);
    const text = edit(`${lines.join("\n")}\n`);
    const rows = text.split("\n").filter((line) => line.startsWith("[")).length;
    const sha256 = createHash("sha256").update(text).digest("hex");
    const path = join(folder, `forged-${randomUUID()}.backup`);
    await writeFile(path, gzipSync(`${text}${JSON.stringify({ rows, sha256 })}\n`));
    return path;
  };

  test("rapport restore refuses an edited backup with a right checksum, unless it may be unsigned", async () => {
    const path = await forged((text) => text.replaceAll("stepped", "skipped"));
    const refused = await runCommand(["restore", path], await untouched);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /has no signature.* pass --unsigned\.$/m);
    const { code, stderr } = await runCommand(["restore", "--unsigned", path], await emptyPlace());
    assert.equal(code, 0, stderr);
    const SECRET_KEY = "another-secret-key-of-these-tests";
    const other = await runCommand(["restore", file], { ...(await untouched), SECRET_KEY });
    assert.equal(other.code, 1);
    assert.match(
      other.stderr,
      /was changed after it was written, or was signed with another SECRET_KEY/,
    );
  });

  test("rapport restore runs nothing that a backup names as a table, a column or a type", async () => {
    const edits: ((text: string) => string)[] = [
      (text) => text.replace('"type":"text"', `"type":"text || pg_read_file('/etc/hostname')"`),
      (text) => text.replace('"table":"companies"', `"table":"companies\\" default values; --"`),
      (text) => text.replace('"name":"company_id"', `"name":"company_id\\") select 1; --"`),
    ];
    const isTried = oneIn(edits.length);
    for (const edit of edits.filter(isTried)) {
      const path = await forged(edit);
      const { code, stderr } = await runCommand(["restore", "--unsigned", path], await untouched);
      assert.equal(code, 1, stderr);
      assert.match(stderr, /is damaged: it has a table that its schema does not have in this form/);
    }
  });

  test("rapport restore refuses a backup of a newer version and names the version to use", async () => {
    const lines = gunzipSync(await good())
      .toString()
      .split("\n")
      .slice(0, -2);
    lines[0] = (lines[0] ?? "").replace('"migrations":{', '"migrations":{"9999-new.sql":"0",');
    const text = `${lines.join("\n")}\n`;
    const rows = lines.filter((line) => line.startsWith("[")).length;
    const sha256 = createHash("sha256").update(text).digest("hex");
    const path = join(folder, "newer.backup");
    await writeFile(path, gzipSync(`${text}${JSON.stringify({ rows, sha256 })}\n`));
    const { code, stderr } = await runCommand(["restore", path], await untouched);
    assert.equal(code, 1);
    assert.match(stderr, /was written by a newer version of Rapport .*9999-new\.sql/);
  });

  test("a whole backup is restored after damaged ones were refused, and without the key of its secrets it names the key that is missing", async () => {
    const { SECRET_KEY: _, ...without } = await untouched;
    const { code, stderr } = await runCommand(["restore", file], without);
    assert.equal(code, 0, stderr);
    assert.match(stderr, NEEDS_KEY);
    await assert.rejects(startChild(without), /SECRET_KEY/);
  });
});
