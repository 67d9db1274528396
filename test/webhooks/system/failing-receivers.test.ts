/* The reactions of a webhook to receivers that fail, refuse or want no more (docs/webhooks.md). The clock is the test's. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSettableClock } from "../../../src/core/base/clock.ts";
import { startOwnServer } from "../../harness.ts";
import { sendsMails, startMailServer } from "../../mail-server.ts";
import {
  accept,
  isSigned,
  type Respond,
  respondWith,
  startReceiver,
  users,
  webhooksOf,
} from "../../receiver.ts";
import { until } from "../../until.ts";

const clock = createSettableClock();
const mailServer = await startMailServer();
const server = await startOwnServer({
  outboundAllow: ["127.0.0.1"],
  clock,
  ...sendsMails({ SMTP_URL: mailServer.url, SMTP_FROM: "Rapport <rapport@acme.example>" }),
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const advance = (ms: number) => clock.set(new Date(clock.now().getTime() + ms));

async function withReceiver(respond: Respond, members: object = {}) {
  const workspace = await server.workspace();
  const receiver = await startReceiver(respond);
  const webhooks = webhooksOf(server, workspace);
  const id = await webhooks.put(receiver.url, members);
  return { workspace, receiver, webhooks, id };
}

/** Refuses every request with the change of one of these users. */
const refuses =
  (...names: readonly string[]): Respond =>
  (response, { changes }) =>
    void response
      .writeHead(changes.some(({ user }) => names.includes(user.external_id)) ? 422 : 200)
      .end("as told");

/** The partitions that a process has, and the last attempt of a webhook. */
const HELD = "select 1 from webhook_positions where holder is not null";
const LAST_ATTEMPT = `select next_attempt_at as next from webhook_deliveries where webhook_id = $1
  order by delivery_id desc limit 1`;

