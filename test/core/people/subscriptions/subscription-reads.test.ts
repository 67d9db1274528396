import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Braze } from "braze-api";
import { ALERTS, NEWSLETTER, startServer, type TestWorkspace } from "../../../harness.ts";
import {
  CHAT,
  OTHER_PHONE,
  PHONE,
  setV2,
  users,
  workspaceWithGroups,
} from "./subscription-calls.ts";

const server = await startServer();

const get = (workspace: TestWorkspace, query: string) =>
  workspace.call<any>("GET", `/subscription/status/get?${query}`);

const list = (workspace: TestWorkspace, query: string) =>
  workspace.call<any>("GET", `/subscription/user/status?${query}`);

/** Ada is subscribed, Bob unsubscribed, Cy was never asked; Ada has both addresses. */
async function newWorkspace() {
  const workspace = await workspaceWithGroups(server);
  await users(
    workspace,
    { external_id: "ada", email: "Ada@example.com", phone: PHONE },
    { external_id: "bob", email: "bob@example.com" },
    { external_id: "cy" },
  );
  await setV2(workspace, NEWSLETTER, "subscribed", { external_ids: ["ada"] });
  await setV2(workspace, NEWSLETTER, "unsubscribed", { external_ids: ["bob"] });
  return workspace;
}

const GROUP = `subscription_group_id=${NEWSLETTER}`;

