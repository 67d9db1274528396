/* Webhooks (docs/webhooks.md): what arrives at correct receivers, in which order, and with which signature. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEWSLETTER, startOwnServer } from "../harness.ts";
import { startReceiver, users, verify, webhooksOf } from "../receiver.ts";
import { until } from "../until.ts";

const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });

describe("a webhook", () => {
  test("a webhook turns the change feed on, and every change arrives once, in the order of each user, as the feed has it", async () => {
    const workspace = await server.workspace();
    const receiver = await startReceiver();
    await webhooksOf(server, workspace).put(receiver.url);
    for (let round = 0; round < 20; round++) await workspace.track(users(50, "u", { round }));
    await until(() => receiver.accepted.length >= 1_000);
    const { body } = await workspace.call<any>("GET", "/changes?cursor=beginning");
    const feed: any[] = body.changes;
    assert.equal(feed.length, 1_000);
    const byId = (a: any, b: any) => (a.id < b.id ? -1 : 1);
    assert.deepEqual([...receiver.accepted].sort(byId), [...feed].sort(byId));
    for (const user of new Set(feed.map((change) => change.user.external_id))) {
      const of = (changes: readonly any[]) =>
        changes.filter((change) => change.user.external_id === user).map(({ id }) => id);
      assert.deepEqual(of(receiver.accepted), of(feed));
    }
  });

  test("a delivery holds at most 500 changes, and is signed as Standard Webhooks over its id, its time and its body", async () => {
    const workspace = await server.workspace({ settings: { track_max_updates: 1_000 } });
    const receiver = await startReceiver();
    await webhooksOf(server, workspace).put(receiver.url);
    const attributes = Array.from({ length: 900 }, (_, n) => ({ external_id: "one", n }));
    const events = Array.from({ length: 900 }, (_, n) => ({
      external_id: "one",
      name: "opened",
      time: "2026-01-02T03:04:05Z",
      properties: { n },
    }));
    await workspace.track({ attributes: attributes.slice(0, 1), events });
    await until(() => receiver.accepted.length >= 901);
    assert.ok(receiver.received.every(({ changes }) => changes.length <= 500));
    const numbers = receiver.accepted.flatMap(({ properties }) => properties?.n ?? []);
    assert.deepEqual(
      numbers,
      [...numbers].sort((a, b) => a - b),
    );
    for (const delivered of receiver.received) {
      verify(delivered);
      assert.match(delivered.headers["content-type"] ?? "", /^application\/json/);
      const other = { ...delivered, text: delivered.text.replace("one", "two") };
      assert.throws(() => verify(other));
    }
  });

  test("a webhook with types gets only these, and another of the same workspace gets everything", async () => {
    const workspace = await server.workspace();
    const [some, all] = [await startReceiver(), await startReceiver()];
    const webhooks = webhooksOf(server, workspace);
    await webhooks.put(some.url, { types: ["subscription.changed"] });
    await webhooks.put(all.url);
    const subscription_groups = [
      { subscription_group_id: NEWSLETTER, subscription_state: "unsubscribed" },
    ];
    await workspace.track(users(3));
    await workspace.track(users(3, "u", { subscription_groups }));
    await until(() => some.accepted.length >= 3 && all.accepted.length >= 6);
    assert.deepEqual(
      new Set(some.accepted.map(({ type }) => type)),
      new Set(["subscription.changed"]),
    );
    assert.equal(some.accepted.length, 3);
  });

  test("changes of one workspace never reach the webhook of another", async () => {
    const [one, other] = [await server.workspace(), await server.workspace()];
    const [ofOne, ofOther] = [await startReceiver(), await startReceiver()];
    await webhooksOf(server, one).put(ofOne.url, {}, "crm");
    await webhooksOf(server, other).put(ofOther.url, {}, "crm");
    await one.track(users(20, "one"));
    await other.track(users(20, "other"));
    await until(() => ofOne.accepted.length >= 20 && ofOther.accepted.length >= 20);
    assert.ok(ofOne.accepted.every(({ user }) => user.external_id.startsWith("one")));
    assert.ok(ofOther.accepted.every(({ user }) => user.external_id.startsWith("other")));
  });

  test("a paused webhook gets nothing, and once it is active again everything since then", async () => {
    const workspace = await server.workspace();
    const receiver = await startReceiver();
    const webhooks = webhooksOf(server, workspace);
    const id = await webhooks.put(receiver.url);
    await workspace.track(users(5, "before"));
    await until(() => receiver.accepted.length >= 5);
    await webhooks.put(receiver.url, { state: "paused" }, id);
    await workspace.track(users(5, "during"));
    const witness = await startReceiver();
    await webhooks.put(witness.url);
    await workspace.track(users(1, "after"));
    await until(() => witness.accepted.length >= 1);
    assert.equal(receiver.received.flatMap(({ changes }) => changes).length, 5);
    await webhooks.put(receiver.url, {}, id);
    await until(() => receiver.accepted.length >= 11);
    const names = receiver.accepted.map(({ user }) => user.external_id.replace(/\d/, ""));
    assert.deepEqual(new Set(names), new Set(["before", "during", "after"]));
  });

  test("a changed secret and the one before both sign for a day, and the present one alone afterwards", async () => {
    const workspace = await server.workspace();
    const receiver = await startReceiver();
    const webhooks = webhooksOf(server, workspace);
    const id = await webhooks.put(receiver.url);
    const next = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    await webhooks.put(receiver.url, { secret: next }, id);
    await workspace.track(users(1));
    await until(() => receiver.received.length >= 1);
    const [delivered] = receiver.received;
    assert.ok(delivered);
    verify(delivered);
    verify(delivered, next);
    const hooks = await webhooks.get(id);
    assert.ok(Date.parse(hooks.previous_secret_until) > Date.now());
    assert.ok(!JSON.stringify(hooks).includes("whsec_"));
  });

  test("a URL that resolves to a private address is refused when the webhook is declared, with the field", async () => {
    const workspace = await server.workspace();
    const { path } = webhooksOf(server, workspace);
    for (const url of ["http://127.0.0.2/", "http://[::1]/", "http://169.254.169.254/latest"]) {
      const refused = await server.admin("PUT", `${path}/crm`, { name: "CRM", url });
      assert.equal(refused.status, 400);
      assert.match(refused.body.message, /'url' of the webhook 'CRM'.*OUTBOUND_ALLOW/);
    }
  });
});
