/* `rapport export`: a client of the export stream that writes files. */
import assert from "node:assert/strict";
import { readdir, readFile, stat, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { byAlias, id, TIME } from "../../core/people/identity/identity-calls.ts";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { runCommand } from "../../system/child-server.ts";

const server = await startServer();
const folder = await temporaryFolder();

const run = ({ name }: TestWorkspace, ...args: string[]) =>
  runCommand(["export", ...args, "--workspace", name, "--url", server.url], {
    ADMIN_TOKEN: server.adminToken,
  });

async function someWorkspace(): Promise<TestWorkspace> {
  const workspace = await server.workspace();
  await workspace.track({
    attributes: [
      { ...id("ada"), first_name: 'A "quoted", name', tags: ["one", "two"], plan: "pro" },
      { ...byAlias("bob"), _update_existing_only: false, plan: "free" },
    ],
    events: Array.from({ length: 30 }, (_, index) => ({
      ...id("ada"),
      name: "e",
      time: TIME,
      properties: { place: index, size: index % 2 ? "L" : null },
    })),
  });
  return workspace;
}

const linesIn = (text: string): any[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** The files that a command left in the folder, apart from these names. */
const leftBehind = async (...names: string[]) =>
  (await readdir(folder)).filter((name) => !names.includes(name) && name.includes("unfinished"));

describe("rapport export", () => {
  test("an export into a folder that does not exist names the folder and how to create it", async () => {
    const workspace = await someWorkspace();
    for (const name of ["users.ndjson", "users.csv", "users.parquet"]) {
      const file = join(folder, "not there", name);
      const { code, stderr } = await run(workspace, "users", file);
      assert.equal(code, 1);
      const missing = join(folder, "not there");
      assert.ok(
        stderr.includes(
          `The folder ${missing} does not exist. Create it first: mkdir -p '${missing}'`,
        ),
        stderr,
      );
    }
  });

  test("rapport export writes a file readable only by its owner, or to standard output, and counts the rows", async () => {
    const workspace = await someWorkspace();
    const file = join(folder, "events.ndjson");
    const { code, stdout, stderr } = await run(workspace, "events", file);
    assert.deepEqual([code, stdout], [0, `Exported 30 events to ${file}.\n`], stderr);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const rows = linesIn(await readFile(file, "utf8"));
    assert.equal(rows.length, 30);
    const piped = await run(workspace, "events", "--attribute", "plan=pro");
    assert.deepEqual(linesIn(piped.stdout), rows);
    const none = await run(workspace, "events", "-", "--since", "2030-01-01");
    assert.deepEqual([none.code, none.stdout], [0, ""]);
    const counted = await run(workspace, "users", join(folder, "users.ndjson"), "--json");
    assert.equal(JSON.parse(counted.stdout).rows, 2);
  });

  test("rapport export compresses a file whose name ends in .gz", async () => {
    const workspace = await someWorkspace();
    const file = join(folder, "events.ndjson.gz");
    assert.equal((await run(workspace, "events", file)).code, 0);
    assert.equal(linesIn(gunzipSync(await readFile(file)).toString()).length, 30);
  });

  test("rapport export writes CSV with a column for every attribute and property", async () => {
    const workspace = await someWorkspace();
    const users = join(folder, "users.csv");
    assert.equal((await run(workspace, "users", users)).code, 0);
    const rows: any[] = parse(await readFile(users), { columns: true });
    const ada = rows.find((row) => row.external_id === "ada");
    assert.deepEqual(
      [ada.first_name, ada["custom_attributes.tags:json"], ada["custom_attributes.plan:text"]],
      ['A "quoted", name', '["one","two"]', "pro"],
    );
    const events = join(folder, "events.csv");
    assert.equal((await run(workspace, "events", events)).code, 0);
    const places = parse<any>(await readFile(events), { columns: true }).map(
      (row: any) => row["properties.place:number"],
    );
    assert.equal(new Set(places).size, 30);
    assert.equal((await stat(events)).mode & 0o777, 0o600);
    assert.deepEqual(await leftBehind(), []);
  });

  test("rapport export leaves no file when the stream ends early, even if the connection ends properly", async () => {
    const half = createServer((request, response) => {
      const isStream = request.url?.includes("/export/");
      const type = isStream ? "application/x-ndjson" : "application/json";
      response.writeHead(200, { "content-type": type });
      if (isStream) response.end(`${'{"external_id":"ada"}\n'.repeat(5)}{"external_id":`);
      else response.end(JSON.stringify({ workspaces: [{ name: "demo" }] }));
    }).listen(0);
    after(() => half.close());
    const url = `http://127.0.0.1:${(half.address() as AddressInfo).port}`;
    for (const name of ["half.ndjson", "half.csv", "half.parquet"]) {
      const args = ["export", "users", join(folder, name), "--url", url];
      const { code, stderr } = await runCommand(args, { ADMIN_TOKEN: "x" });
      assert.equal(code, 1);
      assert.match(stderr, /The export broke off after 4 rows/);
    }
    assert.deepEqual(
      (await readdir(folder)).filter((name) => /half|unfinished|rapport-export/.test(name)),
      [],
    );
  });

  test("rapport export reports a full disk and writes to a device without replacing it", async (context) => {
    // A link, so that a fault in the command does not replace the device itself.
    const device = join(folder, "full");
    await symlink("/dev/full", device);
    const isThere = async () => (await stat(device).catch(() => undefined))?.isCharacterDevice();
    if (!(await isThere())) return context.skip("there is no /dev/full");
    const workspace = await someWorkspace();
    for (const format of ["ndjson", "csv"]) {
      const { code, stderr } = await run(workspace, "events", device, "--format", format);
      assert.equal(code, 1);
      assert.match(stderr, /^rapport: \S+\/full: the disk is full\. Free some space/m);
      assert.ok(await isThere());
    }
  });
});
