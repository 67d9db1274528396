/* Further actions of administrators on webhooks (docs/webhooks.md). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startOwnServer } from "../../harness.ts";
import { respondWith, startReceiver, users, verify, webhooksOf } from "../../receiver.ts";
import { until } from "../../until.ts";

const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });

async function withReceiver(members: object = {}) {
  const workspace = await server.workspace();
  const receiver = await startReceiver();
  const webhooks = webhooksOf(server, workspace);
  const id = await webhooks.put(receiver.url, members);
  return { workspace, receiver, webhooks, id };
}

describe("the administration of webhooks", () => {
  test("a test is a signed delivery without changes, also to a paused webhook, and shows the response", async () => {
    const { receiver, webhooks, id } = await withReceiver({ state: "paused" });
    receiver.respond = (response) => void response.writeHead(202).end("thanks");
    const attempt = await webhooks.post(id, "test");
    assert.deepEqual(
      [attempt.outcome, attempt.status, attempt.response],
      ["delivered", 202, "thanks"],
    );
    const [delivered] = receiver.received;
    assert.ok(delivered);
    assert.deepEqual(verify(delivered), { changes: [], test: true });
    const [delivery] = await webhooks.deliveries(id);
    assert.equal(delivery.kind, "test");
    receiver.respond = respondWith(500);
    assert.equal((await webhooks.post(id, "test")).outcome, "failed");
  });

  test("a replay from a time or a cursor delivers the same changes again with the same ids, and then new changes continue", async () => {
    const { workspace, receiver, webhooks, id } = await withReceiver();
    await workspace.track(users(10, "early"));
    await until(() => receiver.accepted.length >= 10);
    await sleep(5);
    const since = new Date().toISOString();
    const { body } = await workspace.call<any>("GET", "/changes?cursor=beginning");
    await workspace.track(users(10, "late"));
    await until(() => receiver.accepted.length >= 20);
    const late = receiver.accepted.slice(10).map((change) => change.id);
    for (const from of [since, body.cursor]) {
      const before = receiver.accepted.length;
      await webhooks.post(id, "replay", { from });
      await until(() => receiver.accepted.length >= before + 10);
      const again = receiver.accepted.slice(before).map((change) => change.id);
      assert.deepEqual(again.sort(), [...late].sort());
    }
    await workspace.track(users(1, "new"));
    await until(() => receiver.accepted.length >= 41);
    assert.equal(receiver.accepted.at(-1).user.external_id, "new0");
    const kinds = new Set((await webhooks.deliveries(id)).map(({ kind }) => kind));
    assert.deepEqual(kinds, new Set(["live", "replay"]));
  });

  test("a replay needs a place or a dead letter that exist, and says which is wrong", async () => {
    const { webhooks, id } = await withReceiver();
    const replay = (body: object) => server.admin("POST", `${webhooks.path}/${id}/replay`, body);
    for (const [body, status, sentence] of [
      [{}, 400, /either 'from' or 'dead_letter'/],
      [{ from: "beginning", dead_letter: "x" }, 400, /either 'from' or 'dead_letter'/],
      [{ from: "yesterday" }, 400, /'cursor'/],
      [{ dead_letter: "x" }, 404, /no dead letter 'x'/],
    ] as const) {
      const refused = await replay(body);
      assert.equal(refused.status, status, JSON.stringify(body));
      assert.match(refused.body.message, sentence);
    }
    assert.equal((await server.admin("POST", `${webhooks.path}/none/test`)).status, 404);
  });

  test("a rotated secret is shown once, and the one before signs as well for as long as asked", async () => {
    const { workspace, receiver, webhooks, id } = await withReceiver();
    const { secret } = await webhooks.post(id, "rotate-secret", { overlap_seconds: 3_600 });
    await workspace.track(users(1));
    await until(() => receiver.received.length === 1);
    const [first] = receiver.received;
    assert.ok(first);
    verify(first);
    verify(first, secret);
    const last = await webhooks.post(id, "rotate-secret", { overlap_seconds: 0 });
    await workspace.track(users(1, "next"));
    await until(() => receiver.received.length === 2);
    const second = receiver.received[1];
    assert.ok(second);
    verify(second, last.secret);
    assert.throws(() => verify(second, secret));
  });

  test("a reset empties deliveries and dead letters, and the webhook continues with later changes", async () => {
    const { workspace, receiver, webhooks, id } = await withReceiver();
    receiver.respond = respondWith(422);
    await workspace.track(users(3));
    await until(async () => (await webhooks.deadLetters(id)).length === 3);
    receiver.respond = (response) => void response.writeHead(200).end();
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.deepEqual(await webhooks.deadLetters(id), []);
    await workspace.track(users(3, "afterwards"));
    await until(() => receiver.accepted.length >= 3);
    const outcomes = (await webhooks.deliveries(id)).map(({ outcome }) => outcome);
    assert.deepEqual(new Set(outcomes), new Set(["delivered"]));
  });

  test("a manifest that is applied again does not resume a webhook that paused by itself, and removing it turns the feed off", async () => {
    const workspace = await server.workspace();
    const receiver = await startReceiver(respondWith(410));
    const webhooks = webhooksOf(server, workspace);
    const manifest = (declared: readonly object[]) => ({
      company: { name: "Test" },
      workspaces: [{ name: workspace.name, webhooks: declared }],
    });
    const hook = { id: "crm", name: "CRM", url: receiver.url };
    const apply = (declared: readonly object[]) =>
      server.admin("POST", "/admin/v1/apply", manifest(declared));
    assert.equal((await apply([hook])).status, 200);
    await workspace.track(users(1));
    await until(async () => (await webhooks.get("crm")).state === "paused");
    assert.deepEqual((await apply([hook])).body.changes, []);
    assert.equal((await webhooks.get("crm")).state, "paused");
    assert.equal((await workspace.call("GET", "/changes")).status, 200);
    await apply([]);
    assert.equal((await workspace.call("GET", "/changes")).status, 404);
  });
});
