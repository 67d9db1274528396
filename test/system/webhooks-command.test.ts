/* `rapport webhooks`: what becomes of deliveries, from the command line. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  respondWith,
  startReceiver,
  until,
  users,
  webhooksOf,
} from "../delivery/webhooks/receiver.ts";
import { startOwnServer } from "../harness.ts";
import { runCommand } from "./child-server.ts";

const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });

test("rapport webhooks lists webhooks, their deliveries and dead letters, tests one, and replays", async () => {
  const workspace = await server.workspace();
  const receiver = await startReceiver();
  const webhooks = webhooksOf(server, workspace);
  await webhooks.put(receiver.url, {}, "crm / east");
  const run = (...args: string[]) =>
    runCommand(["webhooks", ...args, "--url", server.url, "--workspace", workspace.name], {
      ADMIN_TOKEN: server.adminToken,
    });
  assert.match((await run("list")).stdout, /^crm \/ east {2}active {2}CRM {2}http/);
  assert.equal((await run("test", "crm / east")).stdout, "delivered  204\n");
  receiver.respond = respondWith(422);
  const failed = await run("test", "crm / east");
  assert.deepEqual([failed.code, failed.stdout], [1, "refused  422\n"]);
  await workspace.track(users(1));
  await until(
    async () => JSON.parse((await run("dead-letters", "crm / east", "--json")).stdout).length > 0,
  );
  const [letter] = JSON.parse((await run("dead-letters", "crm / east", "--json")).stdout);
  assert.match(
    (await run("deliveries", "crm / east")).stdout,
    /live {2}1 changes {2}attempt 1 {2}refused {2}422/,
  );
  receiver.respond = respondWith(200);
  const again = await run("replay", "crm / east", "--dead-letter", letter.dead_letter_id);
  assert.equal(again.stdout, "delivered  200\n");
  const replayed = await run("replay", "crm / east", "--from", "beginning");
  assert.equal(replayed.stdout, "The replay runs beside what is new.\n");
  await until(() => receiver.accepted.length >= 2);
  assert.match((await run("replay", "crm / east")).stderr, /either --from or --dead-letter/);
  assert.match((await run("test", "none")).stderr, /no webhook 'none'/);
});
