import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  CHAT,
  historyOf,
  type Names,
  OTHER_PHONE,
  PHONE,
  setV1,
  setV2,
  statesOf,
  users,
  VERSIONS,
  workspaceWithGroups,
} from "../../../../core/people/subscriptions/subscription-calls.ts";
import { ALERTS, NEWSLETTER, startServer } from "../../../../harness.ts";

const server = await startServer();
const workspace = await workspaceWithGroups(server);
await users(workspace, { external_id: "ada", email: "ada@example.com", phone: PHONE });

const V1 = "/subscription/status/set";
const V2 = "/v2/subscription/status/set";

const NOT_BOTH = "Either an email address or a phone number should be provided, but not both.";

const some = (count: number, name: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => name(index));

const emails = (count: number) => some(count, (index) => `u${index}@example.com`);
/** Existing numbers: the plan of North America has them all. */
const phones = (count: number) => some(count, (index) => `+1415555${2600 + index}`);
const ids = (count: number) => some(count, (index) => `u${index}`);

const groupOf = (set: Record<string, unknown>) => ({
  subscription_group_id: NEWSLETTER,
  subscription_state: "subscribed",
  external_ids: ["ada"],
  ...set,
});

const callV2 = (...sets: Record<string, unknown>[]) =>
  workspace.call<any>("POST", V2, { subscription_groups: sets.map(groupOf) });

const callV1 = (body: Record<string, unknown>) =>
  workspace.call<any>("POST", V1, {
    subscription_group_id: NEWSLETTER,
    subscription_state: "subscribed",
    external_id: "ada",
    ...body,
  });

/** Every refusal leaves everything as it was. */
async function refused(answer: { status: number; body: any }, message: RegExp): Promise<any> {
  assert.equal(answer.status, 400, JSON.stringify(answer.body));
  assert.match(answer.body.message, message);
  assert.deepEqual(await historyOf(server, workspace), []);
  return answer.body;
}

