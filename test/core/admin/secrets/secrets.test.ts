import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lastingDatabase } from "../../../databases.ts";
import { startOwnServer } from "../../../harness.ts";

const EVENT = { events: [{ external_id: "ada", name: "came", time: "2026-01-01T00:00:00Z" }] };

describe("secrets of API keys, SCIM tokens and the administrator", () => {
  test("a secret appears in no database row, no log line and no response but the one that shows it", async () => {
    const lines: string[] = [];
    const lasting = await lastingDatabase();
    const log = { write: (line: string) => void lines.push(line) };
    const running = await startOwnServer({ logLevel: "trace" }, log, lasting);
    const send = async (method: string, path: string, key: string, body?: unknown) => {
      const answer = await fetch(running.url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return answer.json() as Promise<{ key: string; token: string }>;
    };
    const { adminToken } = running;
    const admin = (method: string, path: string, body?: unknown) =>
      send(method, path, adminToken, body);
    const secrets = ["declared-secret-1", "declared-secret-2", adminToken];
    await admin("POST", "/admin/v1/apply", {
      company: { name: "Test" },
      workspaces: [
        {
          name: "kept",
          api_keys: [
            {
              name: "dev",
              key: secrets[0],
              permissions: ["all"],
              previous_key: secrets[1],
              previous_key_until: "2999-01-01T00:00:00Z",
            },
          ],
        },
      ],
    });
    const path = "/admin/v1/workspaces/kept/api-keys";
    secrets.push((await admin("POST", path, { name: "ci", permissions: ["all"] })).key);
    secrets.push((await admin("POST", `${path}/ci/rotate`, {})).key);
    const tokens = "/admin/v1/scim-tokens";
    const token = { name: "idp", service_origin: "acme.example" };
    secrets.push((await admin("POST", tokens, token)).token);
    secrets.push((await admin("POST", `${tokens}/idp/rotate`, {})).token);
    const shown: unknown[] = [];
    for (const secret of secrets) {
      shown.push(await send("POST", "/users/track", secret, EVENT));
      shown.push(await send("POST", "/users/merge", secret, EVENT));
      shown.push(await send("POST", "/scim/v2/Users", secret, { userName: secret.slice(0, 5) }));
      shown.push(await send("POST", "/admin/v1/apply", `${secret}x`, { company: secret }));
    }
    for (const each of [path, tokens, "/admin/v1/audit"]) shown.push(await admin("GET", each));
    await running.stop();

    const { database } = lasting;
    const tables = await database.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    for (const { name } of tables) {
      shown.push(await database.query(`select to_jsonb(each) as row from ${name} each`));
    }
    assert.equal(secrets.length, 7);
    assert.ok(lines.length > 10);
    for (const place of [...lines, ...shown.map((each) => JSON.stringify(each))]) {
      for (const secret of secrets) assert.ok(!place.includes(secret), place.slice(0, 500));
    }
  });
});
