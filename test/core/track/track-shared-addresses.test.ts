/* Which of several people with one email or phone a track request means. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ALERTS, startServer, type TestWorkspace } from "../../harness.ts";

const server = await startServer();

const TIME = "2026-01-01T12:00:00Z";
const PHONE = "+14155552671";
const alias = (name: string) => ({ alias_name: name, alias_label: "crm" });
const attributesOf = (identifier: object) => ({ attributes: [{ ...identifier, seen: true }] });
const eventOf = (identifier: object) => ({ events: [{ ...identifier, name: "seen", time: TIME }] });

describe("several profiles with one address", () => {
  const ADDRESSES = { email: "Shared@Example.com", phone: PHONE };

  /** Anything that counts as an update of the profile: any write to the person. */
  const UPDATES: Record<string, (external_id: string) => object> = {
    attribute: (external_id) => ({ attributes: [{ external_id, touched: true }] }),
    event: (external_id) => ({ events: [{ external_id, name: "touched", time: TIME }] }),
    purchase: (external_id) => ({
      purchases: [{ external_id, product_id: "t", currency: "EUR", price: 1, time: TIME }],
    }),
  };

  async function seenBy(workspace: TestWorkspace): Promise<unknown[]> {
    const all = await workspace.profiles({ phone: PHONE });
    return all
      .filter((profile) => profile.custom_events.some((each: any) => each.name === "seen"))
      .map((profile) => profile.external_id ?? profile.user_aliases[0].alias_name);
  }

  for (const [kind, address] of Object.entries(ADDRESSES)) {
    for (const [what, update] of Object.entries(UPDATES)) {
      test(`a shared ${kind} resolves to the identified profile that was updated last, here by ${what}`, async () => {
        const workspace = await server.workspace();
        for (const external_id of ["one", "two", "three"]) {
          await workspace.track({ attributes: [{ external_id, ...ADDRESSES }] });
        }
        await workspace.track(update("two"));
        // Without an external_id, and updated later than all of them.
        await workspace.track({
          attributes: [{ user_alias: alias("late"), _update_existing_only: false, ...ADDRESSES }],
        });
        await workspace.track(eventOf({ [kind]: address }));
        assert.deepEqual(await seenBy(workspace), ["two"]);
      });
    }

    test(`a shared ${kind} resolves to the identified profile whose group state was set last`, async () => {
      for (const path of ["/subscription/status/set", "/v2/subscription/status/set"]) {
        const workspace = await server.workspace();
        for (const external_id of ["one", "two", "three"]) {
          await workspace.track({ attributes: [{ external_id, ...ADDRESSES }] });
        }
        const set = { subscription_group_id: ALERTS, subscription_state: "subscribed" };
        const body = path.startsWith("/v2")
          ? { subscription_groups: [{ ...set, external_ids: ["two"] }] }
          : { ...set, external_id: "two" };
        assert.equal((await workspace.call("POST", path, body)).status, 201);
        await workspace.track(eventOf({ [kind]: address }));
        assert.deepEqual(await seenBy(workspace), ["two"], path);
      }
    });

    test(`a shared ${kind} resolves to the profile updated last if none has an external_id`, async () => {
      const workspace = await server.workspace();
      for (const name of ["one", "two", "three"]) {
        await workspace.track({
          attributes: [{ user_alias: alias(name), _update_existing_only: false, ...ADDRESSES }],
        });
      }
      await workspace.track(attributesOf({ user_alias: alias("two") }));
      await workspace.track(eventOf({ [kind]: address }));
      assert.deepEqual(await seenBy(workspace), ["two"]);
    });

    test(`a shared ${kind} prefers an identified profile to one that got the address in the same request`, async () => {
      const workspace = await server.workspace();
      await workspace.track({ attributes: [{ external_id: "identified", ...ADDRESSES }] });
      await workspace.track({
        attributes: [{ user_alias: alias("anonymous"), _update_existing_only: false }],
      });
      await workspace.track({
        attributes: [{ user_alias: alias("anonymous"), ...ADDRESSES }],
        ...eventOf({ [kind]: address }),
      });
      assert.deepEqual(await seenBy(workspace), ["identified"]);
    });
  }

  test("of two profiles with one address, the one in the later object of a request counts as updated last", async () => {
    const workspace = await server.workspace();
    const pairs = Array.from({ length: 12 }, (_, index) => `pair-${index}`);
    const update = (sides: readonly string[], more: (pair: string) => object) =>
      workspace.track({
        attributes: pairs.flatMap((pair) =>
          sides.map((side) => ({ external_id: `${side}-of-${pair}`, ...more(pair) })),
        ),
      });
    const email = (pair: string) => ({ email: `${pair}@example.com` });
    await update(["left"], email);
    await update(["right"], email);
    const ROUNDS = 4;
    for (let round = 0; round < ROUNDS; round++) {
      for (const [earlier, later] of [
        ["left", "right"],
        ["right", "left"],
      ] as const) {
        await update([earlier, later], () => ({ round }));
        await workspace.track({
          events: pairs.map((pair) => ({ ...email(pair), name: `to the ${later}`, time: TIME })),
        });
      }
    }
    for (const side of ["left", "right"]) {
      const external_ids = pairs.map((pair) => `${side}-of-${pair}`);
      for (const { custom_events } of await workspace.profiles({ external_ids })) {
        assert.deepEqual(
          custom_events.map((event: any) => [event.name, event.count]),
          [[`to the ${side}`, ROUNDS]],
        );
      }
    }
  });

  test("an email in a track request is matched case-insensitively", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ external_id: "ada", email: "Ada@Example.COM" }] });
    await workspace.track(eventOf({ email: "aDA@eXAMPLE.com" }));
    await workspace.track(attributesOf({ email: "ADA@EXAMPLE.COM" }));
    const ada = await workspace.profile({ email_address: "ada@example.com" });
    assert.equal(ada.external_id, "ada");
    assert.equal(ada.email, "Ada@Example.COM");
    assert.equal(ada.custom_events.length, 1);
  });

  test("an address that was changed or removed no longer resolves to its former profile", async () => {
    const workspace = await server.workspace();
    const ada = { external_id: "ada" };
    await workspace.track({ attributes: [{ ...ada, email: "old@example.com", phone: PHONE }] });
    await workspace.track({ attributes: [{ ...ada, email: "new@example.com", phone: null }] });
    await workspace.track(eventOf({ email: "old@example.com" }));
    await workspace.track(eventOf({ phone: PHONE }));
    await workspace.track(eventOf({ email: "new@example.com" }));
    const profile = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual([profile.email, profile.phone], ["new@example.com", null]);
    assert.equal(profile.custom_events[0].count, 1);
    const others = [
      await workspace.profile({ email_address: "old@example.com" }),
      await workspace.profile({ phone: PHONE }),
    ];
    assert.deepEqual(
      others.map((each) => [each.external_id, each.custom_events[0].count]),
      [
        [null, 1],
        [null, 1],
      ],
    );
  });

  test("an address moved within a track request resolves to its new profile for the rest of the request", async () => {
    const workspace = await server.workspace();
    const email = "moving@example.com";
    await workspace.track({ attributes: [{ external_id: "before", email }] });
    await workspace.track({
      attributes: [
        { external_id: "before", email: null },
        { external_id: "after", email },
        { email, found: true },
      ],
    });
    const after = await workspace.profile({ external_ids: ["after"] });
    assert.deepEqual(after.custom_attributes, { found: true });
    assert.equal((await workspace.profiles({ email_address: email })).length, 1);
  });
});