describe("refusals of both versions", () => {
  test("a set accepts 50 users in each list and refuses 51", async () => {
    const lists: [keyof Names, (count: number) => unknown[]][] = [
      ["external_ids", ids],
      ["emails", emails],
      ["phones", phones],
    ];
    for (const set of VERSIONS) {
      for (const [list, names] of lists) {
        const groupId = list === "phones" ? ALERTS : NEWSLETTER;
        const fits = await set(workspace, groupId, "subscribed", { [list]: names(50) });
        assert.equal(fits.status, 201, JSON.stringify(fits.body));
        assert.equal(fits.body.skipped.length, 50);
        const over = await set(workspace, groupId, "subscribed", { [list]: names(51) });
        await refused(over, /must have at most 50 items/);
      }
    }
    for (const [list, one, names] of [
      ["external_ids", "external_id", ids],
      ["emails", "email", emails],
      ["phones", "phone", phones],
    ] as const) {
      const [name, ...others] = names(51);
      const path = "/v2/subscription/status/set";
      const set = { subscription_group_id: ALERTS, subscription_state: "subscribed" };
      const both = { ...set, [list]: others, [one]: name };
      const joined = await workspace.call<any>("POST", path, { subscription_groups: [both] });
      await refused(joined, /must have at most 50 items/);
    }
  });

  test("an empty list in a set is an absent list: a set with no other is refused", async () => {
    for (const set of VERSIONS) {
      for (const list of ["external_ids", "emails", "phones"]) {
        const answer = await set(workspace, ALERTS, "subscribed", { [list]: [] });
        await refused(answer, /(external_id|phone)s?' is required/);
        const other = await server.workspace();
        const groupId = list === "phones" ? NEWSLETTER : ALERTS;
        const [name, value] =
          list === "external_ids" ? ["phones", "+14155552671"] : ["external_ids", "a"];
        const names = { [String(name)]: [value], [list]: [] };
        const taken = await set(
          other,
          list === "external_ids" ? ALERTS : groupId,
          "subscribed",
          names,
        );
        assert.equal(taken.status, 201, JSON.stringify(taken.body));
        assert.equal(taken.body.skipped.length, 1);
      }
    }
  });

  test("a set with a state other than subscribed or unsubscribed is refused", async () => {
    for (const state of ["Subscribed", "opted_in", "", 1, null, true]) {
      const names = { external_ids: ["ada"] };
      const rule = /subscription_state' must be one of subscribed, unsubscribed/;
      await refused(await setV2(workspace, NEWSLETTER, state as string, names), rule);
      await refused(await setV1(workspace, NEWSLETTER, state as string, names), rule);
    }
  });

  test("a set requires subscription_group_id and subscription_state", async () => {
    for (const name of ["subscription_group_id", "subscription_state"]) {
      const rule = new RegExp(`${name}' is required`);
      await refused(await callV2({ [name]: undefined }), rule);
      await refused(await callV1({ [name]: undefined }), rule);
    }
    for (const value of [null, true, {}, [NEWSLETTER]]) {
      const rule = /subscription_group_id' must be a string or a number/;
      await refused(await callV2({ subscription_group_id: value }), rule);
      await refused(await callV1({ subscription_group_id: value }), rule);
    }
  });

  test("a set with identifiers of another type is refused", async () => {
    for (const value of [5, true, {}, "x"]) {
      for (const list of ["external_ids", "emails", "phones"]) {
        await refused(await callV2({ [list]: value }), new RegExp(`${list}' must be an array`));
      }
    }
    for (const value of [null, true, {}, []]) {
      const place = (list: string) => new RegExp(`${list}\\[0\\]' must be a string`);
      await refused(await callV2({ external_ids: [value] }), place("external_ids"));
      await refused(await callV2({ emails: [value] }), place("emails"));
      await refused(await callV2({ phones: [value] }), place("phones"));
    }
    await refused(await callV2({ phones: [14155552671] }), /phones\[0\]' must be a string/);
    await refused(await callV2({ external_ids: [""] }), /external_ids\[0\]' is not valid/);
    for (const list of ["external_id", "email", "phone"]) {
      const number = list === "external_id" ? [] : [14155552671];
      for (const value of [true, {}, ...number]) {
        await refused(await callV1({ [list]: value }), new RegExp(`'${list}' must be a string`));
      }
      for (const value of [null, true, {}, [], ...number]) {
        const place = new RegExp(`'${list}\\[0\\]' must be a string`);
        await refused(await callV1({ [list]: [value] }), place);
      }
    }
    await refused(await callV1({ external_id: "" }), /external_id\[0\]' is not valid/);
  });

  test("a phone that is not E.164 is refused with its position, and an unassigned number is accepted", async () => {
    const wrong = ["5055077683", "14155552671", "+1 415 555 2671", "+15", "+0123456789", "", "x"];
    wrong.push(`+${"1".repeat(16)}`);
    for (const set of VERSIONS) {
      for (const number of wrong) {
        const answer = await set(workspace, ALERTS, "subscribed", { phones: [PHONE, number] });
        const { errors } = await refused(answer, /phones?\[1\]' is not valid: .*E\.164/);
        assert.equal(errors.length, 1);
        assert.equal(errors[0].code, "INVALID_PHONE");
        assert.equal(errors[0].index, 1);
      }
      for (const number of [OTHER_PHONE, "+15551234567", "+12223334444", `+${"1".repeat(15)}`]) {
        const good = await set(workspace, ALERTS, "unsubscribed", { phones: [number] });
        assert.deepEqual([good.status, good.body.skipped.length], [201, 1]);
      }
    }
  });

  test("an invalid email in a set is refused with its position", async () => {
    for (const set of VERSIONS) {
      for (const address of ["ada", "ada@", "@example.com", "a b@example.com", ""]) {
        const names = { emails: ["ada@example.com", address] };
        const answer = await set(workspace, NEWSLETTER, "subscribed", names);
        const { errors } = await refused(answer, /emails?\[1\]' is not valid: .*not a valid email/);
        assert.equal(errors[0].code, "EMAIL_BAD_FORMAT");
      }
    }
  });

  test("a set with emails and phones together is refused", async () => {
    const names = { emails: ["ada@example.com"], phones: [PHONE] };
    for (const set of VERSIONS) {
      for (const groupId of [NEWSLETTER, ALERTS, CHAT]) {
        for (const external_ids of [undefined, ["ada"]]) {
          const all = { ...names, ...(external_ids && { external_ids }) };
          const { message } = await refused(
            await set(workspace, groupId, "subscribed", all),
            /Either an email/,
          );
          assert.equal(message, NOT_BOTH);
        }
      }
    }
  });

  test("a set of a group unknown to the workspace is refused with Invalid subscription group ID", async () => {
    const other = await server.workspace({
      subscription_groups: [{ id: "other-group", name: "Other", channel: "email" }],
    });
    assert.equal(
      (await setV2(other, "other-group", "subscribed", { emails: emails(1) })).status,
      201,
    );
    for (const set of VERSIONS) {
      for (const groupId of ["1234", "other-group", "OTHER-GROUP", ""]) {
        const answer = await set(workspace, groupId, "subscribed", { external_ids: ["ada"] });
        const { message } = await refused(answer, /Invalid/);
        assert.equal(message, "Invalid subscription group ID");
      }
    }
  });

  test("a set with a NUL character or a lone surrogate is refused with INVALID_TEXT", async () => {
    for (const text of ["a\u0000b", "\ud800"]) {
      for (const set of VERSIONS) {
        const answer = await set(workspace, NEWSLETTER, "subscribed", { external_ids: [text] });
        assert.equal((await refused(answer, /is not valid/)).code, "INVALID_TEXT");
        const group = await set(workspace, text, "subscribed", { external_ids: ["ada"] });
        assert.equal((await refused(group, /is not valid/)).code, "INVALID_TEXT");
      }
    }
  });

  test("a set with double opt-in is refused", async () => {
    const wish = { use_double_opt_in_logic: true };
    await refused(await callV2(wish), /use_double_opt_in_logic/);
    await refused(await callV1(wish), /use_double_opt_in_logic/);
  });
});

describe("refusals of version 2", () => {
  test("subscription_groups must be an array of 1 to 50 objects", async () => {
    const rule = /subscription_groups/;
    for (const value of [undefined, null, {}, "x", [], [1], [null], [[]]]) {
      await refused(await workspace.call("POST", V2, { subscription_groups: value }), rule);
    }
    const nobody = Array.from({ length: 51 }, () => groupOf({ external_ids: ["nobody"] }));
    const fits = await workspace.call("POST", V2, { subscription_groups: nobody.slice(1) });
    assert.equal(fits.status, 201);
    const over = await workspace.call("POST", V2, { subscription_groups: nobody });
    await refused(over, /'subscription_groups' must have at most 50 items/);
  });

  test("a set of version 2 requires external_ids, emails or phones", async () => {
    for (const external_ids of [undefined, []]) {
      const { message } = await refused(await callV2({}, { external_ids }), /is required/);
      const names = ["external_ids", "emails", "phones"];
      const [first, second, third] = names.map((name) => `'subscription_groups[1].${name}'`);
      assert.equal(message, `${first}, ${second} or ${third} is required`);
    }
  });

  test("one invalid set refuses all sets of the request, and every invalid set is reported", async () => {
    const answer = await callV2(
      {},
      { subscription_group_id: "1234" },
      { emails: ["ada@example.com"], phones: [PHONE] },
      { external_ids: ["ada", ""], emails: ["x"] },
    );
    const { message, errors } = await refused(answer, /Invalid/);
    assert.equal(message, "Invalid subscription group ID");
    const places = errors.map((error: any) => [error.code, error.input_array, error.index]);
    assert.deepEqual(places, [
      ["INVALID_SUBSCRIPTION_GROUP_ID", "subscription_groups", 1],
      ["EMAIL_AND_PHONE", "subscription_groups", 2],
      ["INVALID_EXTERNAL_ID", "subscription_groups[3].external_ids", 1],
      ["EMAIL_BAD_FORMAT", "subscription_groups[3].emails", 0],
    ]);
    await refused(await callV2({}, { subscription_state: "x" }), /subscription_groups\[1\]/);
    assert.deepEqual(await statesOf(workspace, NEWSLETTER, "ada"), { ada: "Unknown" });
  });
});

describe("requirements of version 1", () => {
  test("a version 1 set of an email group requires external_id or email", async () => {
    for (const names of [{}, { external_ids: [] }, { phones: [PHONE] }]) {
      const answer = await setV1(workspace, NEWSLETTER, "subscribed", names);
      await refused(answer, /^'external_id' or 'email' is required$/);
    }
  });

  test("a version 1 set of an SMS or WhatsApp group requires external_id or phone", async () => {
    for (const groupId of [ALERTS, CHAT]) {
      for (const names of [{}, { external_ids: [] }, { emails: ["ada@example.com"] }]) {
        const answer = await setV1(workspace, groupId, "subscribed", names);
        await refused(answer, /^'external_id' or 'phone' is required$/);
      }
    }
  });

  test("a version 1 set accepts a single value for each list, and a number as external_id", async () => {
    const own = await workspaceWithGroups(server);
    await users(own, { external_id: "42", email: "ada@example.com", phone: PHONE });
    const call = (body: Record<string, unknown>) =>
      own.call<any>("POST", V1, { subscription_state: "subscribed", ...body });
    const names = [
      { subscription_group_id: NEWSLETTER, external_id: "42" },
      { subscription_group_id: NEWSLETTER, external_id: 42 },
      { subscription_group_id: NEWSLETTER, external_id: [42] },
      { subscription_group_id: NEWSLETTER, email: "ada@example.com" },
      { subscription_group_id: ALERTS, phone: PHONE },
    ];
    for (const name of names) {
      await call({ ...name, subscription_state: "unsubscribed" });
      assert.deepEqual((await call(name)).body, { message: "success" });
      const state = await statesOf(own, name.subscription_group_id, "42");
      assert.deepEqual(state, { 42: "Subscribed" });
    }
    for (const field of ["external_id", "email", "phone"]) {
      const answer = await own.call<any>("POST", V1, {
        subscription_group_id: NEWSLETTER,
        subscription_state: "subscribed",
        [field]: {},
      });
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, new RegExp(`'${field}' must be a string`));
    }
  });
});

test("every set of the wrong form is reported with its position, and no state changes", async () => {
  const before = await statesOf(workspace, NEWSLETTER, "ada");
  const { status, body } = await workspace.call<any>("POST", V2, {
    subscription_groups: [
      groupOf({}),
      groupOf({ subscription_state: "maybe" }),
      groupOf({ external_ids: "ada" }),
      "a text",
      groupOf({ subscription_group_id: undefined }),
      groupOf({ subscription_group_id: "no-such-group" }),
      groupOf({ external_ids: [""], emails: ["no address"] }),
      groupOf({ subscription_state: null }),
    ],
  });
  assert.equal(status, 400);
  assert.equal(body.message, "Invalid subscription group ID");
  assert.deepEqual(
    body.errors.slice(4).map(({ input_array, index, code }: any) => [input_array, index, code]),
    [
      ["subscription_groups", 5, "INVALID_SUBSCRIPTION_GROUP_ID"],
      ["subscription_groups[6].external_ids", 0, "INVALID_EXTERNAL_ID"],
      ["subscription_groups[6].emails", 0, "EMAIL_BAD_FORMAT"],
      ["subscription_groups", 7, "INVALID_REQUEST"],
    ],
  );
  assert.deepEqual(
    body.errors
      .slice(0, 4)
      .map(({ input_array, index, message }: any) => [input_array, index, message]),
    [
      [
        "subscription_groups",
        1,
        "'subscription_groups[1].subscription_state' must be one of subscribed, unsubscribed",
      ],
      ["subscription_groups", 2, "'subscription_groups[2].external_ids' must be an array"],
      ["subscription_groups", 3, "'subscription_groups[3]' must be an object"],
      ["subscription_groups", 4, "'subscription_groups[4].subscription_group_id' is required"],
    ],
  );
  assert.deepEqual(await statesOf(workspace, NEWSLETTER, "ada"), before);
});
