/*
 * Which user an object of a track request means: what each identifier finds, and which user is created
 * when it finds none. Several users with one address: track-shared-addresses.test.ts.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ItemNote, startServer } from "../../harness.ts";

const server = await startServer();
/** For rows that are only refused. */
const workspace = await server.workspace();

const TIME = "2026-01-01T12:00:00Z";
const PHONE = "+14155552671";
const OTHER_PHONE = "+442071838750";
const alias = (name: string) => ({ alias_name: name, alias_label: "crm" });

const attributesOf = (identifier: object) => ({ attributes: [{ ...identifier, seen: true }] });
const eventOf = (identifier: object) => ({ events: [{ ...identifier, name: "seen", time: TIME }] });
const purchaseOf = (identifier: object) => ({
  purchases: [{ ...identifier, product_id: "seen", currency: "EUR", price: 1, time: TIME }],
});
const REQUESTS = { attributes: attributesOf, events: eventOf, purchases: purchaseOf };

/** Whether one of the three requests above reached a profile. */
const wasSeen = (profile: Record<string, any>): boolean =>
  profile.custom_attributes.seen === true ||
  profile.custom_events.length > 0 ||
  profile.purchases.length > 0;

const codes = (notes: readonly ItemNote[] | undefined) => notes?.map((note) => note.code);

describe("each identifier finds the profile that has it", () => {
  for (const [array, request] of Object.entries(REQUESTS)) {
    for (const kind of ["external_id", "user_alias", "email", "phone", "platform_id", "braze_id"]) {
      test(`${kind} in ${array} finds the profile that has it`, async () => {
        const workspace = await server.workspace();
        const people = [
          { external_id: "ada", email: "ada@example.com", phone: PHONE },
          { external_id: "bob", email: "bob@example.com", phone: OTHER_PHONE },
          { user_alias: alias("carol"), _update_existing_only: false },
        ];
        await workspace.track({ attributes: people });
        const wanted =
          kind === "user_alias"
            ? await workspace.profile({ user_aliases: [alias("carol")] })
            : await workspace.profile({ external_ids: ["ada"] });
        const identifier = {
          external_id: "ada",
          user_alias: alias("carol"),
          email: "ada@example.com",
          phone: PHONE,
          platform_id: wanted.platform_id,
          braze_id: wanted.platform_id,
        }[kind];

        const answer = await workspace.track(request({ [kind]: identifier }));
        assert.equal(answer.status, 201);
        assert.equal(answer.body.skipped, undefined);
        const all = await workspace.profiles({
          external_ids: ["ada", "bob"],
          user_aliases: [alias("carol")],
        });
        const seen = all.filter(wasSeen).map((profile) => profile.platform_id);
        assert.deepEqual(seen, [wanted.platform_id]);
      });
    }
  }
});

