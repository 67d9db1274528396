/*
 * A client library that many programs use (a development dependency) against a running server:
 * nothing is changed in it but the address and the key.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Braze as Client } from "braze-api";
import { startServer } from "../harness.ts";

const server = await startServer();

const TIME = "2026-01-01T12:00:00Z";

async function connect() {
  const workspace = await server.workspace();
  return { workspace, client: new Client(server.url, workspace.key) };
}

describe("an existing client library", () => {
  test("an existing client library tracks attributes, events and purchases and gets the counters", async () => {
    const { workspace, client } = await connect();
    const user_alias = { alias_name: "ada", alias_label: "crm" };
    const answer = await client.users.track({
      attributes: [
        { external_id: "ada", first_name: "Ada", email: "ada@example.com", plan: "pro" },
        { user_alias, _update_existing_only: false, seats: 3 },
      ],
      events: [{ external_id: "ada", name: "opened", time: TIME, properties: { page: "home" } }],
      purchases: [
        {
          external_id: "ada",
          product_id: "book",
          currency: "EUR",
          price: 9.99,
          quantity: 2,
          time: TIME,
        },
      ],
    });
    assert.deepEqual(answer, {
      attributes_processed: 2,
      events_processed: 1,
      purchases_processed: 1,
      message: "success",
    });
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual(
      [ada.first_name, ada.custom_attributes, ada.custom_events[0].count, ada.total_revenue],
      ["Ada", { plan: "pro" }, 1, 19.98],
    );
    const aliased = await workspace.profile({ user_aliases: [user_alias] });
    assert.deepEqual(aliased.custom_attributes, { seats: 3 });
  });

  test("the bulk call of an existing client library stores events", async () => {
    const { workspace, client } = await connect();
    const events = [{ external_id: "ada", name: "opened", time: TIME }];
    assert.equal((await client.users.track({ events }, true)).message, "success");
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.custom_events[0].count, 1);
  });

  test("an existing client library gets the errors of rejected objects, and the others are stored", async () => {
    const { workspace, client } = await connect();
    const answer = await client.users.track({
      events: [
        { external_id: "ada", name: "opened", time: "some day" },
        { external_id: "ada", name: "opened", time: TIME },
      ],
    });
    assert.equal(answer.message, "success");
    assert.deepEqual(
      (answer.errors as any[]).map(({ type, input_array, index }) => [type, input_array, index]),
      [["'time' is not valid: send ISO 8601, such as 2026-11-22T04:00:41Z", "events", 0]],
    );
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(ada.custom_events[0].count, 1);
  });

  test("an existing client library throws the message, status and errors of a refused request", async () => {
    const { client } = await connect();
    await assert.rejects(client.users.track({}), (error: any) => {
      assert.match(error.message, /^Valid data must be provided/);
      assert.equal(error.status, 400);
      assert.equal(error.errors.length, 1);
      return true;
    });
    const stranger = new Client(server.url, "not-a-key");
    await assert.rejects(stranger.users.track({}), { message: "Invalid API key", status: 401 });
  });

  test("an existing client library exports users by external id, alias, email and platform_id", async () => {
    const { client } = await connect();
    const user_alias = { alias_name: "ada", alias_label: "crm" };
    const email = "ada@example.com";
    await client.users.track({
      attributes: [{ user_alias, _update_existing_only: false, email, first_name: "Ada" }],
      events: [{ external_id: "bob", name: "opened", time: TIME }],
    });
    const { users } = await client.users.export.ids({
      external_ids: ["bob", "nobody"],
      user_aliases: [user_alias],
      fields_to_export: ["external_id", "braze_id", "first_name", "custom_events"],
    });
    assert.deepEqual(
      users.map(({ external_id, first_name, custom_events }) => [
        external_id,
        first_name,
        custom_events?.length,
      ]),
      [
        ["bob", null, 1],
        [null, "Ada", 0],
      ],
    );
    const braze_id = users[1]?.braze_id ?? "";
    const byId = await client.users.export.ids({ braze_id, fields_to_export: ["email"] });
    assert.deepEqual(byId.users, [{ email }]);
    const byEmail = await client.users.export.ids({ email_address: email });
    assert.equal(byEmail.users[0]?.braze_id, braze_id);
    const nobody = await client.users.export.ids({ external_ids: ["nobody"] });
    assert.deepEqual([nobody.users, nobody.invalid_user_ids], [[], ["nobody"]]);
  });
});