describe("GET /subscription/status/get", () => {
  test("a group state is read by external_id as Subscribed, Unsubscribed or Unknown", async () => {
    const workspace = await newWorkspace();
    const names = ["ada", "bob", "cy", "nobody"].map((id) => `external_id[]=${id}`);
    const answer = await get(workspace, `${GROUP}&${names.join("&")}`);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, {
      status: { ada: "Subscribed", bob: "Unsubscribed", cy: "Unknown", nobody: "Unknown" },
      message: "success",
    });
    const other = await get(workspace, `subscription_group_id=${ALERTS}&external_id=ada`);
    assert.deepEqual(other.body.status, { ada: "Unknown" });
  });

  test("every spelling of a query list is read as the same list", async () => {
    const workspace = await newWorkspace();
    const spellings = [
      "external_id=ada&external_id=bob",
      "external_id[]=ada&external_id[]=bob",
      "external_id[0]=ada&external_id[1]=bob",
      "external_id%5B%5D=ada&external_id=bob",
    ];
    for (const spelling of spellings) {
      const answer = await get(workspace, `${GROUP}&${spelling}`);
      assert.deepEqual(answer.body.status, { ada: "Subscribed", bob: "Unsubscribed" });
    }
    const one = await get(workspace, `${GROUP}&external_id=ada`);
    assert.deepEqual(one.body.status, { ada: "Subscribed" });
  });

  test("a query list accepts at most 50 identifiers", async () => {
    const workspace = await newWorkspace();
    const listsOf = (count: number) => {
      const each = (name: (index: number) => string) =>
        Array.from({ length: count }, (_, index) => name(index)).join("&");
      return [
        each((index) => `external_id[]=u${index}`),
        each((index) => `email[]=u${index}@example.com`),
        each((index) => `phone[]=%2B1415555${2600 + index}`),
      ];
    };
    for (const names of listsOf(50)) {
      const answer = await get(workspace, `${GROUP}&${names}`);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.equal(Object.keys(answer.body.status).length, 50);
    }
    for (const names of listsOf(51)) {
      const answer = await get(workspace, `${GROUP}&${names}`);
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, /must have at most 50 items/);
    }
  });

  test("reading a group state requires external_id, email or phone", async () => {
    const workspace = await newWorkspace();
    const answer = await get(workspace, GROUP);
    assert.equal(answer.status, 400);
    assert.equal(answer.body.message, "'external_id', 'email' or 'phone' is required");
    for (const name of ["external_id=", "email=", "phone="]) {
      assert.equal((await get(workspace, `${GROUP}&${name}`)).status, 400);
    }
  });

  test("a parameter without a value is an absent parameter", async () => {
    const workspace = await newWorkspace();
    for (const empty of ["external_id=", "external_id[]=", "phone=", "external_id=&phone="]) {
      const answer = await get(workspace, `${GROUP}&${empty}&email=ada@example.com`);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.deepEqual(Object.keys(answer.body.status), ["ada"]);
    }
    const groups = await list(workspace, "external_id=ada&email=&phone[]=&limit=&offset=");
    assert.equal(groups.status, 200, JSON.stringify(groups.body));
    const lists = "start_date=2026-01-01&end_date=2026-02-01&limit=&offset=&email=&sort_direction=";
    const unsubscribes = await workspace.call("GET", `/email/unsubscribes?${lists}`);
    assert.equal(unsubscribes.status, 200, JSON.stringify(unsubscribes.body));
    assert.equal((await workspace.call("GET", "/segments/list?page=&sort_direction=")).status, 200);
  });

  test("reading a group state requires a subscription_group_id of the workspace", async () => {
    const workspace = await newWorkspace();
    const none = await get(workspace, "external_id=ada");
    assert.equal(none.status, 400);
    assert.equal(none.body.message, "'subscription_group_id' is required");
    for (const id of ["1234", "", "%00"]) {
      const answer = await get(workspace, `subscription_group_id=${id}&external_id=ada`);
      assert.equal(answer.status, 400);
      if (id !== "%00") assert.equal(answer.body.message, "Invalid subscription group ID");
    }
  });

  test("a NUL character in an identifier or a group id is refused with INVALID_TEXT", async () => {
    const workspace = await newWorkspace();
    const queries = ["external_id=a%00", "email=%00@example.com", "phone[]=%00"].map(
      (name) => `${GROUP}&${name}`,
    );
    for (const query of [...queries, "subscription_group_id=%00&external_id=ada"]) {
      const { status, body } = await get(workspace, query);
      assert.deepEqual([status, body.code], [400, "INVALID_TEXT"], query);
    }
    const { status, body } = await list(workspace, "external_id=%00");
    assert.deepEqual([status, body.code], [400, "INVALID_TEXT"]);
  });

  test("a group state read by external_id ignores email and phone", async () => {
    const workspace = await newWorkspace();
    const others = [
      "email=ada@example.com",
      "phone=%2B14155552671",
      "email=ada@example.com&phone=%2B14155552671",
      "email=no-address",
      "phone=no-number",
    ];
    for (const other of others) {
      const answer = await get(workspace, `${GROUP}&external_id=bob&${other}`);
      assert.equal(answer.status, 200, other);
      assert.deepEqual(answer.body.status, { bob: "Unsubscribed" });
    }
    const nobody = await get(workspace, `${GROUP}&external_id=nobody&email=ada@example.com`);
    assert.deepEqual(nobody.body.status, { nobody: "Unknown" });
    const two = "external_id[]=bob&external_id[]=cy&phone=%2B14155552671";
    const several = await get(workspace, `${GROUP}&${two}`);
    assert.deepEqual(several.body.status, { bob: "Unsubscribed", cy: "Unknown" });
  });

  test("email and phone together are refused if external_id is missing", async () => {
    const workspace = await newWorkspace();
    const answer = await get(workspace, `${GROUP}&email=ada@example.com&phone=%2B14155552671`);
    assert.equal(answer.status, 400);
    assert.match(answer.body.message, /^Either an email address or a phone number/);
  });

  test("a phone must be in E.164 format, and an unencoded plus sign is accepted", async () => {
    const workspace = await newWorkspace();
    for (const number of ["%2B14155552671", "+14155552671"]) {
      const answer = await get(workspace, `${GROUP}&phone=${number}`);
      assert.deepEqual(answer.body.status, { ada: "Subscribed" });
    }
    for (const number of ["14155552671", "5055077683", "%2B1%20415%20555%202671", "x"]) {
      const answer = await get(workspace, `${GROUP}&phone=${number}`);
      assert.equal(answer.status, 400);
      assert.match(answer.body.message, /'phone' is not valid: .*E\.164/);
    }
    const unassigned = await get(workspace, `${GROUP}&phone=+15551234567`);
    assert.deepEqual(unassigned.body.status, { "+15551234567": "Unknown" });
    await users(workspace, { external_id: "tag", email: "a+tag@example.com" });
    const tagged = await get(workspace, `${GROUP}&email=a+tag@example.com`);
    assert.deepEqual(tagged.body.status, { tag: "Unknown" });
  });

  test("a group state is keyed by external_id, or by the address for a user without one", async () => {
    const workspace = await newWorkspace();
    const found = await get(workspace, `${GROUP}&email[]=ADA@example.com&email[]=bob@example.com`);
    assert.deepEqual(found.body.status, { ada: "Subscribed", bob: "Unsubscribed" });

    await users(workspace, { email: "Guest@example.com", first_name: "Guest" });
    await setV2(workspace, NEWSLETTER, "subscribed", { emails: ["guest@example.com"] });
    const guest = await get(workspace, `${GROUP}&email=GUEST@example.com&email=no@example.com`);
    assert.deepEqual(guest.body.status, {
      "GUEST@example.com": "Subscribed",
      "no@example.com": "Unknown",
    });

    await users(workspace, { phone: OTHER_PHONE, first_name: "Caller" });
    const caller = await get(workspace, `${GROUP}&phone=${encodeURIComponent(OTHER_PHONE)}`);
    assert.deepEqual(caller.body.status, { [OTHER_PHONE]: "Unknown" });
  });

  test("a group state is returned for every user who shares the address", async () => {
    const workspace = await newWorkspace();
    await users(
      workspace,
      { external_id: "dan", email: "home@example.com" },
      { external_id: "eve", email: "home@example.com" },
    );
    await setV2(workspace, NEWSLETTER, "subscribed", { emails: ["home@example.com"] });
    const answer = await get(workspace, `${GROUP}&email=home@example.com`);
    assert.deepEqual(answer.body.status, { dan: "Subscribed", eve: "Subscribed" });
  });

  test("a redirected external_id gets the kept user's state under the requested name", async () => {
    const workspace = await workspaceWithGroups(server, {
      settings: { redirect_merged_ids: true },
    });
    await users(workspace, { external_id: "old" }, { external_id: "kept" });
    const pair = {
      identifier_to_merge: { external_id: "old" },
      identifier_to_keep: { external_id: "kept" },
    };
    await workspace.call("POST", "/users/merge", { merge_updates: [pair] });
    await setV2(workspace, NEWSLETTER, "subscribed", { external_ids: ["old"] });
    const one = await get(workspace, `${GROUP}&external_id=old`);
    assert.deepEqual(one.body.status, { old: "Subscribed" });
    const both = await get(workspace, `${GROUP}&external_id=old&external_id=kept`);
    assert.deepEqual(both.body.status, { old: "Subscribed", kept: "Subscribed" });
  });

  test("an external_id may be any text, including __proto__", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "__proto__" }, { external_id: "ünï & co" });
    await setV2(workspace, NEWSLETTER, "subscribed", { external_ids: ["__proto__", "ünï & co"] });
    const names = `external_id=__proto__&external_id=${encodeURIComponent("ünï & co")}`;
    const answer = await get(workspace, `${GROUP}&${names}`);
    const expected = [
      ["__proto__", "Subscribed"],
      ["ünï & co", "Subscribed"],
    ];
    assert.deepEqual(Object.entries(answer.body.status).sort(), expected);
  });
});

