/* `rapport webhooks`: where changes are delivered, from the command line. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer } from "../../../harness.ts";
import { respondWith, startReceiver, users, verify, webhooksOf } from "../../../receiver.ts";
import { runCommand } from "../../../system/child-server.ts";
import { until } from "../../../until.ts";

const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });

const withWebhook = async () => {
  const workspace = await server.workspace();
  const receiver = await startReceiver();
  const webhooks = webhooksOf(server, workspace);
  const id = await webhooks.put(receiver.url);
  const run = (...args: string[]) =>
    runCommand(["webhooks", ...args, "--workspace", workspace.name, "--url", server.url], {
      ADMIN_TOKEN: server.adminToken,
    });
  return { workspace, receiver, webhooks, id, run };
};

describe("rapport webhooks", () => {
  test("list, test and deliveries name a webhook by id or name, and a test that fails exits with 1", async () => {
    const { receiver, id, run } = await withWebhook();
    assert.equal((await run("list")).stdout, `${id}  CRM  ${receiver.url}  active\n`);
    const sent = await run("test", "CRM");
    assert.equal(sent.code, 0);
    assert.match(sent.stdout, /^delivered \(204\) after \d+ ms\n$/);
    receiver.respond = respondWith(500);
    const failed = await run("test", id);
    assert.equal(failed.code, 1);
    assert.match(failed.stdout, /^failed \(500\)/);
    const { stdout } = await run("deliveries", "CRM");
    assert.match(stdout, /test, 0 changes, attempt 1: failed \(500\).*\n.*: delivered \(204\)/);
    const none = await run("test", "ERP");
    assert.match(none.stderr, /There is no webhook 'ERP'\. There are: CRM\./);
  });

  test("pause stops deliveries, and resume continues where they stopped", async () => {
    const { workspace, receiver, run } = await withWebhook();
    assert.equal((await run("pause", "CRM")).stdout, "'CRM' is paused.\n");
    await workspace.track(users(3));
    assert.match((await run("list")).stdout, / {2}paused/);
    assert.equal((await run("resume", "CRM", "--json")).code, 0);
    await until(() => receiver.accepted.length === 3);
  });

  test("dead-letters lists the refused changes, resend delivers one, and replay delivers all again", async () => {
    const { workspace, receiver, webhooks, id, run } = await withWebhook();
    receiver.respond = respondWith(422);
    await workspace.track(users(1));
    await until(async () => (await webhooks.deadLetters(id)).length === 1);
    const { stdout } = await run("dead-letters", "CRM");
    const [letter = ""] = stdout.split("  ");
    assert.match(stdout, /user\.created.* {2}422\n$/);
    assert.equal((await run("resend", "CRM", letter)).code, 1);
    receiver.respond = respondWith(204);
    assert.equal((await run("resend", "CRM", letter)).code, 0);
    assert.equal(receiver.accepted.length, 1);
    const replayed = await run("replay", "CRM", "--from", "beginning");
    assert.equal(replayed.stdout, "Delivering to 'CRM' again from beginning.\n");
    await until(() => receiver.accepted.length === 2);
  });

  test("rotate prints the new secret alone, and deliveries are signed with both for the overlap", async () => {
    const { receiver, run } = await withWebhook();
    const { stdout, stderr } = await run("rotate", "CRM", "--overlap", "1h");
    assert.match(stdout, /^whsec_\S+\n$/);
    assert.match(stderr, /previous secret signs too until/);
    await run("test", "CRM");
    const delivered = receiver.received[0];
    assert.ok(delivered);
    verify(delivered, stdout.trim());
    verify(delivered);
  });
});
