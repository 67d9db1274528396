/* What else `rapport import` reads, restores and refuses. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { NEWSLETTER, startServer, type TestWorkspace, WEB_APP } from "../../../harness.ts";
import { temporaryFolder } from "../../../stored-rows.ts";
import { runCommand } from "../../../system/child-server.ts";

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

describe("rapport import", { concurrency: 3 }, () => {
  test("rapport import stops when more rows are rejected than --max-rejects allows", async () => {
    const workspace = await server.workspace();
    const rows = Array.from({ length: 2_500 }, (_, n) => (n < 3 ? "bad" : { external_id: `${n}` }));
    const path = await fileOf(ndjson(rows));
    const { code, stderr } = await importing("users", path, workspace, "--max-rejects", "2");
    assert.equal(code, 1);
    assert.match(stderr, /^rapport: More than 2 rows were rejected/m);
    assert.equal((await workspace.profiles({ external_ids: ["5", "2400"] })).length, 1);
  });

  test("rapport import reads a named pipe of unknown size, plain and packed", async () => {
    const workspace = await server.workspace();
    const rows = ndjson([{ external_id: "ada", first_name: "Ada" }]);
    for (const content of [rows, gzipSync(rows)]) {
      const pipe = join(folder, `pipe-${++files}`);
      execFileSync("mkfifo", [pipe]);
      const [finished] = await Promise.all([
        importing("users", pipe, workspace),
        writeFile(pipe, content),
      ]);
      assert.deepEqual([finished.code, finished.stdout], [0, "1 user imported, 0 rejected\n"]);
    }
  });

  test("rapport import restores an exported user with identifiers, attributes, states and history", async () => {
    const [from, to] = [await server.workspace(), await server.workspace()];
    await from.track({
      attributes: [
        {
          external_id: "ada",
          first_name: "Ada",
          email: "ada@example.com",
          email_subscribe: "unsubscribed",
          current_location: { longitude: 1.5, latitude: 2.5 },
          push_tokens: [{ app_id: WEB_APP, token: "abc", device_id: "device-1" }],
          pets: [{ name: "Rex" }],
          subscription_groups: [
            { subscription_group_id: NEWSLETTER, subscription_state: "unsubscribed" },
          ],
        },
      ],
    });
    await from.call("POST", "/users/alias/new", {
      user_aliases: ["a", "b"].map((alias_name) => ({
        external_id: "ada",
        alias_name,
        alias_label: "crm",
      })),
    });
    await server.admin("POST", `/admin/v1/workspaces/${from.name}/import`, {
      users: [
        {
          external_id: "ada",
          apps: usage(3),
          devices: [{ device_id: "device-1", model: "phone" }],
          cards_clicked: [{ name: "card" }],
          messages: [{ message_id: "m", channel: "email", sent_at: TIME }],
          engagement_times: { last_received_email_at: TIME },
        },
      ],
    });
    const fields = { external_ids: ["ada"] };
    const before = await from.profile(fields);
    const { message_history } = await from.profile({
      ...fields,
      fields_to_export: ["message_history"],
    });
    const path = await fileOf(ndjson([{ ...before, message_history }]));
    for (const _time of ["first", "second"]) {
      const { code, stderr } = await importing("users", path, to);
      assert.equal(code, 0, stderr);
    }
    const own = ({ platform_id, braze_id, created_at, random_bucket, ...rest }: typeof before) =>
      rest;
    assert.deepEqual(own(await to.profile(fields)), own(before));
  });

  test("rapport import reports an alias that another user has and imports the rest of the row", async () => {
    const workspace = await server.workspace();
    const alias = { alias_name: "a", alias_label: "crm" };
    await workspace.call("POST", "/users/alias/new", { user_aliases: [alias] });
    const path = await fileOf(
      ndjson([{ external_id: "ada", first_name: "Ada", user_aliases: [alias] }]),
    );
    const { code, stdout, stderr } = await importing("users", path, workspace);
    assert.deepEqual([code, stdout], [2, "1 user imported, 0 rejected, 1 imported in part\n"]);
    assert.match(stderr, /\(ALIAS_TAKEN\)/);
    assert.equal((await workspace.profile({ external_ids: ["ada"] })).first_name, "Ada");
  });
});
