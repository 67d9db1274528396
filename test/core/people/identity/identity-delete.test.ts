/* POST /users/delete. */
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
  makeUsers,
  many,
  merge,
  newAliases,
  notesOf,
  refuses,
  remove,
  skips,
  succeeds,
  TIME,
  userOf,
} from "./identity-calls.ts";

const server = await startServer();

const EMAIL = "ada@example.com";
const PHONE = "+14155552671";

/** A user who has something in every place where something can be kept. */
async function makeAda(workspace: TestWorkspace): Promise<string> {
  const token = { app_id: WEB_APP, token: "token", device_id: "device-1" };
  await makeUsers(workspace, {
    ...id("ada"),
    email: EMAIL,
    phone: PHONE,
    first_name: "Ada",
    plan: "x",
    push_tokens: [token],
    email_subscribe: "unsubscribed",
    subscription_groups: [{ subscription_group_id: NEWSLETTER, subscription_state: "subscribed" }],
  });
  await workspace.track({
    purchases: [{ ...id("ada"), product_id: "p", currency: "USD", price: 1, time: TIME }],
  });
  await succeeds(newAliases(workspace, { ...id("ada"), ...alias("a") }));
  const imported = await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/import`, {
    users: [
      {
        ...id("ada"),
        apps: [{ app_id: WEB_APP, sessions: 1, first_used: TIME, last_used: TIME }],
        devices: [{ device_id: "d" }],
        campaigns_received: [{ api_campaign_id: "c", last_received: TIME }],
        messages: [{ message_id: "m", channel: "email", sent_at: TIME }],
      },
    ],
  });
  assert.equal(imported.body.imported, 1);
  return (await userOf(workspace, "ada"))?.platform_id;
}

const ALL_FIELDS = ["message_history", "recent_activity", "custom_events", "devices", "apps"];

describe("every kind of identifier deletes the user that it names", () => {
  const cases: [kind: string, identifier: (platformId: string) => unknown][] = [
    ["external_ids", () => "ada"],
    ["user_aliases", () => alias("a")],
    ["platform_ids", (platformId) => platformId],
    ["braze_ids", (platformId) => platformId.toUpperCase()],
    ["email_addresses", () => byEmail(EMAIL)],
    ["phone_numbers", () => byPhone(PHONE)],
  ];
  for (const [kind, identifier] of cases) {
    test(kind, async () => {
      const workspace = await server.workspace();
      const platformId = await makeAda(workspace);
      await makeUsers(workspace, id("bob"));
      const answer = await succeeds(remove(workspace, { [kind]: [identifier(platformId)] }));
      assert.deepEqual(answer, { deleted: 1, message: "success" });
      for (const request of [
        { external_ids: ["ada"] },
        { user_aliases: [alias("a")] },
        { platform_ids: [platformId] },
        { email_address: EMAIL },
        { phone: PHONE },
      ]) {
        assert.deepEqual(await workspace.profiles(request), []);
      }
      assert.deepEqual(countsOf(await userOf(workspace, "bob")), { bob: 1 });
    });
  }
});

test("one delete request removes several users, including alias-only users", async () => {
  const workspace = await server.workspace();
  await makeUsers(workspace, id("ada"), id("bob"), id("cleo"), byAlias("a"), byAlias("b"));
  await succeeds(remove(workspace, { external_ids: ["ada", "bob"] }));
  await succeeds(remove(workspace, { user_aliases: [alias("a"), alias("b")] }));
  const left = await workspace.profiles({
    external_ids: ["ada", "bob", "cleo"],
    user_aliases: [alias("a"), alias("b")],
  });
  assert.deepEqual(
    left.map((user) => user.external_id),
    ["cleo"],
  );
});

test("reusing the identifiers of a deleted user never brings back its data", async () => {
  const workspace = await server.workspace();
  const platformId = await makeAda(workspace);
  await succeeds(remove(workspace, { external_ids: ["ada"] }));
  await makeUsers(workspace, { ...id("ada"), email: EMAIL, phone: PHONE });
  await succeeds(newAliases(workspace, { ...id("ada"), ...alias("a") }));
  const read = { external_ids: ["ada"], fields_to_export: ALL_FIELDS };
  const fresh = await workspace.profile(read);
  assert.deepEqual(countsOf(fresh), { ada: 1 });
  const { recent_activity, message_history, devices, apps } = fresh;
  assert.deepEqual([message_history, devices, apps], [[], [], []]);
  assert.equal(recent_activity.at(-1).purchase_count, 0);
  const ada = await workspace.profile({ external_ids: ["ada"] });
  assert.notEqual(ada.platform_id, platformId);
  assert.deepEqual([ada.first_name, ada.custom_attributes, ada.purchases], [null, {}, []]);
  assert.deepEqual([ada.push_tokens, ada.subscription_groups], [[], []]);
  await skips(remove(workspace, { platform_ids: [platformId] }), "platform_ids 0 USER_NOT_FOUND");
});

test("the email state of an address outlives its deleted user", async () => {
  const workspace = await server.workspace();
  await makeAda(workspace);
  await succeeds(remove(workspace, { external_ids: ["ada"] }));
  await makeUsers(workspace, { ...id("eve"), email: EMAIL });
  assert.equal((await userOf(workspace, "eve"))?.email_subscribe, "unsubscribed");
});

test("deleting a user also removes the users merged into it, and their ids lead nowhere", async () => {
  const workspace = await server.workspace({ settings: { redirect_merged_ids: true } });
  await makeUsers(workspace, id("old"), id("older"), id("ada"));
  const { platform_id } = (await userOf(workspace, "old")) ?? {};
  await succeeds(
    merge(workspace, [
      [id("older"), id("old")],
      [id("old"), id("ada")],
    ]),
  );
  await succeeds(remove(workspace, { external_ids: ["ada"] }));
  assert.deepEqual(await workspace.profiles({ platform_ids: [platform_id] }), []);
  assert.deepEqual(await workspace.profiles({ external_ids: ["old", "older", "ada"] }), []);
  await makeUsers(workspace, id("older"));
  assert.deepEqual(countsOf(await userOf(workspace, "older")), { older: 1 });
});

test("the ids of a user who was merged away delete no one, and the response names the kept user", async () => {
  const workspace = await server.workspace({ settings: { redirect_merged_ids: true } });
  await makeUsers(workspace, id("old"), id("ada"));
  const { platform_id } = (await userOf(workspace, "old")) ?? {};
  await succeeds(merge(workspace, [[id("old"), id("ada")]]));
  const kept = await userOf(workspace, "ada");
  for (const names of [{ platform_ids: [platform_id] }, { braze_ids: [platform_id] }]) {
    const [kind = ""] = Object.keys(names);
    const { skipped } = await skips(remove(workspace, names), `${kind} 0 USER_MERGED`);
    assert.ok(skipped?.[0]?.message.includes(`'ada'`));
    assert.ok(skipped?.[0]?.message.includes(`'${kept?.platform_id}'`));
  }
  await skips(remove(workspace, { external_ids: ["old"] }), "external_ids 0 USER_MERGED");
  assert.deepEqual(countsOf(await userOf(workspace, "ada")), countsOf(kept));
  await succeeds(remove(workspace, { platform_ids: [kept?.platform_id] }));
  assert.equal(await userOf(workspace, "ada"), undefined);
});

test("the ids of a user whose data was left behind by identify delete no one, and an alias that was merged does", async () => {
  for (const merge_behavior of ["none", "merge"]) {
    const workspace = await server.workspace();
    const user_alias = { alias_label: "device", alias_name: "phone" };
    await makeUsers(workspace, id("ada"), { user_alias, _update_existing_only: false });
    const [{ platform_id } = {}] = await workspace.profiles({ user_aliases: [user_alias] });
    const identified = await workspace.call("POST", "/users/identify", {
      aliases_to_identify: [{ external_id: "ada", user_alias }],
      merge_behavior,
    });
    assert.equal(identified.status, 201);
    await skips(remove(workspace, { platform_ids: [platform_id] }), "platform_ids 0 USER_MERGED");
    const byAlias = remove(workspace, { user_aliases: [user_alias] });
    if (merge_behavior === "merge") await succeeds(byAlias);
    else await skips(byAlias, "user_aliases 0 USER_MERGED");
    const isKept = (await userOf(workspace, "ada")) !== undefined;
    assert.equal(isKept, merge_behavior === "none", merge_behavior);
  }
});

test("a delete request counts unknown and repeated identifiers and reports them as skipped", async () => {
  const workspace = await server.workspace();
  await makeUsers(workspace, id("ada"));
  const answer = await skips(
    remove(workspace, { external_ids: ["nobody", "ada", "ada"] }),
    "external_ids 0 USER_NOT_FOUND",
    "external_ids 2 USER_NOT_FOUND",
  );
  assert.equal(answer.deleted, 3);
  await skips(
    remove(workspace, { platform_ids: ["no id", "00000000-0000-4000-8000-000000000000"] }),
    "platform_ids 0 USER_NOT_FOUND",
    "platform_ids 1 USER_NOT_FOUND",
  );
});

test("a delete request reads numbers as external ids", async () => {
  const workspace = await server.workspace();
  await makeUsers(workspace, id("17"));
  await succeeds(remove(workspace, { external_ids: [17] }));
  assert.equal(await userOf(workspace, "17"), undefined);
});

describe("refused delete requests", () => {
  const kinds: [kind: string, some: unknown[]][] = [
    ["external_ids", ["ada"]],
    ["user_aliases", [alias("a")]],
    ["platform_ids", ["x"]],
    ["email_addresses", [byEmail(EMAIL)]],
    ["phone_numbers", [byPhone(PHONE)]],
  ];

  test("a delete request without any kind of identifier is refused", async () => {
    const workspace = await server.workspace();
    await refuses(remove(workspace, {}), /^Exactly one of 'external_ids', .* must be given/);
    await refuses(remove(workspace, { externalIds: ["ada"] }), /^Exactly one of/);
  });

  test("a delete request with two kinds of identifiers is refused and deletes no user", async () => {
    const workspace = await server.workspace();
    await makeAda(workspace);
    for (const [one, some] of kinds) {
      for (const [other, more] of kinds.filter(([kind]) => kind !== one)) {
        await refuses(remove(workspace, { [one]: some, [other]: more }), /^Exactly one of/);
      }
    }
    assert.equal((await userOf(workspace, "ada"))?.first_name, "Ada");
  });

  test("a delete request treats a kind that is null or empty as absent", async () => {
    const workspace = await server.workspace();
    for (const empty of [null, []]) {
      await makeUsers(workspace, id("ada"));
      const nothing = Object.fromEntries(kinds.map(([kind]) => [kind, empty]));
      await refuses(remove(workspace, nothing), /^Exactly one of/);
      await succeeds(remove(workspace, { ...nothing, external_ids: ["ada"] }));
      assert.equal(await userOf(workspace, "ada"), undefined);
    }
  });

  test("every identifier list of a delete request must be an array", async () => {
    const workspace = await server.workspace();
    for (const [kind] of kinds) {
      for (const value of ["ada", { a: 1 }, 5]) {
        await refuses(remove(workspace, { [kind]: value }), `'${kind}' must be an array`);
      }
    }
  });

  test("a delete request accepts 50 identifiers of each kind and refuses 51", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, { ...id("u0"), email: "u0@example.com" });
    const lists: Record<string, unknown[]> = {
      external_ids: many(51, (index) => `u${index}`),
      user_aliases: many(51, (index) => alias(`u${index}`)),
      platform_ids: many(51, (index) => `u${index}`),
      email_addresses: many(51, (index) => byEmail(`u${index}@example.com`)),
      phone_numbers: many(51, (index) => byPhone(`+1415555${2600 + index}`)),
    };
    for (const [kind, list] of Object.entries(lists)) {
      await refuses(
        remove(workspace, { [kind]: list }),
        "The max number of ids per request was exceeded",
      );
    }
    assert.deepEqual(countsOf(await userOf(workspace, "u0")), { u0: 1 });
    for (const [kind, list] of Object.entries(lists)) {
      const { status, body } = await remove(workspace, { [kind]: list.slice(0, 50) });
      assert.deepEqual([status, body.deleted], [201, 50]);
    }
    assert.equal(await userOf(workspace, "u0"), undefined);
  });

  test("a delete request with invalid identifiers lists each of them and deletes no user", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"), byAlias("a"), { ...id("bob"), email: "b@example.com" });
    const external = await remove(workspace, {
      external_ids: [{ a: 1 }, "", true, null, "x\0", "x".repeat(988), "ada"],
    });
    assert.equal(external.status, 400);
    assert.deepEqual(notesOf(external.body.errors), [
      "external_ids 0 INVALID_EXTERNAL_ID",
      "external_ids 1 INVALID_EXTERNAL_ID",
      "external_ids 2 INVALID_EXTERNAL_ID",
      "external_ids 3 INVALID_EXTERNAL_ID",
      "external_ids 4 INVALID_TEXT",
      "external_ids 5 EXTERNAL_USER_ID_TOO_LARGE",
    ]);
    const aliases = await remove(workspace, {
      user_aliases: ["a", { alias_name: "a" }, alias("a")],
    });
    assert.equal(aliases.status, 400);
    assert.deepEqual(notesOf(aliases.body.errors), [
      "user_aliases 0 INVALID_USER_ALIAS",
      "user_aliases 1 INVALID_USER_ALIAS",
    ]);
    const platform = await remove(workspace, { platform_ids: [5, ""] });
    assert.equal(platform.status, 400);
    assert.deepEqual(notesOf(platform.body.errors), [
      "platform_ids 0 INVALID_PLATFORM_ID",
      "platform_ids 1 INVALID_PLATFORM_ID",
    ]);
    const emails = await remove(workspace, {
      email_addresses: ["b@example.com", byEmail("none"), byEmail("b@example.com")],
    });
    assert.deepEqual(notesOf(emails.body.errors), [
      "email_addresses 0 NOT_AN_OBJECT",
      "email_addresses 1 EMAIL_BAD_FORMAT",
    ]);
    const names = { external_ids: ["ada", "bob"], user_aliases: [alias("a")] };
    assert.equal((await workspace.profiles(names)).length, 3);
  });
});
