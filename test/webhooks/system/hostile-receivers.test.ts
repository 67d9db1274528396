/* Receivers that do harm: each affects only itself, while a neighbour in the same workspace gets everything at once. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer } from "../../harness.ts";
import { type Respond, respondWith, startReceiver, users, webhooksOf } from "../../receiver.ts";
import { sample } from "../../sizes.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { until } from "../../until.ts";

const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });

const endless: (status: number) => Respond = (status) => (response) => {
  response.writeHead(status);
  const part = Buffer.alloc(65_536, "x");
  const write = (): void => {
    while (!response.destroyed && response.write(part));
  };
  response.on("drain", write);
  write();
};

interface Hostile {
  readonly respond: Respond;
  /** The outcome of the attempt; undefined while it lasts. */
  readonly outcome?: string;
}

const HOSTILE: Readonly<Record<string, Hostile>> = {
  "never responds": { respond: () => {} },
  "responds with 500": { respond: respondWith(500), outcome: "failed" },
  "responds with 400": { respond: respondWith(400), outcome: "refused" },
  "responds with 410": { respond: respondWith(410), outcome: "gone" },
  "redirects to the server itself": {
    respond: respondWith(301, { location: `${server.url}/health/live` }),
    outcome: "failed",
  },
  "closes the connection": {
    respond: (_response, _delivered, request) => void request.socket.destroy(),
    outcome: "failed",
  },
  "responds with 500 and a body without an end": { respond: endless(500), outcome: "failed" },
};

/** For each change one that never ends and one that fails, in the night all. */
const TRIED = sample(Object.entries(HOSTILE), 2);

describe("a hostile receiver", () => {
  for (const [what, { respond, outcome }] of TRIED) {
    test(`a receiver that ${what} holds up no other webhook of the workspace`, async () => {
      const workspace = await server.workspace();
      const [hostile, neighbour] = [await startReceiver(respond), await startReceiver()];
      const webhooks = webhooksOf(server, workspace);
      const id = await webhooks.put(hostile.url);
      await webhooks.put(neighbour.url);
      for (let round = 0; round < 4; round++) await workspace.track(users(50, `r${round}-`));
      await until(() => neighbour.accepted.length >= 200);
      assert.equal(new Set(neighbour.accepted.map((change) => change.id)).size, 200);
      await until(() => hostile.received.length > 0);
      if (outcome === undefined) return;
      await until(async () => (await webhooks.deliveries(id)).length > 0);
      const deliveries = await webhooks.deliveries(id);
      assert.ok(deliveries.every((delivery) => delivery.outcome === outcome));
      assert.ok(deliveries.every(({ response }) => (response ?? "").length <= 500));
    });
  }

  test("a body without an end does not undo that the receiver accepted, and no more than 64 KB of it are awaited", async () => {
    const workspace = await server.workspace();
    const receiver = await startReceiver(endless(200));
    const webhooks = webhooksOf(server, workspace);
    const id = await webhooks.put(receiver.url);
    await workspace.track(users(1));
    await until(async () => (await webhooks.deliveries(id)).length > 0);
    const [delivery] = await webhooks.deliveries(id);
    assert.deepEqual([delivery.outcome, delivery.status], ["delivered", 200]);
  });

  test("a host that resolves to a private address after it was declared is not called, and others are", async () => {
    const dataDir = await temporaryFolder();
    const before = await startOwnServer({ dataDir, outboundAllow: ["127.0.0.0/8"] });
    const workspace = await before.workspace();
    const [moved, neighbour] = [await startReceiver(), await startReceiver()];
    const id = await webhooksOf(before, workspace).put(moved.url.replace("127.0.0.1", "127.0.0.2"));
    await webhooksOf(before, workspace).put(neighbour.url);
    await before.stop();
    const later = await startOwnServer({ ...before.config, outboundAllow: ["127.0.0.1"] });
    const sent = await later.send("POST", "/users/track", users(5), { key: workspace.key });
    assert.equal(sent.status, 201);
    await until(() => neighbour.accepted.length >= 5);
    const webhooks = webhooksOf(later, workspace);
    await until(async () => (await webhooks.deliveries(id)).length > 0);
    const [delivery] = await webhooks.deliveries(id);
    assert.equal(delivery.outcome, "failed");
    assert.match(delivery.error, /private, loopback/);
    assert.equal(moved.received.length, 0);
    await later.stop();
  });
});
