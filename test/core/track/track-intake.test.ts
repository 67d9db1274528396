/* The workspace setting `intake`: strict, or lenient. docs/decisions/intake.md */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEWSLETTER, startServer } from "../../harness.ts";

const server = await startServer();

const lenient = () => server.workspace({ settings: { intake: "lenient" } });
const ADA = { external_id: "ada" };
const EVENT = { ...ADA, name: "opened", time: "2026-01-01T12:00:00Z" };
const PURCHASE = { ...ADA, product_id: "p", currency: "EUR", price: 1, time: EVENT.time };
const ADDRESSES = { email: "eve@example.com", phone: "not a number" };

describe("lenient intake", () => {
  test("lenient intake ignores addresses next to a primary identifier in events and purchases", async () => {
    const workspace = await lenient();
    const { body } = await workspace.track({
      events: [{ ...EVENT, ...ADDRESSES }],
      purchases: [{ ...PURCHASE, ...ADDRESSES }],
    });
    assert.deepEqual(body, { events_processed: 1, purchases_processed: 1, message: "success" });
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual([ada.email, ada.phone, ada.custom_events[0].count], [null, null, 1]);
    const two = { ...EVENT, user_alias: { alias_name: "a", alias_label: "b" } };
    assert.equal((await workspace.track({ events: [two] })).status, 400);
  });

  test("lenient intake leaves out an invalid attribute, reports it and writes the rest", async () => {
    const workspace = await lenient();
    const bad = { email: "", dob: "", phone: "(415) 555-2671", note: "x".repeat(256) };
    const { status, body } = await workspace.track({
      attributes: [{ ...ADA, ...bad, first_name: "Ada", plan: "pro" }],
    });
    assert.deepEqual([status, body.attributes_processed], [201, 1]);
    assert.equal(body.errors, undefined, "the object is written");
    assert.deepEqual(
      body.skipped?.map(({ code, input_array, index }) => [code, input_array, index]),
      [
        ["EMAIL_BAD_FORMAT", "attributes", 0],
        ["INVALID_ATTRIBUTE", "attributes", 0],
        ["INVALID_PHONE", "attributes", 0],
        ["VALUE_TOO_LONG", "attributes", 0],
      ],
    );
    for (const { message } of body.skipped ?? []) assert.match(message, /'intake: lenient'/);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual(
      [ada.first_name, ada.email, ada.custom_attributes],
      ["Ada", null, { plan: "pro" }],
    );
  });

  test("lenient intake leaves out an unknown group and a number that cannot be stored, and writes the rest", async () => {
    const workspace = await lenient();
    const group = (subscription_group_id: string) => ({
      subscription_group_id,
      subscription_state: "subscribed",
    });
    const { body } = await workspace.track({
      attributes: [
        {
          ...ADA,
          huge: 1e300,
          plan: "pro",
          subscription_groups: [group("none"), group(NEWSLETTER)],
        },
      ],
      events: [{ ...EVENT, properties: { huge: 1e300, size: "L" } }],
    });
    assert.deepEqual(
      [body.errors, body.attributes_processed, body.events_processed],
      [undefined, 1, 1],
    );
    assert.deepEqual(
      body.skipped?.map(({ code, input_array }) => [code, input_array]),
      [
        ["NUMBER_NOT_EXACT", "attributes"],
        ["BAD_SUBSCRIPTION_GROUP_ID", "attributes"],
        ["NUMBER_NOT_EXACT", "events"],
      ],
    );
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual(ada.custom_attributes, { plan: "pro" });
    assert.equal(
      ada.subscription_groups.find(({ id }: { id: string }) => id === NEWSLETTER)?.status,
      "subscribed",
    );
  });

  test("a fault of braze_id names the field as sent", async () => {
    const workspace = await server.workspace();
    const { body } = await workspace.track({ attributes: [{ braze_id: {}, plan: "pro" }] });
    assert.match(body.errors?.[0]?.message ?? "", /'braze_id'/);
  });

  test("lenient intake reads a local phone number with the country of the object", async () => {
    const workspace = await lenient();
    const attributes = [{ ...ADA, phone: "(415) 555-2671", country: "United States" }];
    assert.equal((await workspace.track({ attributes })).body.errors, undefined);
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual([ada.phone, ada.country], ["+14155552671", "US"]);
  });
});

test("strict intake, the default, refuses the whole object and names the setting", async () => {
  const workspace = await server.workspace();
  const event = await workspace.track({ events: [{ ...EVENT, email: "eve@example.com" }] });
  assert.equal(event.body.errors?.[0]?.code, "MULTIPLE_IDENTIFIERS");
  assert.match(event.body.errors?.[0]?.message ?? "", /'intake: lenient'/);
  const attributes = [{ ...ADA, dob: "", first_name: "Ada" }];
  assert.equal((await workspace.track({ attributes })).status, 400);
  assert.deepEqual(await workspace.profiles({ external_ids: ["ada"] }), []);
});
