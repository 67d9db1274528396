/* `rapport import`: a client of the admin API that imports a file. */
import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { NEWSLETTER, startServer, type TestWorkspace, WEB_APP } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { killCommandAt, runCommand } from "../../system/child-server.ts";

const server = await startServer();
const folder = await temporaryFolder();
const admin = { ADMIN_TOKEN: server.adminToken, RAPPORT_URL: server.url };

let files = 0;
async function fileOf(content: string | Uint8Array, extension = "ndjson"): Promise<string> {
  const path = join(folder, `file-${++files}.${extension}`);
  await writeFile(path, content);
  return path;
}

const ndjson = (rows: readonly unknown[]): string =>
  rows.map((row) => `${typeof row === "string" ? row : JSON.stringify(row)}\n`).join("");

const importing = (kind: string, path: string, { name }: TestWorkspace, ...more: string[]) =>
  runCommand(["import", kind, path, "--workspace", name, ...more], admin);

const TIME = "2026-01-01T12:00:00.000Z";
const usage = (sessions: number) => [
  { app_id: WEB_APP, sessions, first_used: TIME, last_used: TIME },
];
const event = (n: number) => ({
  external_id: `user ${n % 7}`,
  name: "opened",
  time: TIME,
  properties: { n },
});

const countOf = async (workspace: TestWorkspace, users: number): Promise<number> => {
  const ids = Array.from({ length: users }, (_, index) => `user ${index}`);
  const fields_to_export = ["custom_events"];
  const profiles = await workspace.profiles({ external_ids: ids, fields_to_export });
  return profiles.flatMap((each) => each.custom_events).reduce((sum, each) => sum + each.count, 0);
};

