/*
 * The change feed against `kill -9` at random times: a reader of only the feed, during or after the
 * run, knows the users exactly as an export shows them, after random calls of all kinds by many
 * clients. On PostgreSQL they write to two servers.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createFeedModel, type FeedChange, shownIn } from "../../core/people/changes/feed-model.ts";
import {
  type RandomCall,
  randomCall,
  seededRandom,
} from "../../core/people/changes/random-changes.ts";
import { ALERTS, ENGINE, NEWSLETTER, testConfig } from "../../harness.ts";
import { sized } from "../../sizes.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { type ChildServer, post, startChild } from "../child-server.ts";

/** RAPPORT_TEST_OPERATIONS sets another number. */
const CALLS = Number(process.env.RAPPORT_TEST_OPERATIONS ?? sized(600, 20_000));
const KILLS = sized(2, 40);
const CLIENTS = 16;
const USERS = sized(12, 300);
const TOKEN = "admin-token-of-the-crash-test";
const KEY = "api-key-of-the-crash-test";

const IMPORT = "/admin/v1/workspaces/crash/imports";

/** One call in twenty imports rows of a file. */
function anyCall(random: () => number, client: number, call: number): RandomCall {
  if (random() >= 0.05) return randomCall(random, USERS);
  const user = () => `user-${Math.floor(random() * USERS)}`;
  const rows = [
    { external_id: user(), first_name: `Imported ${call}`, visits: call },
    { external_id: user(), email: `mail-${Math.floor(random() * USERS)}@example.com` },
  ];
  const body = { kind: "users", first_row: 1, rows };
  return { method: "POST", path: `${IMPORT}/${client}-${call}`, body };
}

test("the feed, read while servers are killed again and again, gives the users that an export shows, after calls of all kinds", async (t) => {
  const { databaseUrl } = await testConfig();
  const start = async (dataDir: string) =>
    startChild({
      DATA_DIR: dataDir,
      ADMIN_TOKEN: TOKEN,
      SECRET_KEY: "secret-key-of-the-crash-test",
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    });
  const folders = [await temporaryFolder()];
  if (ENGINE === "postgres") folders.push(await temporaryFolder());
  const servers: ChildServer[] = [];
  for (const folder of folders) servers.push(await start(folder));
  const anyServer = () => servers[Math.floor(Math.random() * servers.length)] as ChildServer;
  const declared = await post(`${anyServer().url}/admin/v1/apply`, TOKEN, {
    company: { name: "Crash" },
    workspaces: [
      {
        name: "crash",
        api_keys: [{ name: "key", key: KEY, permissions: ["all"] }],
        settings: { change_feed: true, rate_limits: { "users.track": "off" } },
        subscription_groups: [
          { id: NEWSLETTER, name: "Newsletter", channel: "email" },
          { id: ALERTS, name: "Alerts", channel: "sms" },
        ],
      },
    ],
  });
  assert.equal(declared.status, 200, JSON.stringify(declared.body));

  /**
   * @returns the text of a success, "" for a refusal; undefined if the server was killed, or is not
   * ready.
   */
  async function ask(method: string, path: string, body?: unknown): Promise<string | undefined> {
    const token = path.startsWith("/admin") ? TOKEN : KEY;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    try {
      const response = await fetch(anyServer().url + path, sent);
      const read = await response.text();
      if (response.status === 503) return undefined;
      assert.ok(response.status < 500, `${path}: ${read}`);
      return response.status < 300 ? read : "";
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      await sleep(20);
      return undefined;
    }
  }

  let calls = 0;
  const client = async (seed: number) => {
    const random = seededRandom(seed);
    while (calls < CALLS) {
      const { method, path, body } = anyCall(random, seed, calls);
      if ((await ask(method, path, body)) !== undefined) calls++;
    }
  };
  const createReader = () => {
    const seen = new Set<string>();
    const model = createFeedModel();
    let cursor = "beginning";
    const read = async () => {
      for (;;) {
        const text = await ask("GET", `/changes?limit=1000&cursor=${cursor}`);
        if (text === undefined) continue;
        assert.notEqual(text, "", "The cursor was refused.");
        const page = JSON.parse(text);
        for (const change of page.changes as FeedChange[]) {
          assert.ok(!seen.has(change.id), `twice: ${change.id}`);
          seen.add(change.id);
          model.apply(change);
        }
        cursor = page.cursor;
        if (page.caught_up) return;
      }
    };
    return { read, model, seen };
  };
  const reader = createReader();
  const killer = async () => {
    for (let kill = 1; kill <= KILLS; kill++) {
      // Many calls take longer than `until` waits; the file has its own limit.
      while (calls < (CALLS * kill) / (KILLS + 1)) await sleep(20);
      const place = Math.floor(Math.random() * servers.length);
      await servers[place]?.end("SIGKILL");
      servers[place] = await start(folders[place] as string);
    }
  };
  const follow = async () => {
    while (calls < CALLS) await reader.read();
  };
  const clients = Array.from({ length: CLIENTS }, (_, seed) => client(seed + 1));
  await Promise.all([...clients, killer(), follow()]);
  await reader.read();

  const exported = (await ask("GET", "/admin/v1/workspaces/crash/export/users")) ?? "";
  const lines = exported.split("\n").filter((line: string) => line !== "");
  const users = shownIn(
    lines.map((line: string) => JSON.parse(line)).filter((each: any) => each.platform_id),
  );
  assert.ok(Object.keys(users).length > 0);
  assert.deepEqual(reader.model.view(), users);
  const late = createReader();
  await late.read();
  assert.deepEqual(late.model.view(), users);
  t.diagnostic(`${calls} calls, ${KILLS} kills, ${reader.seen.size} changes`);
  for (const server of servers) await server.end("SIGTERM");
});