describe("GET /subscription/user/status", () => {
  test("GET /subscription/user/status lists each user's groups with state, name and channel", async () => {
    const workspace = await newWorkspace();
    await setV2(workspace, CHAT, "unsubscribed", { external_ids: ["ada"] });
    const answer = await list(workspace, "external_id=ada");
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, {
      users: [
        {
          email: "Ada@example.com",
          phone: PHONE,
          external_id: "ada",
          subscription_groups: [
            { id: CHAT, name: "Chat", channel: "whatsapp", status: "Unsubscribed" },
            { id: NEWSLETTER, name: "Newsletter", channel: "email", status: "Subscribed" },
          ],
        },
      ],
      total_count: 1,
      message: "success",
    });
    const { users: none } = (await list(workspace, "external_id=cy")).body;
    const cy = { email: null, phone: null, external_id: "cy", subscription_groups: [] };
    assert.deepEqual(none, [cy]);
  });

  test("identifiers of all kinds are combined in one list, and unknown ones add no entry", async () => {
    const workspace = await newWorkspace();
    const query = "external_id=cy&external_id=nobody&email=BOB@example.com&phone=+14155552671";
    const answer = await list(workspace, query);
    const ids = answer.body.users.map((user: any) => user.external_id);
    assert.deepEqual(ids.sort(), ["ada", "bob", "cy"]);
    assert.equal(answer.body.total_count, 3);
    const twice = await list(workspace, "external_id=ada&email=ada@example.com");
    assert.equal(twice.body.total_count, 1);
    assert.equal((await list(workspace, "limit=1")).status, 400);
  });

  test("pages with limit and offset cover every user once, and total_count counts all users", async () => {
    const workspace = await newWorkspace();
    await workspace.track({
      attributes: Array.from({ length: 5 }, (_, index) => ({
        external_id: `home-${index}`,
        email: "home@example.com",
      })),
    });
    const seen: string[] = [];
    for (const offset of [0, 2, 4, 6]) {
      const { body } = await list(workspace, `email=home@example.com&limit=2&offset=${offset}`);
      assert.equal(body.total_count, 5);
      seen.push(...body.users.map((user: any) => user.external_id));
    }
    assert.deepEqual(seen.sort(), ["home-0", "home-1", "home-2", "home-3", "home-4"]);
    for (const bad of ["limit=0", "limit=101", "limit=x", "offset=-1"]) {
      assert.equal((await list(workspace, `email=home@example.com&${bad}`)).status, 400, bad);
    }
  });

  test("a removed group is not listed, and its states return when the group is restored", async () => {
    const workspace = await newWorkspace();
    const path = `/admin/v1/workspaces/${workspace.name}/subscription-groups/${NEWSLETTER}`;
    await server.admin("DELETE", path);
    const without = await list(workspace, "external_id=ada");
    assert.deepEqual(without.body.users[0].subscription_groups, []);
    assert.equal((await get(workspace, `${GROUP}&external_id=ada`)).status, 400);
    await server.admin("PUT", path, { name: "News", channel: "email" });
    const again = await list(workspace, "external_id=ada");
    const group = { id: NEWSLETTER, name: "News", channel: "email", status: "Subscribed" };
    assert.deepEqual(again.body.users[0].subscription_groups, [group]);
  });
});