describe("rapport import", { concurrency: 3 }, () => {
  test("rapport import imports every user of a file, and repeating it changes nothing", async () => {
    const workspace = await server.workspace();
    const users = Array.from({ length: 2_201 }, (_, index) => ({
      external_id: `user ${index}`,
      first_name: "Ada",
      logins: index,
      apps: usage(index),
    }));
    const path = await fileOf(ndjson(users));
    for (const _time of ["first", "second"]) {
      const { code, stdout } = await importing("users", path, workspace);
      assert.deepEqual([code, stdout], [0, "2,201 users imported, 0 rejected\n"]);
    }
    const [last] = await workspace.profiles({ external_ids: ["user 2200"] });
    assert.deepEqual(
      [last?.first_name, last?.custom_attributes, last?.apps[0].sessions],
      ["Ada", { logins: 2_200 }, 2_200],
    );
  });

  test("rapport import reports each rejected line with the reason, imports the rest and exits with 2", async () => {
    const workspace = await server.workspace();
    const path = await fileOf(
      ndjson([
        { external_id: "ada", apps: usage(1) },
        "{ no json",
        "",
        { external_id: "bob", apps: "none" },
        { platform_id: "00000000-0000-7000-8000-000000000000", apps: usage(1) },
        { external_id: "eve", apps: usage(2) },
      ]),
    );
    const { code, stdout, stderr } = await importing("users", path, workspace);
    assert.deepEqual([code, stdout], [2, "2 users imported, 3 rejected\n"]);
    const reasons = stderr.split("\n").filter((line) => line.startsWith(path));
    assert.deepEqual(
      reasons.map((line) => line.slice(path.length, path.length + 3)),
      [":2:", ":4:", ":5:"],
    );
    assert.match(reasons[0] ?? "", /not one JSON value \(INVALID_JSON\)$/);
    assert.match(reasons[1] ?? "", /'apps'/);
    assert.equal((await workspace.profiles({ external_ids: ["ada", "bob", "eve"] })).length, 2);
  });

  test("rapport import imports a file of events a second time only with --again", async () => {
    const workspace = await server.workspace();
    const path = await fileOf(ndjson([event(0), event(1), { ...event(2), name: "" }]));
    assert.equal((await importing("events", path, workspace)).code, 2);
    const second = await importing("events", path, workspace);
    assert.equal(second.code, 1);
    assert.match(second.stderr, /^rapport: 3 rows of .* were imported .*--resume .*--again/m);
    assert.equal(await countOf(workspace, 7), 2);
    const resumed = await importing("events", path, workspace, "--resume");
    assert.deepEqual(
      [resumed.code, resumed.stdout],
      [2, "Nothing was left to import. Before: 2 events imported, 1 rejected\n"],
    );
    assert.equal(await countOf(workspace, 7), 2);
    assert.equal((await importing("events", path, workspace, "--again")).code, 2);
    assert.equal(await countOf(workspace, 7), 4);
  });

  test("rapport import --resume continues after three kills and imports every event exactly once", async () => {
    const workspace = await server.workspace();
    const total = 12_000;
    const bad = "bad\u2028\u2029\r";
    const events = Array.from({ length: total }, (_, n) => (n % 1_000 === 3 ? bad : event(n)));
    const path = await fileOf(ndjson(events));
    const rejects = join(folder, `rejects-${++files}`);
    const args = ["import", "events", path, "--workspace", workspace.name, "--rejects", rejects];
    for (const more of [[], ["--resume"], ["--resume"]]) {
      const killed = await killCommandAt([...args, ...more], admin, /rows done/);
      assert.equal(killed.code, null);
    }
    const { code, stdout, stderr } = await runCommand([...args, "--resume"], admin);
    assert.deepEqual([code, stdout], [2, "11,988 events imported, 12 rejected\n"]);
    assert.match(stderr, /^Continuing after row \d,000\.$/m);
    assert.equal(await countOf(workspace, 7), 11_988);
    const rejected = (await readFile(rejects, "utf8")).trim().split("\n");
    assert.deepEqual(
      rejected.map((line) => JSON.parse(line).row),
      Array.from({ length: 12 }, (_, batch) => batch * 1_000 + 4),
    );
  });

  test("rapport import --rejects writes rejected rows to a file that only its owner can read", async () => {
    const workspace = await server.workspace();
    const path = await fileOf(ndjson([{ external_id: "ada", email: "nonsense" }]));
    const rejects = join(folder, `rejects-${++files}`);
    await writeFile(rejects, "left over", { mode: 0o644 });
    assert.equal((await importing("users", path, workspace, "--rejects", rejects)).code, 2);
    assert.equal((await stat(rejects)).mode & 0o777, 0o600);
    const { message, ...reject } = JSON.parse(await readFile(rejects, "utf8"));
    assert.match(message, /'email'/);
    assert.deepEqual(reject, {
      row: 1,
      line: 1,
      outcome: "rejected",
      code: "EMAIL_BAD_FORMAT",
      data: { external_id: "ada", email: "nonsense" },
    });
  });

  test("rapport import reads gzip files of purchases, and subscriptions from standard input", async () => {
    const workspace = await server.workspace();
    const purchase = {
      external_id: "ada",
      product_id: "tea",
      currency: "EUR",
      price: 3,
      time: TIME,
    };
    const path = await fileOf(gzipSync(ndjson([purchase])), "ndjson.gz");
    assert.equal((await importing("purchases", path, workspace)).code, 0);
    const rows = ndjson([
      { external_id: "ada", subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
      { email: "ada@example.com", subscription_state: "unsubscribed" },
      { email: "ada@example.com", subscription_state: "opted_in" },
      {
        external_id: "nobody",
        subscription_group_id: NEWSLETTER,
        subscription_state: "subscribed",
      },
    ]);
    const args = ["import", "subscriptions", "-", "--workspace", workspace.name, "--json"];
    const { code, stdout, stderr } = await runCommand(args, admin, rows);
    assert.deepEqual([code, JSON.parse(stdout).imported], [2, 3]);
    assert.match(stderr, /^standard input:4: no user has this 'external_id' \(USER_NOT_FOUND\)$/m);
    await workspace.track({ attributes: [{ external_id: "ada", email: "ada@example.com" }] });
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.total_revenue, 3);
    assert.deepEqual(ada.subscription_groups, [
      { id: NEWSLETTER, channel: "email", status: "subscribed" },
    ]);
    assert.equal(ada.email_subscribe, "opted_in");
  });

  test("rapport import asks for a workspace if there are several, and names one that does not exist", async () => {
    const path = await fileOf(ndjson([{ external_id: "ada" }]));
    await server.workspace();
    await server.workspace();
    const several = await runCommand(["import", "users", path], admin);
    assert.equal(several.code, 1);
    assert.match(several.stderr, /^rapport: Choose a workspace with --workspace: /);
    const none = await runCommand(["import", "users", path, "--workspace", "nowhere"], admin);
    assert.match(none.stderr, /^rapport: There is no workspace 'nowhere'\. There are: /);
    for (const url of ["nonsense", "ftp://localhost", "localhost:8080"]) {
      const lost = await runCommand(["keys", "list", "demo", "--url", url], { ADMIN_TOKEN: "x" });
      assert.equal(
        lost.stderr,
        `rapport: '${url}' is not an address such as http://127.0.0.1:8080.\n`,
      );
    }
  });
});

describe("import batches", () => {
  const rows = (from: number, length = 2) =>
    Array.from({ length }, (_, index) => event(from + index));

  test("an import batch is written once, even if it is sent again, and only in its order", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/imports/file`;
    const send = (first_row: number, list: unknown[]) =>
      server.admin("POST", path, { kind: "events", first_row, rows: list });
    for (const repeated of [false, true]) {
      assert.deepEqual((await send(1, rows(0))).body, {
        imported: 2,
        notes: [],
        repeated,
        message: "success",
      });
    }
    const gap = await send(4, rows(3));
    assert.deepEqual([gap.status, gap.body.next_row], [409, 3]);
    assert.equal((await send(3, rows(2))).status, 200);
    assert.equal((await send(1, rows(0))).status, 409);
    assert.equal(await countOf(workspace, 7), 4);
    assert.equal((await server.admin("GET", path)).body.rows_done, 4);
    assert.equal((await server.admin("DELETE", path)).status, 200);
    assert.equal((await server.admin("GET", path)).status, 404);
  });

  test("an import batch is written once, even if several clients send it concurrently", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/imports/file`;
    const body = { kind: "events", first_row: 1, rows: rows(0, 50) };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => server.admin("POST", path, body)),
    );
    for (const { status } of answers) assert.ok([200, 409].includes(status), `${status}`);
    assert.equal(await countOf(workspace, 7), 50);
  });

  test("a reset of the workspace deletes the progress of its imports", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/imports/file`;
    await server.admin("POST", path, { kind: "events", first_row: 1, rows: rows(0) });
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.equal((await server.admin("GET", path)).status, 404);
  });
});