describe("an object with an unknown identifier creates a profile or is skipped", () => {
  const EMAIL = { email: "new@example.com" };
  const ALIAS = { user_alias: alias("new") };
  const NOBODY = { platform_id: "0196f0c4-5a3e-7000-8000-000000000000" };
  const cases: [
    array: keyof typeof REQUESTS,
    identifier: Record<string, unknown>,
    makes: boolean,
  ][] = [];
  for (const array of ["attributes", "events", "purchases"] as const) {
    for (const identifier of [{ external_id: "new" }, EMAIL, { phone: PHONE }]) {
      cases.push([array, identifier, true]);
      cases.push([array, { ...identifier, _update_existing_only: false }, true]);
      cases.push([array, { ...identifier, _update_existing_only: true }, false]);
    }
    cases.push([array, ALIAS, false]);
    cases.push([array, { ...ALIAS, _update_existing_only: true }, false]);
    cases.push([array, { ...ALIAS, _update_existing_only: false }, array === "attributes"]);
    cases.push([array, { ...NOBODY, _update_existing_only: false }, false]);
    cases.push([array, { platform_id: "507f1f77bcf86cd799439011" }, false]);
  }
  for (const [array, identifier, makes] of cases) {
    const verb = makes ? "creates a user" : "creates no user and is skipped";
    test(`${array} with ${JSON.stringify(identifier)} ${verb}`, async () => {
      const workspace = await server.workspace();
      const answer = await workspace.track(REQUESTS[array](identifier));
      assert.equal(answer.status, 201);
      assert.equal(answer.body.errors, undefined);
      assert.deepEqual(codes(answer.body.skipped), makes ? undefined : ["USER_NOT_FOUND"]);
      const { external_id, user_alias, email, phone, platform_id } = identifier;
      const found = await workspace.profiles({
        ...(external_id !== undefined && { external_ids: [external_id] }),
        ...(user_alias !== undefined && { user_aliases: [user_alias] }),
        ...(email !== undefined && { email_address: email }),
        ...(phone !== undefined && { phone }),
        ...(platform_id !== undefined && { platform_ids: [platform_id] }),
      });
      assert.equal(found.length, makes ? 1 : 0);
    });
  }

  test("a profile created for an email has that email as given, no external_id and no alias", async () => {
    const workspace = await server.workspace();
    await workspace.track(attributesOf({ email: "Grace.Hopper@Example.com" }));
    const grace = await workspace.profile({ email_address: "grace.hopper@example.com" });
    assert.equal(grace.email, "Grace.Hopper@Example.com");
    assert.equal(grace.external_id, null);
    assert.equal(grace.phone, null);
    assert.deepEqual(grace.user_aliases, []);
    assert.equal(wasSeen(grace), true);
  });

  test("a profile created for a phone has that phone, no external_id and no alias", async () => {
    const workspace = await server.workspace();
    await workspace.track(attributesOf({ phone: PHONE }));
    const somebody = await workspace.profile({ phone: PHONE });
    assert.deepEqual(
      [somebody.phone, somebody.external_id, somebody.email, somebody.user_aliases],
      [PHONE, null, null, []],
    );
  });

  test("an alias identifies one profile, within a request and in later ones", async () => {
    const workspace = await server.workspace();
    const object = (name: string) => ({
      user_alias: alias("dora"),
      _update_existing_only: false,
      [name]: true,
    });
    await workspace.track({ attributes: [object("first"), object("second")] });
    await workspace.track({ attributes: [object("third")] });
    const dora = await workspace.profile({ user_aliases: [alias("dora")] });
    assert.deepEqual(dora.custom_attributes, { first: true, second: true, third: true });
    assert.deepEqual(dora.user_aliases, [alias("dora")]);
    assert.equal(dora.external_id, null);
  });

  test("aliases with the same letters split differently between name and label are distinct", async () => {
    const workspace = await server.workspace();
    const pairs = [
      { alias_label: "a", alias_name: "bc" },
      { alias_label: "ab", alias_name: "c" },
      { alias_label: "1:a", alias_name: "b" },
      // With the character that is stored between the two.
      { alias_label: "c", alias_name: "a\u001fb" },
      { alias_label: "b\u001fc", alias_name: "a" },
    ];
    for (const user_alias of pairs) {
      await workspace.track({ attributes: [{ user_alias, _update_existing_only: false }] });
    }
    assert.equal((await workspace.profiles({ user_aliases: pairs })).length, pairs.length);
  });

  test("a new external_id creates a profile even if another profile has the email", async () => {
    const workspace = await server.workspace();
    const email = "shared@example.com";
    await workspace.track({ attributes: [{ external_id: "one", email }] });
    await workspace.track({ attributes: [{ external_id: "two", email }] });
    assert.equal((await workspace.profiles({ email_address: email })).length, 2);
  });

  test("a profile that an object creates is found by later objects of the request", async () => {
    const workspace = await server.workspace();
    const email = "eve@example.com";
    const answer = await workspace.track({
      attributes: [
        { user_alias: alias("eve") },
        { user_alias: alias("eve"), _update_existing_only: false },
        { user_alias: alias("eve"), email },
      ],
      events: [{ email, name: "seen", time: TIME }],
      purchases: [{ user_alias: alias("eve"), ...purchaseOf({}).purchases[0] }],
    });
    assert.deepEqual(
      answer.body.skipped?.map((note) => [note.input_array, note.index]),
      [["attributes", 0]],
    );
    const [eve, ...others] = await workspace.profiles({ email_address: email });
    assert.deepEqual(others, []);
    assert.equal(eve?.custom_events[0].count, 1);
    assert.equal(eve?.purchases[0].count, 1);
  });
});