describe("a webhook whose receiver fails", () => {
  test("a batch that fails is sent again with the same id and body until it is accepted, and later changes wait for it", async () => {
    const { workspace, receiver, webhooks, id } = await withReceiver(respondWith(500));
    await workspace.track(users(1, "ada"));
    await until(async () => (await webhooks.deliveries(id)).length === 1);
    const [first] = await webhooks.deliveries(id);
    const waits = Date.parse(first.next_attempt_at) - Date.parse(first.at);
    assert.ok(waits >= 4_000 && waits <= 6_000, `${waits} ms`);
    await workspace.track({ attributes: [{ external_id: "ada0", plan: "pro" }] });
    advance(10_000);
    await until(() => receiver.received.length === 2);
    await until(async () => (await webhooks.deliveries(id)).length === 2);
    const [second] = await webhooks.deliveries(id);
    const longer = Date.parse(second.next_attempt_at) - Date.parse(second.at);
    assert.ok(longer >= 4 * MINUTE_MS && longer <= 6 * MINUTE_MS, `${longer} ms`);
    assert.ok((await webhooks.get(id)).failing_since);
    receiver.respond = accept;
    advance(10 * MINUTE_MS);
    await until(() => receiver.accepted.length === 2);
    const ids = receiver.received.map((delivered) => delivered.id);
    assert.deepEqual(ids.slice(0, 3), [ids[0], ids[0], ids[0]]);
    assert.notEqual(ids[3], ids[0]);
    for (const delivered of receiver.received) assert.ok(isSigned(delivered));
    assert.deepEqual(
      receiver.accepted.map(({ type }) => type),
      ["user.created", "user.updated"],
    );
    await until(async () => (await webhooks.get(id)).failing_since === null);
  });

  test("a Retry-After of the receiver is respected, up to a day", async () => {
    const { workspace, webhooks, id } = await withReceiver(
      respondWith(429, { "retry-after": "7200" }),
    );
    await workspace.track(users(1));
    await until(async () => (await webhooks.deliveries(id)).length === 1);
    const [delivery] = await webhooks.deliveries(id);
    assert.equal(delivery.outcome, "failed");
    const waits = Date.parse(delivery.next_attempt_at) - Date.parse(delivery.at);
    assert.equal(waits, 2 * HOUR_MS);
  });

  test("a webhook that fails for three days pauses, mails its contacts, keeps its place, and goes on with the same id once it is active", async () => {
    const { workspace, receiver, webhooks, id } = await withReceiver(respondWith(503), {
      contact_emails: "ops@acme.example",
    });
    await workspace.track(users(1));
    await until(() => receiver.received.length === 1);
    for (const hours of [1, 24, 48]) {
      const tries = receiver.received.length;
      await until(async () => (await webhooks.deliveries(id)).length === tries);
      advance(hours * HOUR_MS);
      await until(() => receiver.received.length === tries + 1);
    }
    await until(async () => (await webhooks.get(id)).state === "paused");
    const { paused_reason: reason } = await webhooks.get(id);
    assert.match(reason, /failed for three days.*503/);
    const [mail] = await mailServer.mails(1);
    assert.deepEqual(mail?.to, ["ops@acme.example"]);
    const { body } = await server.admin("GET", `/admin/v1/audit?kind=webhook&limit=50`);
    assert.ok(body.entries.some((entry: any) => entry.action === "paused"));
    const tries = receiver.received.length;
    receiver.respond = accept;
    await workspace.track(users(1, "later"));
    const witness = await startReceiver();
    await webhooks.put(witness.url);
    await workspace.track(users(1, "witness"));
    await until(() => witness.accepted.length === 1);
    assert.equal(receiver.received.length, tries);
    await webhooks.put(receiver.url, {}, id);
    await until(() => receiver.accepted.length === 3);
    const [first] = receiver.received;
    assert.ok(receiver.received.slice(tries).some((delivered) => delivered.id === first?.id));
  });

  test("a webhook that pauses still says since when its oldest change waits, and promises no further attempt", async () => {
    const { workspace, webhooks, id } = await withReceiver(respondWith(500));
    await workspace.track(users(1));
    await until(async () => (await webhooks.deliveries(id)).length === 1);
    const { behind_since: since } = await webhooks.get(id);
    assert.ok(since);
    advance(73 * HOUR_MS);
    await until(async () => (await webhooks.get(id)).state === "paused");
    await until(async () => (await server.database.query(HELD)).length === 0);
    assert.equal((await webhooks.get(id)).behind_since, since);
    const stored = await server.database.query<{ next: Date | null }>(LAST_ATTEMPT, [id]);
    assert.deepEqual([...stored], [{ next: null }]);
  });

  test("a webhook that an administrator pauses promises no attempt until it is active again", async () => {
    const { workspace, receiver, webhooks, id } = await withReceiver(respondWith(500));
    await workspace.track(users(1));
    await until(async () => (await webhooks.deliveries(id)).length === 1);
    const { behind_since: since } = await webhooks.get(id);
    await webhooks.put(receiver.url, { state: "paused" }, id);
    const [delivery] = await webhooks.deliveries(id);
    assert.equal(delivery.next_attempt_at, null);
    assert.equal((await webhooks.get(id)).behind_since, since);
  });

  test("a reactivated webhook is tried at once, and again for three days", async () => {
    const { workspace, receiver, webhooks, id } = await withReceiver(respondWith(503));
    await workspace.track(users(1));
    await until(async () => (await webhooks.deliveries(id)).length === 1);
    advance(73 * HOUR_MS);
    await until(async () => (await webhooks.get(id)).state === "paused");
    await webhooks.put(receiver.url, {}, id);
    await until(async () => (await webhooks.deliveries(id)).length === 3);
    const { state, failing_since: since } = await webhooks.get(id);
    const [last, second] = await webhooks.deliveries(id);
    assert.deepEqual([state, last.attempt], ["active", 1]);
    assert.ok(since > second.at, `failing since ${since}`);
  });

  test("410 pauses a webhook at once", async () => {
    const { workspace, receiver, webhooks, id } = await withReceiver(respondWith(410));
    await workspace.track(users(1));
    await until(async () => (await webhooks.get(id)).state === "paused");
    assert.match((await webhooks.get(id)).paused_reason, /410/);
    assert.equal(receiver.received.length, 1);
  });

  test("the overview names a webhook whose deliveries fail, and one that paused by itself", async () => {
    const { workspace, receiver, webhooks, id } = await withReceiver(respondWith(500));
    const findings = async () => {
      const path = `/admin/v1/workspaces/${workspace.name}/overview`;
      const { body } = await server.admin("GET", path);
      return body.attention
        .filter((finding: any) => finding.id === id)
        .map(({ kind, severity, message, at }: any) => [kind, severity, message, at]);
    };
    assert.deepEqual(await findings(), []);
    await workspace.track(users(1));
    await until(async () => (await webhooks.get(id)).failing_since !== null);
    const since = (await webhooks.get(id)).failing_since;
    const failing = "Deliveries fail. They are tried again.";
    assert.deepEqual(await findings(), [["webhook_failing", "warn", failing, since]]);
    receiver.respond = respondWith(410);
    advance(10_000);
    await until(async () => (await webhooks.get(id)).state === "paused");
    const [[kind, severity, message, at]] = await findings();
    assert.deepEqual([kind, severity, at], ["webhook_paused", "bad", null]);
    assert.match(message, /^Deliveries stopped\. .*410/);
  });
});

