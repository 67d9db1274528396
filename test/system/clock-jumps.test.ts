/*
 * The time of day of a running server jumps by an hour, in either direction: of one of two servers on a PostgreSQL,
 * and of the only one on the embedded engine.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ENGINE, testConfig } from "../harness.ts";
import { sample } from "../sizes.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { type ChildServer, type Environment, post, startChild } from "./child-server.ts";

const HOUR_MS = 3_600_000;
const DIRECTIONS = [
  ["ahead", HOUR_MS],
  ["back", -HOUR_MS],
] as const;

const KEY = "key-of-the-tests-of-jumping-clocks";
const ADMIN_TOKEN = "admin-token-of-the-tests-of-jumping-clocks";
const LIMIT = 20;
const MANIFEST = {
  company: { name: "Test" },
  workspaces: [
    {
      name: "test",
      api_keys: [{ name: "test", key: KEY, permissions: ["all"] }],
      settings: { rate_limits: { "users.export.ids": { requests: LIMIT, per_seconds: 600 } } },
    },
  ],
};

/** The settings of a server whose clock can jump, and the trigger of a jump. */
async function jumping(more: Environment) {
  const folder = await temporaryFolder();
  const [clockFile, manifest] = [join(folder, "clock"), join(folder, "manifest.json")];
  await writeFile(clockFile, "0");
  await writeFile(manifest, JSON.stringify(MANIFEST));
  return {
    settings: {
      MANIFEST: manifest,
      DATA_DIR: await temporaryFolder(),
      ADMIN_TOKEN,
      SESSION_IDLE_MINUTES: "30",
      SECRET_KEY: "the-secret-key-of-the-tests-of-jumping-clocks",
      NODE_OPTIONS: `--import=${import.meta.resolve("./jumping-date.js")}`,
      CLOCK_FILE: clockFile,
      ...more,
    },
    async jump(aheadMs: number) {
      await writeFile(clockFile, String(aheadMs));
      await new Promise((resolve) => setTimeout(resolve, 1_500));
    },
  };
}

const exportOf = ({ url }: ChildServer, id: string) =>
  post(`${url}/users/export/ids`, KEY, {
    external_ids: [id],
    fields_to_export: ["external_id", "created_at", "custom_events"],
  });

const track = ({ url }: ChildServer, body: object) => post(`${url}/users/track`, KEY, body);

async function signIn({ url }: ChildServer): Promise<string> {
  const response = await fetch(`${url}/dashboard/session`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ admin_token: ADMIN_TOKEN }),
  });
  return response.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
}

const isSignedIn = async ({ url }: ChildServer, cookie: string): Promise<boolean> =>
  (await fetch(`${url}/admin/v1/workspaces`, { headers: { cookie } })).ok;

const skip = ENGINE === "embedded" ? "An embedded database has one server." : false;

describe("the clock of one of two servers on a PostgreSQL jumps by an hour", { skip }, () => {
  for (const [direction, aheadMs] of DIRECTIONS) {
    test(`limits, sessions and stored times stay right on both servers when one's clock jumps ${direction}`, async () => {
      const { databaseUrl = "" } = await testConfig();
      const [right, wrong] = [
        await jumping({ DATABASE_URL: databaseUrl }),
        await jumping({ DATABASE_URL: databaseUrl }),
      ];
      const one = await startChild(right.settings);
      const other = await startChild(wrong.settings);
      const cookie = await signIn(one);
      assert.equal((await track(one, { attributes: [{ external_id: "early" }] })).status, 201);
      const before = await Promise.all(
        [one, other, one, other].map((server) => exportOf(server, "early")),
      );
      await wrong.jump(aheadMs);
      assert.ok(await isSignedIn(other, cookie), "the session goes on");
      // A time in the future counts as now.
      const time = new Date(Date.now() + HOUR_MS / 2).toISOString();
      const { status } = await track(other, {
        events: [{ external_id: "late", name: "opened", time }],
      });
      assert.equal(status, 201);
      const exported = await exportOf(other, "late");
      const [late] = exported.body.users;
      for (const at of [late.created_at, late.custom_events[0].last]) {
        assert.ok(Math.abs(Date.parse(at) - Date.now()) < 30_000, `${at} was stored`);
      }
      const after = [];
      for (let turn = 0; turn < LIMIT; turn++) {
        after.push(await exportOf(turn % 2 === 0 ? one : other, "early"));
      }
      const all = [...before, exported, ...after];
      assert.equal(all.filter((each) => each.status < 300).length, LIMIT);
      assert.equal(all.filter((each) => each.status === 429).length, before.length + 1);
      assert.ok(await isSignedIn(one, cookie));
      for (const server of [one, other]) await server.end("SIGTERM");
    });
  }
});

describe("the clock of a server on the embedded engine jumps by an hour", () => {
  for (const [direction, aheadMs] of sample(DIRECTIONS, 1)) {
    test(`a server on the embedded engine counts its limits on and stores the new time when its clock jumps ${direction}`, async () => {
      const { settings, jump } = await jumping({});
      const server = await startChild(settings);
      for (let turn = 0; turn < 5; turn++) {
        assert.ok((await exportOf(server, "nobody")).status < 300);
      }
      await jump(aheadMs);
      assert.equal((await track(server, { attributes: [{ external_id: "late" }] })).status, 201);
      const { body } = await exportOf(server, "late");
      const storedAt = Date.parse(body.users[0].created_at);
      assert.ok(Math.abs(storedAt - Date.now() - aheadMs) < 30_000);
      const statuses = [];
      for (let turn = 0; turn < LIMIT; turn++) {
        statuses.push((await exportOf(server, "late")).status);
      }
      assert.equal(statuses.filter((status) => status < 300).length, LIMIT - 6);
      await server.end("SIGTERM");
    });
  }
});