describe("an object of a track request needs exactly one identifier", () => {
  const ALL: Record<string, unknown> = {
    external_id: "ada",
    user_alias: alias("ada"),
    platform_id: "0196f0c4-5a3e-7000-8000-000000000000",
    email: "ada@example.com",
    phone: PHONE,
  };
  const names = Object.keys(ALL);
  const pairs = names.flatMap((one, index) => names.slice(index + 1).map((two) => [one, two]));

  for (const [array, request] of Object.entries(REQUESTS)) {
    test(`an object of ${array} without any identifier is refused`, async () => {
      for (const identifier of [{}, { external_id: null, email: null, user_alias: null }]) {
        const answer = await workspace.track(request(identifier));
        assert.equal(answer.status, 400);
        assert.deepEqual(codes(answer.body.errors), ["MISSING_IDENTIFIER"]);
        assert.match(answer.body.errors?.[0]?.message ?? "", /'external_id'.* is required$/);
      }
    });

    test(`an object of ${array} with two identifiers is refused unless one is a plain attribute`, async () => {
      const workspace = await server.workspace();
      for (const [one = "", two = ""] of pairs) {
        const answer = await workspace.track(request({ [one]: ALL[one], [two]: ALL[two] }));
        const isAttribute = array === "attributes" && (two === "email" || two === "phone");
        const expected = isAttribute ? undefined : ["MULTIPLE_IDENTIFIERS"];
        assert.deepEqual(codes(answer.body.errors), expected, `${one} and ${two}`);
      }
    });
  }

  test("email and phone next to another identifier are plain attributes", async () => {
    const workspace = await server.workspace();
    const email = "ada@example.com";
    await workspace.track({ attributes: [{ external_id: "other", email, phone: PHONE }] });
    await workspace.track({ attributes: [{ external_id: "ada", email, phone: PHONE, mine: 1 }] });
    const ada = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual([ada.email, ada.phone, ada.custom_attributes.mine], [email, PHONE, 1]);
    const other = await workspace.profile({ external_ids: ["other"] });
    assert.equal(other.custom_attributes.mine, undefined);
  });

  test("an object with only email and phone is identified by the email, and the phone is an attribute", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ external_id: "has-phone", phone: PHONE }] });
    await workspace.track({ attributes: [{ external_id: "has-email", email: "e@example.com" }] });
    await workspace.track({ attributes: [{ email: "e@example.com", phone: PHONE, mine: 1 }] });
    const profile = await workspace.profile({ external_ids: ["has-email"] });
    assert.deepEqual([profile.phone, profile.custom_attributes.mine], [PHONE, 1]);
  });
});

describe("an identifier must have a valid form", () => {
  const refusals: [identifier: Record<string, unknown>, code: string][] = [
    [{ external_id: "" }, "INVALID_EXTERNAL_ID"],
    [{ external_id: true }, "INVALID_EXTERNAL_ID"],
    [{ external_id: ["ada"] }, "INVALID_EXTERNAL_ID"],
    [{ external_id: {} }, "INVALID_EXTERNAL_ID"],
    [{ external_id: "é".repeat(494) }, "EXTERNAL_USER_ID_TOO_LARGE"],
    [{ user_alias: "ada" }, "INVALID_USER_ALIAS"],
    [{ user_alias: [] }, "INVALID_USER_ALIAS"],
    [{ user_alias: { alias_name: "ada" } }, "INVALID_USER_ALIAS"],
    [{ user_alias: { alias_label: "crm" } }, "INVALID_USER_ALIAS"],
    [{ user_alias: { alias_name: "ada", alias_label: "" } }, "INVALID_USER_ALIAS"],
    [{ user_alias: { alias_name: "a".repeat(988), alias_label: "l" } }, "INVALID_USER_ALIAS"],
    [{ platform_id: 5 }, "INVALID_PLATFORM_ID"],
    [{ email: "no-address" }, "EMAIL_BAD_FORMAT"],
    [{ email: 5 }, "EMAIL_BAD_FORMAT"],
    [{ phone: "5552671" }, "INVALID_PHONE"],
    [{ phone: "+11112223333" }, "INVALID_PHONE"],
    [{ phone: "+1 415" }, "INVALID_PHONE"],
    [{ phone: "+99912345678" }, "INVALID_PHONE"],
    [{ phone: "call me" }, "INVALID_PHONE"],
    [{ phone: 14155552671 }, "INVALID_PHONE"],
  ];
  for (const [identifier, code] of refusals) {
    test(`${JSON.stringify(identifier).slice(0, 60)} is refused with ${code}`, async () => {
      for (const request of Object.values(REQUESTS)) {
        const answer = await workspace.track(
          request({ ...identifier, _update_existing_only: false }),
        );
        assert.equal(answer.status, 400);
        assert.deepEqual(codes(answer.body.errors), [code]);
        assert.match(
          answer.body.errors?.[0]?.message ?? "",
          new RegExp(`'${Object.keys(identifier)[0]}`),
        );
      }
    });
  }

  test("an external_id may have 987 bytes, and a number is read as a string", async () => {
    const workspace = await server.workspace();
    const longest = "x".repeat(987);
    await workspace.track({ attributes: [{ external_id: longest }, { external_id: 4711 }] });
    const found = await workspace.profiles({ external_ids: [longest, "4711"] });
    assert.deepEqual(new Set(found.map((each) => each.external_id)), new Set([longest, "4711"]));
  });

  test("a phone is found by its E.164 form, with any punctuation, with or without the plus", async () => {
    const workspace = await server.workspace();
    for (const phone of ["+1 (415) 555-2671", "14155552671", PHONE]) {
      await workspace.track(eventOf({ phone }));
    }
    const somebody = await workspace.profile({ phone: PHONE });
    assert.equal(somebody.custom_events[0].count, 3);
    assert.equal(somebody.phone, PHONE);
  });
});