describe("a webhook whose receiver refuses a change", () => {
  test("a refused batch is split until the change is found: that one is a dead letter, and all others arrive in order", async () => {
    const { workspace, receiver, webhooks, id } = await withReceiver(refuses("bad"));
    receiver.respond = respondWith(500);
    await workspace.track(users(1, "first"));
    for (let n = 0; n < 4; n++) {
      await workspace.track(users(45, `u${n}-`));
      if (n === 1) await workspace.track({ attributes: [{ external_id: "bad" }] });
    }
    await until(async () => (await webhooks.deliveries(id)).length >= 10);
    receiver.respond = refuses("bad");
    advance(10_000);
    await until(() => receiver.accepted.length >= 181);
    await until(async () => (await webhooks.deadLetters(id)).length === 1);
    assert.equal(receiver.accepted.length, 181);
    assert.equal(new Set(receiver.accepted.map((change) => change.id)).size, 181);
    const [letter] = await webhooks.deadLetters(id);
    const { body } = await workspace.call<any>("GET", "/changes?cursor=beginning");
    const bad = body.changes.find((change: any) => change.user.external_id === "bad");
    assert.deepEqual(
      { change_id: letter.change_id, type: letter.type, status: letter.status },
      { change_id: bad.id, type: "user.created", status: 422 },
    );
    const last = new Map<string, number>();
    for (const change of receiver.accepted) {
      const [partition = "", position = ""] = change.id.split("-").slice(-2);
      const at = Number.parseInt(position, 36);
      assert.ok(at > (last.get(partition) ?? 0), change.id);
      last.set(partition, at);
    }
  });

  test("a dead letter that is replayed and accepted, or given up, is no longer listed", async () => {
    const { workspace, receiver, webhooks, id } = await withReceiver(refuses("u0", "u1"));
    await workspace.track(users(2));
    await until(async () => (await webhooks.deadLetters(id)).length === 2);
    const [one, other] = await webhooks.deadLetters(id);
    const refused = await webhooks.post(id, "replay", { dead_letter: one.dead_letter_id });
    assert.equal(refused.attempt.outcome, "refused");
    assert.equal(refused.attempt.response, "as told");
    receiver.respond = accept;
    const accepted = await webhooks.post(id, "replay", { dead_letter: one.dead_letter_id });
    assert.equal(accepted.attempt.outcome, "delivered");
    assert.deepEqual(
      receiver.accepted.map((change) => change.id),
      [one.change_id],
    );
    const path = `${webhooks.path}/${id}/dead-letters/${other.dead_letter_id}`;
    assert.equal((await server.admin("DELETE", path)).status, 200);
    assert.deepEqual(await webhooks.deadLetters(id), []);
    assert.equal((await server.admin("DELETE", path)).status, 404);
  });
});
