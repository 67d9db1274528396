/* Limits on what one export, merge or deletion may read: a request over its budget is refused before the rows are read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  id,
  makeUsers,
  many,
  merge,
  refuses,
  remove,
  succeeds,
  TIME,
  userOf,
} from "../../core/people/identity/identity-calls.ts";
import { startServer, type TestWorkspace } from "../../harness.ts";

const server = await startServer();

const EMAIL = "shared@example.com";

const exported = (workspace: TestWorkspace, body: object) =>
  workspace.call<any>("POST", "/users/export/ids", body);

async function importUser(workspace: TestWorkspace, user: object): Promise<void> {
  const path = `/admin/v1/workspaces/${workspace.name}/import`;
  const { body } = await server.admin("POST", path, { users: [user] });
  assert.equal(body.imported, 1, JSON.stringify(body).slice(0, 500));
}

/** Users who share one address. */
async function share(workspace: TestWorkspace, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += 50) {
    const names = many(Math.min(50, to - first), (index) => `u${first + index}`);
    const attributes = names.map((name) => ({ ...id(name), email: EMAIL }));
    assert.equal((await workspace.track({ attributes })).body.errors, undefined);
  }
}

/** About 3 MB of flags on one campaign. */
const campaign = (name: string) => ({
  api_campaign_id: name,
  last_received: TIME,
  engaged: Object.fromEntries(many(12_000, (index) => [`${index}`.padEnd(250, "x"), true])),
});

test("an export by address returns up to 150 users, and refuses an address that more users share", async () => {
  const workspace = await server.workspace();
  await share(workspace, 0, 150);
  const { users } = (await exported(workspace, { email_address: EMAIL })).body;
  assert.equal(users.length, 150);
  await share(workspace, 150, 151);
  await refuses(exported(workspace, { email_address: EMAIL }), /^More than 150 users share/);
});

test("an export over 4 MiB is refused with the name of the largest field, and succeeds without it", async () => {
  const workspace = await server.workspace();
  await makeUsers(workspace, id("ada"));
  const text = "x".repeat(255);
  for (const batch of ["a", "b", "c", "d", "e"]) {
    const messages = many(1_000, (index) => ({
      message_id: `${batch}${index}`,
      channel: text,
      sent_at: TIME,
      api_campaign_id: text,
      api_canvas_id: text,
      api_canvas_step_id: text,
    }));
    await importUser(workspace, { ...id("ada"), messages });
  }
  const request = { external_ids: ["ada"], fields_to_export: ["external_id", "message_history"] };
  const body = await refuses(exported(workspace, request), /more than the 4194304 allowed/);
  assert.match(body.message, /'message_history' take \d+ of them\. Export fewer users/);
  assert.equal((await userOf(workspace, "ada"))?.external_id, "ada");
  // Measured like the messages, and small.
  const fields_to_export = ["external_id", "merged_ids"];
  const [ada] = await workspace.profiles({ external_ids: ["ada"], fields_to_export });
  assert.deepEqual(ada, { external_id: "ada", merged_ids: [] });
});

test("a merge of users with more than 8 MiB of summaries is refused, and the users can still be deleted", async () => {
  const workspace = await server.workspace();
  await makeUsers(workspace, id("ada"), id("bob"));
  for (const name of ["one", "two", "three"]) {
    await importUser(workspace, { ...id("ada"), campaigns_received: [campaign(name)] });
  }
  await refuses(merge(workspace, [[id("ada"), id("bob")]]), /Send fewer users in one request\.$/);
  const fields_to_export = ["custom_events"];
  const [bob] = await workspace.profiles({ external_ids: ["bob"], fields_to_export });
  assert.equal(bob?.custom_events.length, 1);
  await succeeds(remove(workspace, { external_ids: ["ada", "bob"] }));
  assert.deepEqual(await workspace.profiles({ external_ids: ["ada", "bob"] }), []);
});
