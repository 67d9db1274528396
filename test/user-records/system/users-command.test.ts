/* `rapport users`: the stored data of one person, from the command line. */
import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { byAlias, id, TIME } from "../../core/people/identity/identity-calls.ts";
import { startServer, type TestWorkspace } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { runCommand } from "../../system/child-server.ts";

const server = await startServer();
const folder = await temporaryFolder();

const run = ({ name }: TestWorkspace, command: string, ...args: string[]) =>
  runCommand(["users", command, ...args, "--workspace", name, "--url", server.url], {
    ADMIN_TOKEN: server.adminToken,
  });

async function workspaceWithAda(): Promise<TestWorkspace> {
  const workspace = await server.workspace();
  await workspace.track({
    attributes: [
      { ...id("ada"), email: "ada@example.com", first_name: "Ada", email_subscribe: "opted_in" },
      { ...id("ada-old"), home_city: "London" },
      { ...byAlias("ada"), _update_existing_only: false, first_name: "Alias" },
    ],
    events: Array.from({ length: 45 }, (_, index) => ({
      ...id("ada"),
      name: `event ${index}`,
      time: TIME,
      properties: { place: index },
    })),
  });
  await workspace.track({
    purchases: [{ ...id("ada"), product_id: "p", currency: "USD", price: 2, time: TIME }],
  });
  return workspace;
}

describe("rapport users", () => {
  test("rapport users search shows one line per user, or JSON", async () => {
    const workspace = await workspaceWithAda();
    const lines = await run(workspace, "search", "ada");
    assert.equal(lines.code, 0);
    assert.deepEqual(
      lines.stdout.split("\n").map((line) => line.split("  ").slice(1).join(" ")),
      ["ada ada@example.com Ada", "ada-old", "l:ada Alias", ""],
    );
    const named = await run(workspace, "search", "ALI", "--json");
    assert.deepEqual(JSON.parse(named.stdout).users[0].matched, {
      identifier: "name",
      value: "Alias",
    });
    const one = JSON.parse(
      (await run(workspace, "search", "ada", "--limit", "1", "--json")).stdout,
    );
    assert.deepEqual([one.users.length, one.has_more], [1, true]);
    const nobody = await run(workspace, "search", "nobody");
    assert.deepEqual([nobody.code, nobody.stdout], [0, ""]);
  });

  test("rapport users count says how many users there are", async () => {
    const workspace = await workspaceWithAda();
    assert.equal((await run(workspace, "count")).stdout, "3 users\n");
    const { users, exact, counted_at } = JSON.parse(
      (await run(workspace, "count", "--json")).stdout,
    );
    assert.deepEqual([users, exact], [3, true]);
    assert.ok(Math.abs(Date.now() - Date.parse(counted_at)) < 60_000);
  });

  test("rapport users shows control characters in names of users as escapes, in lines and in JSON", async () => {
    const workspace = await server.workspace();
    const evil = "eve\u001b[2J\u0007\u009b31m\u202e\u007f";
    await workspace.track({
      attributes: [
        { external_id: evil, email: "eve@acme.example", first_name: "x\u001b]52;c;AAAA\u0007" },
      ],
      events: [{ external_id: evil, name: "seen\r\u001b[1A", time: TIME }],
    });
    for (const [command, args] of [
      ["search", ["eve"]],
      ["search", ["eve", "--json"]],
      ["get", ["eve@acme.example"]],
      ["timeline", ["eve@acme.example"]],
      ["timeline", ["eve@acme.example", "--json"]],
    ] as const) {
      const { code, stdout, stderr } = await run(workspace, command, ...args);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /eve|seen/);
      assert.doesNotMatch((stdout + stderr).replaceAll("\n", ""), /[\p{Cc}\u202a-\u202e]/u);
    }
    const [user] = JSON.parse((await run(workspace, "search", "eve", "--json")).stdout).users;
    assert.equal(user.external_id, evil);
  });

  test("rapport users get refuses an identifier of several users or of none, and says how to choose one", async () => {
    const workspace = await workspaceWithAda();
    const several = await run(workspace, "get", "ada");
    assert.deepEqual([several.code, several.stdout], [1, ""]);
    assert.match(several.stderr, /^rapport: 2 users are called 'ada':/);
    const chosen = await run(workspace, "get", "ada", "--identifier", "external_id");
    assert.equal(chosen.code, 0);
    assert.match(chosen.stdout, /first_name: Ada/);
    const nobody = await run(workspace, "get", "ad");
    assert.match(nobody.stderr, /There is no user 'ad'\. Search/);
  });

  test("export writes everything that is stored, every event with its properties, for its owner alone", async () => {
    const workspace = await workspaceWithAda();
    const file = join(folder, "ada.json");
    const { code, stdout } = await run(workspace, "export", "ada@example.com", file);
    assert.equal(code, 0);
    assert.match(stdout, /^Wrote everything about \S+ {2}ada /);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const record = JSON.parse(await readFile(file, "utf8"));
    assert.equal(record.user.first_name, "Ada");
    assert.equal(record.subscriptions.email.state, "opted_in");
    const ofKind = (kind: string) => record.timeline.filter((entry: any) => entry.kind === kind);
    assert.deepEqual(
      ofKind("event")
        .map((entry: any) => entry.properties.place)
        .sort((one: number, other: number) => one - other),
      Array.from({ length: 45 }, (_, index) => index),
    );
    assert.deepEqual([ofKind("purchase").length, ofKind("subscription").length], [1, 1]);
    const piped = await run(workspace, "export", "ada@example.com", "--format", "ndjson");
    const lines = piped.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(lines[0].user.external_id, "ada");
    assert.deepEqual(lines.slice(1), record.timeline);
  });

  test("export leaves no file behind if it fails", async () => {
    const workspace = await workspaceWithAda();
    const missing = join(folder, "no-such-folder", "ada.json");
    const { code, stderr } = await run(workspace, "export", "ada@example.com", missing);
    assert.equal(code, 1);
    const parent = join(folder, "no-such-folder");
    assert.equal(
      stderr,
      `rapport: The folder ${parent} does not exist. Create it first: mkdir -p '${parent}'\n`,
    );
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.includes("unfinished")),
      [],
    );
  });

  test("erase asks first, removes the user, and prints the audit entry", async () => {
    const workspace = await workspaceWithAda();
    const refused = await run(workspace, "erase", "ada@example.com");
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /--yes/);
    assert.equal((await run(workspace, "get", "ada@example.com")).code, 0);
    const erased = await run(workspace, "erase", "ada@example.com", "--yes");
    assert.equal(erased.code, 0, erased.stderr);
    assert.match(erased.stdout, /is erased\. The state of the address is erased\./);
    assert.match(erased.stdout, /custom_events: event 0/);
    assert.doesNotMatch(erased.stdout, /ada@example|Ada/);
    assert.equal((await run(workspace, "get", "ada@example.com")).code, 1);
  });

  test("merge previews its effects, and merges after confirmation", async () => {
    const workspace = await workspaceWithAda();
    const args = ["merge", "ada-old", "ada@example.com"] as const;
    const preview = await run(workspace, ...args, "--dry-run");
    assert.match(preview.stdout, /nothing was changed\):\n.*home_city: taken, then "London"/s);
    assert.equal((await run(workspace, "get", "ada-old")).code, 0);
    assert.equal((await run(workspace, ...args)).code, 1);
    const merged = await run(workspace, ...args, "--yes");
    assert.deepEqual([merged.code, merged.stderr], [0, ""]);
    assert.equal((await workspace.profile({ external_ids: ["ada"] })).home_city, "London");
  });
});
