/* Traces of users in the whole database after they are deleted, after any history. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../../../../src/server/open-database.ts";
import {
  alias,
  byAlias,
  id,
  identifyAliases,
  merge,
  newAliases,
  remove,
  succeeds,
  TIME,
} from "../../../../core/people/identity/identity-calls.ts";
import { NEWSLETTER, startOwnServer, type TestWorkspace, WEB_APP } from "../../../../harness.ts";
import { temporaryFolder } from "../../../../stored-rows.ts";

const server = await startOwnServer({ dataDir: await temporaryFolder() });

/** Gives a user a value in every place that can keep one. */
async function fill(workspace: TestWorkspace, identifier: object, name: string, phone: string) {
  const mark = (what: string) => `trace-${name}-${what}`;
  const state = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
  const attributes = {
    ...identifier,
    _update_existing_only: false,
    email: `${mark("email")}@example.com`,
    phone,
    first_name: mark("name"),
    plan: mark("custom"),
    email_subscribe: "unsubscribed",
    subscription_groups: [state],
    push_tokens: [{ app_id: WEB_APP, token: mark("token"), device_id: mark("device") }],
  };
  const properties = { note: mark("property") };
  const purchase = { product_id: "p", currency: "USD", price: 1, time: TIME, properties };
  const { body } = await workspace.track({
    attributes: [attributes],
    events: [{ ...identifier, name: "e", time: TIME, properties }],
    purchases: [{ ...identifier, ...purchase }],
  });
  assert.deepEqual([body.errors, body.skipped], [undefined, undefined]);
  const path = `/admin/v1/workspaces/${workspace.name}/import`;
  const imported = {
    apps: [{ app_id: WEB_APP, sessions: 1, first_used: TIME, last_used: TIME, version: mark("v") }],
    devices: [{ device_id: mark("device"), model: mark("model") }],
    campaigns_received: [
      { api_campaign_id: "c", last_received: TIME, variation_name: mark("variation") },
    ],
    cards_clicked: [{ name: "card", last_clicked: TIME }],
    messages: [{ message_id: mark("message"), channel: "email", sent_at: TIME }],
    engagement_times: { last_email_open_at: TIME },
  };
  const answer = await server.admin("POST", path, { users: [{ ...identifier, ...imported }] });
  assert.deepEqual([answer.body.imported, answer.body.errors], [1, undefined]);
}

/** Every row of every table that contains the text, as `table: row`. */
async function rowsWith(text: RegExp): Promise<string[]> {
  const database = await openDatabase(server.config);
  try {
    const tables = await database.query<{ name: string }>(
      "select tablename::text as name from pg_tables where schemaname = 'public' order by 1",
    );
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = (await database.query(`select * from ${name}`)).map((row) =>
        JSON.stringify(row),
      );
      found.push(...rows.filter((row) => text.test(row)).map((row) => `${name}: ${row}`));
    }
    return found;
  } finally {
    await database.close();
  }
}

test("deleting users erases every trace of them except the states of their email addresses", async () => {
  const workspace = await server.workspace({ settings: { redirect_merged_ids: true } });
  const ids = ["ada", "bea", "cleo", "eve"].map((name) => `trace-${name}`);
  const [ada = "", bea = "", cleo = "", eve = ""] = ids;
  await fill(workspace, id(ada), "ada", "+14155552671");
  await fill(workspace, id(bea), "bea", "+14155552672");
  await fill(workspace, id(cleo), "cleo", "+14155552673");
  await fill(workspace, id(eve), "eve", "+14155552674");
  await fill(workspace, byAlias("trace-dora"), "dora", "+14155552675");
  await fill(workspace, byAlias("trace-fay"), "fay", "+14155552676");
  await succeeds(newAliases(workspace, { ...id(ada), ...alias("trace-ada") }));

  // Two become one in each of the three ways, and then all are deleted.
  await succeeds(merge(workspace, [[id(bea), id(cleo)]]));
  await succeeds(identifyAliases(workspace, [["trace-fay", eve]]));
  await succeeds(identifyAliases(workspace, [["trace-dora", eve]], { merge_behavior: "none" }));
  await succeeds(remove(workspace, { external_ids: [ada, cleo, eve] }));
  assert.deepEqual(await workspace.profiles({ external_ids: ids }), []);

  await server.stop();
  const rows = await rowsWith(/trace-|\+1415555267/);
  const tables = new Map<string, number>();
  for (const row of rows) {
    const table = row.slice(0, row.indexOf(":"));
    tables.set(table, (tables.get(table) ?? 0) + 1);
  }
  assert.deepEqual(Object.fromEntries(tables), { email_states: 6 }, rows.join("\n"));
});
