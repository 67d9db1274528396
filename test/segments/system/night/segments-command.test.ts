/* `rapport segments`: who meets a filter, from the command line. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { ENGINE, startServer } from "../../../harness.ts";
import { temporaryFolder } from "../../../stored-rows.ts";
import { killCommandAt, runCommand } from "../../../system/child-server.ts";

const server = await startServer();
const folder = await temporaryFolder();
const workspace = await server.workspace();
const id = randomUUID();
const waiting = randomUUID();

await workspace.track({
  attributes: ["ada", "bob", "cyd"].map((external_id, index) => ({
    external_id,
    plan: index < 2 ? "pro" : "free",
    email: index === 0 ? "ada@example.com" : null,
  })),
});
const filter = { all: [{ custom_attribute: "plan", equals: "pro" }, { email_available: true }] };
const path = `/admin/v1/workspaces/${workspace.name}/segments/${id}`;
await server.admin("PUT", path, { name: "Pros", filter });

const run = (...args: string[]) =>
  runCommand(["segments", ...args, "--workspace", workspace.name, "--url", server.url], {
    ADMIN_TOKEN: server.adminToken,
  });

/** Holds up everyone who reads a table, for 20 s at most. @returns what lets them go on. */
function lockTable(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    server.database
      .transaction(async (tx) => {
        await tx.query(`lock table ${name} in access exclusive mode`);
        await new Promise<void>((release) => {
          setTimeout(release, 20_000).unref();
          resolve(release);
        });
      })
      .catch(reject);
  });
}

describe("rapport segments", () => {
  test("list and count name segments by id or name, and count tells the parts and who can be reached", async () => {
    assert.equal((await run("list")).stdout, `${id}  Pros\n`);
    const { code, stdout } = await run("count", "Pros", "--exact", "--parts", "--reach");
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^Users who match: plan is "pro", and can receive email\.\n1 of 3 users\n/,
    );
    assert.match(stdout, /plan is "pro": 2; with those before: 2\n.*: 1; with those before: 1\n/);
    assert.match(stdout, /by email, Email: 1\n/);
    const json = await run(
      "count",
      "--filter",
      '{"custom_attribute":"plan","exists":true}',
      "--json",
    );
    assert.equal(JSON.parse(json.stdout).matching, 3);
  });

  test("an interrupt cancels an exact count, also while the server still counts by itself", async () => {
    const release = await lockTable("profiles");
    const all = ["--workspace", workspace.name, "--url", server.url];
    const interrupted = await killCommandAt(
      ["segments", "count", "--filter", JSON.stringify(filter), "--exact", ...all],
      { ADMIN_TOKEN: server.adminToken },
      /counting all users/,
      "SIGINT",
      () => setTimeout(release, 300),
    );
    assert.deepEqual([interrupted.code, interrupted.stdout], [1, ""]);
    assert.match(interrupted.stderr, /The count was cancelled\./);
    assert.equal((await run("counts")).stdout.includes("counted"), false);
  });

  test("an interrupt cancels an exact count that a job has taken over", {
    skip:
      ENGINE === "embedded" && "on the engine's one connection a locked table holds up everyone",
  }, async () => {
    const opened = { event: "opened", at_least: 1, in_last_days: 7 };
    const release = await lockTable("events");
    // Requests of a workspace count two at a time; the third one gets a job.
    const counts = [1, 2].map(() =>
      server.admin("POST", `/admin/v1/workspaces/${workspace.name}/segments/count`, {
        filter: opened,
        exact: true,
      }),
    );
    await sleep(200);
    const all = ["--workspace", workspace.name, "--url", server.url];
    const interrupted = await killCommandAt(
      ["segments", "count", "--filter", JSON.stringify(opened), "--exact", ...all],
      { ADMIN_TOKEN: server.adminToken },
      /counted 0 of about 3 users/,
      "SIGINT",
      () => setTimeout(release, 5_000).unref(),
    );
    release();
    await Promise.all(counts);
    assert.deepEqual([interrupted.code, interrupted.stdout], [1, ""]);
    assert.match(interrupted.stderr, /The count was cancelled\./);
    assert.match((await run("counts")).stdout, /^\S+ {2}\S+ {2}cancelled: /);
  });

  test("users prints one object per line, and export writes all of them to a file, compressed by its name", async () => {
    const one = await run("users", id);
    assert.equal(JSON.parse(one.stdout).external_id, "ada");
    const file = join(folder, "users.ndjson.gz");
    const exported = await run(
      "export",
      "--filter",
      '{"custom_attribute":"plan","equals":"pro"}',
      file,
    );
    assert.equal(exported.stdout, `Wrote 2 users to ${file}.\n`);
    const lines = gunzipSync(await readFile(file))
      .toString()
      .trimEnd()
      .split("\n");
    assert.deepEqual(lines.map((line) => JSON.parse(line).external_id).sort(), ["ada", "bob"]);
  });

  test("export writes a CSV by the name of the file, with all columns or the chosen ones, and no cell runs as a formula", async () => {
    const file = join(folder, "users.csv");
    const filter = '{"custom_attribute":"plan","equals":"pro"}';
    await run("export", "--filter", filter, file);
    const [header, ...users] = (await readFile(file, "utf8")).trimEnd().split("\n");
    assert.match(
      header ?? "",
      /^external_id,first_name,last_name,email,.*,custom_attributes\.plan/,
    );
    assert.deepEqual(users.map((line) => line.split(",")[0]).sort(), ["ada", "bob"]);
    const chosen = ["--columns", "custom_attributes.plan, external_id"];
    await run("export", "--filter", filter, file, ...chosen);
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    assert.deepEqual(lines.sort(), ["custom_attributes.plan,external_id", "pro,ada", "pro,bob"]);
    const refused = await run("export", "--filter", filter, file, "--columns", "email,,phone");
    assert.match(refused.stderr, /--columns has an empty name\./);
  });

  test("counts lists exact counts, and cancel ends one that waits", async () => {
    await server.database.query(
      `insert into segment_counts
         (workspace_id, count_id, filter, status, after, total, matching, expected, started_at)
       select workspace_id, $1, $2::text::jsonb, 'running', $3::uuid, 1, 1, 3, now() from workspaces where name = $4`,
      [
        waiting,
        JSON.stringify({ custom_attribute: "plan", equals: "pro" }),
        "00000000-0000-0000-0000-000000000000",
        workspace.name,
      ],
    );
    assert.match(
      (await run("counts")).stdout,
      new RegExp(
        `^${waiting}  .*counted 1 of about 3 users: Users who match: plan is "pro".$`,
        "m",
      ),
    );
    assert.equal((await run("cancel", waiting)).stdout, "Cancelled the count.\n");
    assert.match((await run("counts")).stdout, new RegExp(`${waiting}  .* cancelled: `));
    assert.match((await run("cancel", randomUUID())).stderr, /There is no such count\./);
  });

  test("a segment that does not exist, no segment, and a filter that is no JSON are refused", async () => {
    const unknown = await run("count", "Nobody");
    assert.deepEqual([unknown.code, unknown.stdout], [1, ""]);
    assert.match(unknown.stderr, /There is no segment 'Nobody'\. There are: Pros\./);
    assert.match((await run("count")).stderr, /Name a segment, or pass --filter\./);
    assert.match((await run("users", "--filter", "{")).stderr, /The filter is not JSON/);
    const wrong = await run("count", "--filter", '{"event":1}');
    assert.match(wrong.stderr, /'filter.event'/);
  });
});
