/*
 * Webhooks against `kill -9` at random times: every committed change arrives, in order, and a
 * repeated batch has the same id and the same body.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ENGINE, testConfig } from "../../harness.ts";
import { startReceiver } from "../../receiver.ts";
import { sized } from "../../sizes.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { type ChildServer, post, startChild } from "../../system/child-server.ts";
import { until } from "../../until.ts";

/** On PostgreSQL the next process waits until the lease of the killed one has run out. */
const KILLS = ENGINE === "embedded" ? sized(1, 8) : 1;
const TOKEN = "admin-token-of-the-crash-test";
const KEY = "api-key-of-the-crash-test";

test("every change arrives at a webhook though the server is killed again and again, and a repeated one has the same id", async (t) => {
  const { databaseUrl } = await testConfig();
  const environment = {
    DATA_DIR: await temporaryFolder(),
    ADMIN_TOKEN: TOKEN,
    OUTBOUND_ALLOW: "127.0.0.1",
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
  // Slow, so that a kill often comes between sending and recording.
  const receiver = await startReceiver((response) => {
    setTimeout(() => response.writeHead(200).end(), 30);
  });
  let server: ChildServer = await startChild(environment);
  const declared = await post(`${server.url}/admin/v1/apply`, TOKEN, {
    company: { name: "Crash" },
    workspaces: [
      {
        name: "crash",
        api_keys: [{ name: "key", key: KEY, permissions: ["all"] }],
        settings: { rate_limits: { "users.track": "off" } },
        webhooks: [{ id: "crm", name: "CRM", url: receiver.url }],
      },
    ],
  });
  assert.equal(declared.status, 200, JSON.stringify(declared.body));

  let round = 0;
  let isWriting = true;
  const writer = (async () => {
    while (isWriting) {
      const attributes = Array.from({ length: 40 }, (_, n) => ({ external_id: `u${n}`, round }));
      round++;
      await post(`${server.url}/users/track`, KEY, { attributes }).catch(() => sleep(50));
      await sleep(10);
    }
  })();
  for (let kill = 0; kill < KILLS; kill++) {
    const before = receiver.received.length;
    await until(() => receiver.received.length >= before + 20);
    await sleep(Math.random() * 100);
    await server.end("SIGKILL");
    server = await startChild(environment);
  }
  const before = receiver.received.length;
  await until(() => receiver.received.length >= before + 20);
  isWriting = false;
  await writer;

  const feed: any[] = [];
  for (let cursor = "beginning", isAll = false; !isAll; ) {
    const page = await fetch(`${server.url}/changes?cursor=${cursor}`, {
      headers: { authorization: `Bearer ${KEY}` },
    });
    const body: any = await page.json();
    feed.push(...body.changes);
    cursor = body.cursor;
    isAll = body.caught_up;
  }
  const seen = () => new Set(receiver.received.flatMap(({ changes }) => changes.map((c) => c.id)));
  await until(() => feed.every(({ id }) => seen().has(id)));
  assert.equal(seen().size, feed.length);

  const texts = new Map<string, string>();
  let repeated = 0;
  for (const { id, text } of receiver.received) {
    if (texts.has(id)) repeated++;
    assert.equal(texts.get(id) ?? text, text);
    texts.set(id, text);
  }
  const sent = [...texts.values()].flatMap((text) => JSON.parse(text).changes);
  assert.equal(sent.length, feed.length, "no change is in two batches");
  const last = new Map<string, number>();
  for (const change of sent) {
    const [partition = "", position = ""] = change.id.split("-").slice(-2);
    assert.ok(Number.parseInt(position, 36) > (last.get(partition) ?? 0), change.id);
    last.set(partition, Number.parseInt(position, 36));
  }
  t.diagnostic(`${KILLS} kills: ${repeated} of ${receiver.received.length} batches came twice`);
  await server.end("SIGTERM");
});
