/* A webhook across the end of a server, and on several servers: nothing is lost, and a repeated batch has the same id. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ENGINE, startOwnServer, workspaceAt } from "../../harness.ts";
import { accept, startReceiver, users, webhooksOf } from "../../receiver.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { until } from "../../until.ts";

const outboundAllow = ["127.0.0.1"];

describe("webhooks and the end of a server", () => {
  test("a batch that was under way when the server stopped is sent by the next one with the same id, and all changes arrive", async () => {
    const server = await startOwnServer({ dataDir: await temporaryFolder(), outboundAllow });
    const workspace = await server.workspace();
    const receiver = await startReceiver(() => {});
    await webhooksOf(server, workspace).put(receiver.url);
    await workspace.track(users(40));
    await until(() => receiver.received.length >= 4);
    await server.stop();
    const begun = receiver.received.map(({ id }) => id);
    receiver.respond = accept;
    const next = await startOwnServer(server.config);
    await until(() => receiver.accepted.length >= 40);
    assert.equal(new Set(receiver.accepted.map((change) => change.id)).size, 40);
    const again = receiver.received.slice(begun.length).map(({ id }) => id);
    for (const id of begun) assert.ok(again.includes(id), `${id} in ${again}`);
    await next.stop();
  });

  test("two servers share the partitions of a webhook, and each change arrives once, in order", {
    skip: ENGINE === "embedded" && "the embedded engine has one server",
  }, async () => {
    const one = await startOwnServer({ outboundAllow });
    const workspace = await one.workspace();
    const receiver = await startReceiver();
    const other = await startOwnServer(one.config);
    const id = await webhooksOf(one, workspace).put(receiver.url);
    const writers = [workspace, workspaceAt(other.url, workspace)];
    for (let round = 0; round < 10; round++) {
      await Promise.all(writers.map((each, n) => each.track(users(50, `w${n}-`, { round }))));
    }
    await until(() => receiver.accepted.length >= 1_000);
    const outcomes = (await webhooksOf(one, workspace).deliveries(id)).map(
      ({ outcome }) => outcome,
    );
    assert.deepEqual(new Set(outcomes), new Set(["delivered"]));
    const { body } = await workspace.call<any>("GET", "/changes?cursor=beginning");
    const feed: any[] = body.changes;
    const received = receiver.accepted.map((change) => change.id);
    assert.equal(new Set(received).size, feed.length);
    assert.equal(received.length, feed.length);
    for (const user of new Set(feed.map((change) => change.user.external_id))) {
      const of = (changes: readonly any[]) =>
        changes.filter((change) => change.user.external_id === user).map(({ id }) => id);
      assert.deepEqual(of(receiver.accepted), of(feed));
    }
  });
});