test("an existing client library sets, reads and lists group states", async () => {
  const workspace = await newWorkspace();
  const client = new Braze(server.url, workspace.key);
  const group = { subscription_group_id: NEWSLETTER };
  const one = await client.subscription.status.set({
    ...group,
    subscription_state: "subscribed",
    external_id: ["cy"],
    email: ["bob@example.com"],
  });
  assert.equal(one.message, "success");
  const many = await client.v2.subscription.status.set({
    subscription_groups: [{ ...group, subscription_state: "unsubscribed", external_ids: ["cy"] }],
  });
  assert.equal(many.message, "success");
  const read = await client.subscription.status.get({ ...group, external_id: ["bob", "cy"] });
  assert.deepEqual(read.status, { bob: "Subscribed", cy: "Unsubscribed" });
  const listed = await client.subscription.user.status({ external_id: "cy" });
  assert.equal(listed.total_count, 1);
  assert.equal(listed.users[0]?.subscription_groups[0]?.status, "Unsubscribed");
  await assert.rejects(
    client.subscription.status.get({ subscription_group_id: "1234", external_id: "cy" }),
    /Invalid subscription group ID/,
  );
});

test("a number names the same user in subscription calls as in track, in whichever spelling of E.164", async () => {
  for (const [phone, present] of [
    ["+4402079460958", "+442079460958"],
    ["+4901701234567", "+491701234567"],
    ["+330612345678", "+33612345678"],
    ["+54111523456789", "+5491123456789"],
    ["+789161234567", "+79161234567"],
    ["+5215512345678", "+525512345678"],
  ] as const) {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ external_id: "ada", phone }] });
    assert.equal((await workspace.profile({ external_ids: ["ada"] })).phone, present);
    for (const spelling of [phone, present]) {
      const set = { subscription_group_id: ALERTS, phones: [spelling] };
      for (const subscription_state of ["subscribed", "unsubscribed"]) {
        const answer = await workspace.call("POST", "/v2/subscription/status/set", {
          subscription_groups: [{ ...set, subscription_state }],
        });
        assert.deepEqual([answer.status, answer.body], [201, { message: "success" }], spelling);
        const query = new URLSearchParams({ subscription_group_id: ALERTS, phone: spelling });
        const { body } = await workspace.call<any>("GET", `/subscription/status/get?${query}`);
        const shown = subscription_state === "subscribed" ? "Subscribed" : "Unsubscribed";
        assert.deepEqual(Object.values(body.status), [shown], spelling);
      }
      const { body } = await workspace.call<any>(
        "GET",
        `/subscription/user/status?${new URLSearchParams({ phone: spelling })}`,
      );
      assert.equal(body.users[0]?.external_id, "ada", spelling);
    }
  }
});
