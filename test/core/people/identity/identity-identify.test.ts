/* POST /users/identify. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEWSLETTER, startServer, type TestWorkspace, WEB_APP } from "../../../harness.ts";
import {
  alias,
  byAlias,
  byEmail,
  byPhone,
  countsOf,
  id,
  identify,
  identifyAliases,
  makeUsers,
  many,
  merge,
  newAliases,
  notesOf,
  refuses,
  skips,
  succeeds,
  TIME,
  userOf,
} from "./identity-calls.ts";

const server = await startServer();

const PHONE = "+14155552671";

const purchase = (identifier: object, product_id: string) => ({
  ...identifier,
  product_id,
  currency: "USD",
  price: 1.5,
  time: TIME,
});

/** An alias-only user with some of everything, and optionally an identified one. */
async function withAnonymous(names: readonly string[] = []): Promise<TestWorkspace> {
  const workspace = await server.workspace();
  const token = { app_id: WEB_APP, token: "anonymous token", device_id: "device-of-a" };
  await makeUsers(workspace, ...names.map((name) => ({ ...id(name), plan: "own" })), {
    ...byAlias("a"),
    first_name: "Ada",
    plan: "other",
    seats: 3,
    email: "a@example.com",
    push_tokens: [token],
    subscription_groups: [
      { subscription_group_id: NEWSLETTER, subscription_state: "unsubscribed" },
    ],
  });
  await workspace.track({ purchases: [purchase(byAlias("a"), "shoes")] });
  await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/import`, {
    users: [
      {
        ...byAlias("a"),
        devices: [{ device_id: "device-of-a", model: "Phone" }],
        apps: [{ app_id: WEB_APP, sessions: 2, first_used: TIME, last_used: TIME }],
        messages: [{ message_id: "m1", channel: "email", sent_at: TIME }],
        engagement_times: { last_opened_email_at: TIME },
      },
    ],
  });
  return workspace;
}

const FIELDS = ["message_history", "devices", "apps", "push_tokens", "engagement_times"];

describe("identify gives an unused external_id to the aliased user", () => {
  for (const more of [{}, { merge_behavior: "merge" }, { merge_behavior: "none" }]) {
    const how = JSON.stringify(more);
    test(`identify with ${how} gives an unused external_id to the aliased user and keeps all data`, async () => {
      const workspace = await withAnonymous();
      const before = await workspace.profile({ user_aliases: [alias("a")] });
      const answer = await succeeds(identifyAliases(workspace, [["a", "ada"]], more));
      assert.deepEqual(answer, { aliases_processed: 1, message: "success" });
      const after = await workspace.profile({ user_aliases: [alias("a")] });
      assert.deepEqual(after, { ...before, external_id: "ada" });
      assert.deepEqual(await userOf(workspace, "ada"), after);
    });
  }
});

describe("identify with an external_id that is in use", () => {
  test("identify combines an alias-only user into the user with the external_id and removes it", async () => {
    const workspace = await withAnonymous(["ada"]);
    const before = await workspace.profile({ user_aliases: [alias("a")] });
    const [own] = await workspace.profiles({ external_ids: ["ada"] });
    await succeeds(identifyAliases(workspace, [["a", "ada"]], { merge_behavior: "merge" }));
    const ada = (await userOf(workspace, "ada")) as Record<string, any>;
    assert.equal(ada.platform_id, own?.platform_id);
    assert.deepEqual(ada.user_aliases, [alias("a")]);
    assert.deepEqual([ada.first_name, ada.email], ["Ada", "a@example.com"]);
    assert.deepEqual(ada.custom_attributes, { plan: "own", seats: 3 });
    assert.deepEqual(countsOf(ada), { a: 1, ada: 1 });
    assert.deepEqual([ada.purchases[0].count, ada.total_revenue], [1, 1.5]);
    assert.equal(ada.subscription_groups[0].status, "unsubscribed");
    assert.deepEqual(await workspace.profile({ user_aliases: [alias("a")] }), ada);
    assert.deepEqual(await workspace.profile({ platform_ids: [before.platform_id] }), ada);
    assert.deepEqual(await workspace.profiles({ email_address: "a@example.com" }), [ada]);
  });

  test("merge_behavior merge, which is the default, carries over everything but device information", async () => {
    for (const more of [{ merge_behavior: "merge" }, {}]) {
      const workspace = await withAnonymous(["ada"]);
      await succeeds(identifyAliases(workspace, [["a", "ada"]], more));
      const ada = await workspace.profile({ external_ids: ["ada"], fields_to_export: FIELDS });
      assert.deepEqual(ada.devices, []);
      assert.equal(ada.apps[0].sessions, 2);
      assert.equal(ada.message_history[0].message_id, "m1");
      assert.equal(ada.push_tokens[0].token, "anonymous token");
      assert.deepEqual(ada.engagement_times, { last_opened_email_at: TIME });
    }
  });

  test("merge_behavior none carries over only aliases, push tokens and message history", async () => {
    const workspace = await withAnonymous(["ada"]);
    const own = (await userOf(workspace, "ada")) as Record<string, any>;
    await succeeds(identifyAliases(workspace, [["a", "ada"]], { merge_behavior: "none" }));
    const ada = (await userOf(workspace, "ada")) as Record<string, any>;
    const { push_tokens, user_aliases, ...others } = ada;
    assert.deepEqual({ ...others, push_tokens: [], user_aliases: [] }, own);
    assert.deepEqual(user_aliases, [alias("a")]);
    assert.equal(push_tokens[0].token, "anonymous token");
    const read = { external_ids: ["ada"], fields_to_export: FIELDS };
    const { message_history, apps, devices } = await workspace.profile(read);
    assert.deepEqual([message_history[0].message_id, apps, devices], ["m1", [], []]);
  });

  test("merge_behavior none never carries over attributes, events or purchases, even on a second call", async () => {
    const workspace = await withAnonymous(["ada"]);
    const { platform_id } = await workspace.profile({ user_aliases: [alias("a")] });
    const none = { merge_behavior: "none" };
    await succeeds(identifyAliases(workspace, [["a", "ada"]], none));
    await makeUsers(workspace, { ...byAlias("later"), seats: 5 });
    await succeeds(identifyAliases(workspace, [["later", "ada"]], none));
    const ada = (await userOf(workspace, "ada")) as Record<string, any>;
    assert.deepEqual([countsOf(ada), ada.purchases], [{ ada: 1 }, []]);
    assert.deepEqual(ada.custom_attributes, { plan: "own" });
    assert.equal((await workspace.profile({ platform_ids: [platform_id] })).external_id, "ada");
    assert.deepEqual(await workspace.profiles({ email_address: "a@example.com" }), []);
    const events = [{ ...byAlias("a"), name: "after", time: TIME }];
    await workspace.track({ events });
    assert.deepEqual(countsOf(await userOf(workspace, "ada")), { ada: 1, after: 1 });
  });

  test("all aliases of one label are kept when they are identified as one user", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"), byAlias("a"), byAlias("b"), byAlias("c"));
    await succeeds(
      identifyAliases(workspace, [
        ["a", "ada"],
        ["b", "ada"],
        ["c", "ada"],
      ]),
    );
    const ada = await userOf(workspace, "ada");
    assert.deepEqual(ada?.user_aliases, [alias("a"), alias("b"), alias("c")]);
    assert.deepEqual(countsOf(ada), { a: 1, ada: 1, b: 1, c: 1 });
  });
});

describe("identify requests that change nothing", () => {
  test("identify skips an unknown alias and creates no user", async () => {
    const workspace = await server.workspace();
    const sent = identifyAliases(workspace, [["a", "ada"]]);
    const answer = await skips(sent, "aliases_to_identify 0 USER_NOT_FOUND");
    assert.equal(answer.aliases_processed, 1);
    assert.equal(await userOf(workspace, "ada"), undefined);
  });

  test("identify never moves an alias of another identified user", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"), id("bob"));
    await succeeds(newAliases(workspace, { ...id("bob"), ...alias("b") }));
    await skips(
      identifyAliases(workspace, [
        ["b", "ada"],
        ["b", "new"],
      ]),
      "aliases_to_identify 0 OTHER_USER_IDENTIFIED",
      "aliases_to_identify 1 OTHER_USER_IDENTIFIED",
    );
    assert.deepEqual((await userOf(workspace, "bob"))?.user_aliases, [alias("b")]);
    assert.deepEqual((await userOf(workspace, "ada"))?.user_aliases, []);
  });

  test("identify handles an alias once, even if it is repeated in or across requests", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, byAlias("a"));
    const pair = ["a", "ada"] as const;
    const sent = identifyAliases(workspace, [pair, pair]);
    await skips(sent, "aliases_to_identify 1 ALREADY_IDENTIFIED");
    await skips(identifyAliases(workspace, [pair]), "aliases_to_identify 0 ALREADY_IDENTIFIED");
    assert.deepEqual(countsOf(await userOf(workspace, "ada")), { a: 1 });
  });
});

describe("emails_to_identify and phone_numbers_to_identify", () => {
  test("a user found by email or phone is identified, or combined into the user with the external_id", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"));
    await workspace.track({
      events: [
        { email: "ada@example.com", name: "by email", time: TIME },
        { email: "bob@example.com", name: "by email", time: TIME },
        { phone: PHONE, name: "by phone", time: TIME },
      ],
    });
    const answer = await succeeds(
      identify(workspace, {
        emails_to_identify: [
          { ...id("ada"), ...byEmail("ada@example.com", ["unidentified"]) },
          { ...id("bob"), ...byEmail("BOB@example.com") },
        ],
        phone_numbers_to_identify: [{ ...id("ada"), ...byPhone(PHONE) }],
      }),
    );
    assert.equal(answer.aliases_processed, 3);
    const ada = await userOf(workspace, "ada");
    assert.deepEqual(countsOf(ada), { ada: 1, "by email": 1, "by phone": 1 });
    assert.deepEqual([ada?.email, ada?.phone], ["ada@example.com", PHONE]);
    assert.equal((await userOf(workspace, "bob"))?.email, "bob@example.com");
  });

  test("identify processes aliases before emails, in any order of the request", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, { ...byAlias("a"), email: "a@example.com" });
    const answer = await skips(
      identify(workspace, {
        emails_to_identify: [{ ...id("second"), ...byEmail("a@example.com") }],
        aliases_to_identify: [{ ...id("first"), ...byAlias("a") }],
      }),
      "emails_to_identify 0 OTHER_USER_IDENTIFIED",
    );
    assert.equal(answer.aliases_processed, 2);
    assert.equal(await userOf(workspace, "second"), undefined);
  });

  test("identify skips an email of a user who is already identified, and an unknown email", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, { ...id("ada"), email: "ada@example.com" });
    await skips(
      identify(workspace, {
        emails_to_identify: [
          { ...id("ada"), ...byEmail("ada@example.com") },
          { ...id("bob"), ...byEmail("ada@example.com") },
          { ...id("bob"), ...byEmail("nobody@example.com") },
        ],
      }),
      "emails_to_identify 0 ALREADY_IDENTIFIED",
      "emails_to_identify 1 OTHER_USER_IDENTIFIED",
      "emails_to_identify 2 USER_NOT_FOUND",
    );
  });
});

describe("refused identify requests", () => {
  test("an identify request without any list is refused, and one with a single list is accepted", async () => {
    const workspace = await server.workspace();
    const required = /'aliases_to_identify' or 'emails_to_identify' or .* is required/;
    await refuses(identify(workspace, {}), required);
    await refuses(identify(workspace, { merge_behavior: "merge" }), required);
    await refuses(identify(workspace, { aliases_to_identify: null }), required);
    const item = { ...id("ada"), ...byEmail("nobody@example.com") };
    const { status, body } = await identify(workspace, { emails_to_identify: [item] });
    assert.deepEqual([status, body.aliases_processed], [201, 1]);
  });

  test("identify treats an empty list as absent", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, byAlias("a"));
    const none = { aliases_to_identify: [], emails_to_identify: [], phone_numbers_to_identify: [] };
    await refuses(identify(workspace, none), /is required/);
    await succeeds(identifyAliases(workspace, [["a", "ada"]], { emails_to_identify: [] }));
    assert.deepEqual(countsOf(await userOf(workspace, "ada")), { a: 1 });
  });

  test("an identify list that is not an array is refused", async () => {
    const workspace = await server.workspace();
    for (const list of ["aliases_to_identify", "emails_to_identify"]) {
      await refuses(identify(workspace, { [list]: {} }), `'${list}' must be an array`);
    }
  });

  test("identify refuses an unknown merge_behavior", async () => {
    const workspace = await withAnonymous(["ada"]);
    for (const merge_behavior of ["both", "", null, true]) {
      const sent = identifyAliases(workspace, [["a", "ada"]], { merge_behavior });
      await refuses(sent, /^'merge_behavior' must be /);
    }
    assert.deepEqual(countsOf(await userOf(workspace, "ada")), { ada: 1 });
  });

  test("identify accepts 50 aliases and refuses 51", async () => {
    const workspace = await server.workspace();
    const pairs = many(51, (index) => [`a${index}`, "ada"] as const);
    await makeUsers(workspace, byAlias("a0"));
    await refuses(identifyAliases(workspace, pairs), /exceeded/);
    assert.equal(await userOf(workspace, "ada"), undefined);
    const { status, body } = await identifyAliases(workspace, pairs.slice(0, 50));
    assert.deepEqual([status, body.aliases_processed], [201, 50]);
    assert.deepEqual(countsOf(await userOf(workspace, "ada")), { a0: 1 });
  });

  test("a number of the right form that does not exist names no user, and fails neither an identify nor an export", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, byAlias("anna"));
    const nowhere = "+11112223333";
    await skips(
      identify(workspace, {
        aliases_to_identify: [{ ...id("ada"), ...byAlias("anna") }],
        phone_numbers_to_identify: [{ ...id("bob"), ...byPhone(nowhere) }],
      }),
      "phone_numbers_to_identify 0 USER_NOT_FOUND",
    );
    assert.ok(await userOf(workspace, "ada"));
    assert.deepEqual(await workspace.profiles({ phone: nowhere }), []);
    const short = { phone_numbers_to_identify: [{ ...id("bob"), ...byPhone("+1 415") }] };
    await refuses(identify(workspace, short), /'\+1 415' is not an existing number/);
  });

  test("identify accepts 50 emails or phone numbers and refuses 51", async () => {
    const workspace = await server.workspace();
    const lists: Record<string, object[]> = {
      emails_to_identify: many(51, (index) => byEmail(`u${index}@example.com`)),
      phone_numbers_to_identify: many(51, (index) => byPhone(`+1415555${2600 + index}`)),
    };
    for (const [name, selectors] of Object.entries(lists)) {
      const list = selectors.map((selector) => ({ ...id("ada"), ...selector }));
      await refuses(identify(workspace, { [name]: list }), /exceeded/);
      const { status, body } = await identify(workspace, { [name]: list.slice(1) });
      assert.deepEqual([status, body.aliases_processed], [201, 50]);
    }
  });

  test("an identify request with invalid objects lists each of them and identifies no user", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, byAlias("a"));
    const { status, body } = await identify(workspace, {
      aliases_to_identify: [
        byAlias("a"),
        id("ada"),
        { ...id("ada"), user_alias: "a" },
        { ...id("ada"), user_alias: { alias_name: "a" } },
        { external_id: ["ada"], ...byAlias("a") },
        { external_id: "", ...byAlias("a") },
        { ...id("ada\0"), ...byAlias("a") },
        "a",
        { ...id("ada"), ...byAlias("a") },
      ],
      emails_to_identify: [
        { ...byEmail("a@example.com") },
        { ...id("ada"), prioritization: [] },
        { ...id("ada"), ...byEmail("none") },
      ],
    });
    assert.equal(status, 400);
    assert.deepEqual(notesOf(body.errors), [
      "aliases_to_identify 0 INVALID_EXTERNAL_ID",
      "aliases_to_identify 1 INVALID_USER_ALIAS",
      "aliases_to_identify 2 INVALID_USER_ALIAS",
      "aliases_to_identify 3 INVALID_USER_ALIAS",
      "aliases_to_identify 4 INVALID_EXTERNAL_ID",
      "aliases_to_identify 5 INVALID_EXTERNAL_ID",
      "aliases_to_identify 6 INVALID_TEXT",
      "aliases_to_identify 7 NOT_AN_OBJECT",
      "emails_to_identify 0 INVALID_EXTERNAL_ID",
      "emails_to_identify 1 EMAIL_BAD_FORMAT",
      "emails_to_identify 2 EMAIL_BAD_FORMAT",
    ]);
    assert.equal(await userOf(workspace, "ada"), undefined);
  });

  test("identify refuses a blocked external_id", async () => {
    const workspace = await server.workspace({ settings: { blocked_external_ids: ["dummy"] } });
    await makeUsers(workspace, byAlias("a"));
    const { status, body } = await identifyAliases(workspace, [["a", "dummy"]]);
    assert.equal(status, 400);
    assert.deepEqual(notesOf(body.errors), ["aliases_to_identify 0 BLACKLISTED_EXTERNAL_USER_ID"]);
    const { external_id } = await workspace.profile({ user_aliases: [alias("a")] });
    assert.equal(external_id, null);
  });
});

test("an alias-only user can be merged, then identified and then tracked", async () => {
  const workspace = await server.workspace();
  await makeUsers(workspace, byAlias("a"), byAlias("b"));
  await succeeds(merge(workspace, [[byAlias("a"), byAlias("b")]]));
  await succeeds(identifyAliases(workspace, [["a", "ada"]]));
  await workspace.track({ events: [{ ...byAlias("b"), name: "late", time: TIME }] });
  assert.deepEqual(countsOf(await userOf(workspace, "ada")), { a: 1, b: 1, late: 1 });
});
