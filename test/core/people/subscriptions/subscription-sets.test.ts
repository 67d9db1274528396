import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { packageRoot } from "../../../../src/core/base/package-root.ts";
import { ALERTS, NEWSLETTER, startServer } from "../../../harness.ts";
import {
  CHAT,
  historyOf,
  OTHER_PHONE,
  PHONE,
  setV1,
  setV2,
  statesOf,
  users,
  VERSIONS,
  workspaceWithGroups,
} from "./subscription-calls.ts";

const server = await startServer();

const newWorkspace = () => workspaceWithGroups(server);

describe("setting group states", () => {
  test("a user in any previous state can be subscribed to a group", async () => {
    for (const set of VERSIONS) {
      const workspace = await newWorkspace();
      await users(workspace, { external_id: "ada" });
      for (const before of [undefined, "unsubscribed", "subscribed"]) {
        if (before) await set(workspace, NEWSLETTER, before, { external_ids: ["ada"] });
        await set(workspace, NEWSLETTER, "subscribed", { external_ids: ["ada"] });
        assert.deepEqual(await statesOf(workspace, NEWSLETTER, "ada"), { ada: "Subscribed" });
      }
    }
  });

  test("a user in any previous state can be unsubscribed from a group", async () => {
    for (const set of VERSIONS) {
      const workspace = await newWorkspace();
      await users(workspace, { external_id: "ada" });
      for (const before of [undefined, "subscribed", "unsubscribed"]) {
        if (before) await set(workspace, NEWSLETTER, before, { external_ids: ["ada"] });
        await set(workspace, NEWSLETTER, "unsubscribed", { external_ids: ["ada"] });
        assert.deepEqual(await statesOf(workspace, NEWSLETTER, "ada"), { ada: "Unsubscribed" });
      }
    }
  });

  test("the states of email, SMS and WhatsApp groups can be set independently of each other", async () => {
    for (const set of VERSIONS) {
      const workspace = await newWorkspace();
      await users(workspace, { external_id: "ada" });
      for (const groupId of [NEWSLETTER, ALERTS, CHAT]) {
        assert.deepEqual(await statesOf(workspace, groupId, "ada"), { ada: "Unknown" });
        const answer = await set(workspace, groupId, "subscribed", { external_ids: ["ada"] });
        assert.equal(answer.status, 201);
        assert.deepEqual(await statesOf(workspace, groupId, "ada"), { ada: "Subscribed" });
      }
    }
  });

  test("/v2/subscription/status/set applies the objects of a request in order", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "ada" }, { external_id: "bob" });
    const of = (groupId: string, state: string, ...external_ids: string[]) => ({
      subscription_group_id: groupId,
      subscription_state: state,
      external_ids,
    });
    const answer = await workspace.call("POST", "/v2/subscription/status/set", {
      subscription_groups: [
        of(NEWSLETTER, "subscribed", "ada", "bob"),
        of(ALERTS, "unsubscribed", "bob"),
        of(NEWSLETTER, "unsubscribed", "ada"),
      ],
    });
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.body, { message: "success" });
    const newsletter = { ada: "Unsubscribed", bob: "Subscribed" };
    assert.deepEqual(await statesOf(workspace, NEWSLETTER, "ada", "bob"), newsletter);
    const alerts = { ada: "Unknown", bob: "Unsubscribed" };
    assert.deepEqual(await statesOf(workspace, ALERTS, "ada", "bob"), alerts);
  });

  test("/v2/subscription/status/set accepts a single external_id, email or phone as a list of one", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [
        { external_id: "one", email: "one@example.com" },
        { external_id: "two", email: "two@example.com" },
      ],
    });
    const set = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
    const { status, body } = await workspace.call("POST", "/v2/subscription/status/set", {
      subscription_groups: [
        { ...set, external_id: "one" },
        { ...set, email: "two@example.com" },
      ],
    });
    assert.equal(status, 201, JSON.stringify(body));
    for (const name of ["one", "two"]) {
      const { subscription_groups } = await workspace.profile({ external_ids: [name] });
      const state = subscription_groups.find(({ id }: { id: string }) => id === NEWSLETTER);
      assert.equal(state?.status, "subscribed", name);
    }
  });

  test("/subscription/status/set responds with 201 and changes no other data of the profile", async () => {
    const workspace = await newWorkspace();
    await users(workspace, {
      external_id: "ada",
      email: "Ada@example.com",
      first_name: "Ada",
      n: 1,
    });
    const before = await workspace.profile({ external_ids: ["ada"] });
    const answer = await setV1(workspace, NEWSLETTER, "subscribed", {
      emails: ["ada@EXAMPLE.com"],
    });
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.body, { message: "success" });
    const group = { id: NEWSLETTER, channel: "email", status: "subscribed" };
    assert.deepEqual(await workspace.profile({ external_ids: ["ada"] }), {
      ...before,
      subscription_groups: [group],
    });
  });
});

describe("users affected by a group state change", () => {
  const EVERYBODY = ["ada", "bob", "cy", "dee"];

  /** Ada and Bob share an email, Bob and Cy a phone; Dee has both for herself. */
  async function neighbours() {
    const workspace = await newWorkspace();
    await users(
      workspace,
      { external_id: "ada", email: "home@example.com" },
      { external_id: "bob", email: "HOME@example.com", phone: PHONE },
      { external_id: "cy", phone: PHONE },
      { external_id: "dee", email: "dee@example.com", phone: OTHER_PHONE },
    );
    return workspace;
  }

  const subscribed = async (
    workspace: Awaited<ReturnType<typeof newWorkspace>>,
    groupId: string,
  ) => {
    const states = Object.entries(await statesOf(workspace, groupId, ...EVERYBODY));
    return states
      .filter(([, state]) => state === "Subscribed")
      .map(([id]) => id)
      .sort();
  };

  test("/v2/subscription/status/set updates all users who share the email", async () => {
    for (const names of [{ emails: ["home@example.com"] }, { external_ids: ["ada"] }]) {
      const workspace = await neighbours();
      await setV2(workspace, NEWSLETTER, "subscribed", names);
      assert.deepEqual(await subscribed(workspace, NEWSLETTER), ["ada", "bob"]);
    }
  });

  test("/subscription/status/set updates all users who share the email", async () => {
    for (const names of [{ emails: ["home@example.com"] }, { external_ids: ["bob"] }]) {
      const workspace = await neighbours();
      await setV1(workspace, NEWSLETTER, "subscribed", names);
      assert.deepEqual(await subscribed(workspace, NEWSLETTER), ["ada", "bob"]);
    }
  });

  test("setting the state of an SMS or WhatsApp group updates all users who share the phone number", async () => {
    for (const set of VERSIONS) {
      for (const groupId of [ALERTS, CHAT]) {
        const workspace = await neighbours();
        await set(workspace, groupId, "subscribed", { phones: [PHONE] });
        assert.deepEqual(await subscribed(workspace, groupId), ["ada", "bob", "cy"]);
      }
    }
  });

  test("setting the state of an email group does not update users who share only the phone number", async () => {
    for (const set of VERSIONS) {
      const workspace = await neighbours();
      await set(workspace, NEWSLETTER, "subscribed", { external_ids: ["bob"] });
      assert.deepEqual(await subscribed(workspace, NEWSLETTER), ["ada", "bob"]);
    }
  });

  test("a group state can be set by external ids, emails or phones alone", async () => {
    const cases = [
      { names: { external_ids: ["dee"] }, reached: ["dee"] },
      { names: { emails: ["dee@example.com"] }, reached: ["dee"] },
      { names: { phones: [OTHER_PHONE] }, reached: ["dee"] },
    ];
    for (const { names, reached } of cases) {
      for (const groupId of [NEWSLETTER, ALERTS, CHAT]) {
        const workspace = await neighbours();
        assert.equal((await setV2(workspace, groupId, "subscribed", names)).status, 201);
        assert.deepEqual(await subscribed(workspace, groupId), reached);
      }
    }
  });

  test("external ids combined with emails or phones in a subscription request select the union of both", async () => {
    for (const set of VERSIONS) {
      const workspace = await neighbours();
      const byEmail = { external_ids: ["cy"], emails: ["dee@example.com"] };
      await set(workspace, NEWSLETTER, "subscribed", byEmail);
      assert.deepEqual(await subscribed(workspace, NEWSLETTER), ["cy", "dee"]);
      const byPhone = { external_ids: ["ada"], phones: [OTHER_PHONE] };
      await set(workspace, ALERTS, "subscribed", byPhone);
      assert.deepEqual(await subscribed(workspace, ALERTS), ["ada", "bob", "dee"]);
    }
  });

  test("POST /users/track sets a group state for the user and for all users with the same email", async () => {
    const workspace = await neighbours();
    const subscription_groups = [
      { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
    ];
    await users(workspace, { external_id: "dee", subscription_groups });
    assert.deepEqual(await subscribed(workspace, NEWSLETTER), ["dee"]);
    await users(workspace, { external_id: "ada", subscription_groups });
    assert.deepEqual(await subscribed(workspace, NEWSLETTER), ["ada", "bob", "dee"]);
  });

  test("a null identifier list in a subscription request counts as omitted", async () => {
    for (const set of VERSIONS) {
      const workspace = await neighbours();
      const byId = { external_ids: ["dee"], emails: null, phones: null };
      const answer = await set(workspace, NEWSLETTER, "subscribed", byId as never);
      assert.deepEqual([answer.status, answer.body], [201, { message: "success" }]);
      const byPhone = { external_ids: null, emails: null, phones: [OTHER_PHONE] };
      await set(workspace, ALERTS, "subscribed", byPhone as never);
      for (const groupId of [NEWSLETTER, ALERTS]) {
        assert.deepEqual(await subscribed(workspace, groupId), ["dee"]);
      }
      const nobody = { external_ids: null, emails: null, phones: null };
      const none = await set(workspace, NEWSLETTER, "subscribed", nobody as never);
      assert.equal(none.status, 400);
      assert.match(none.body.message, /is required$/);
    }
  });

  test("an unknown id or address in a subscription request is skipped with its position and creates no profile", async () => {
    const workspace = await neighbours();
    const skip = (kind: string, input_array: string, index: number) => ({
      message: `no user has this '${kind}'`,
      code: "USER_NOT_FOUND",
      input_array,
      index,
    });
    const two = await setV2(workspace, NEWSLETTER, "subscribed", {
      external_ids: ["nobody", "dee"],
      emails: ["dee@example.com", "nobody@example.com"],
    });
    assert.equal(two.status, 201);
    assert.deepEqual(two.body, {
      message: "success",
      skipped: [
        skip("external_id", "subscription_groups[0].external_ids", 0),
        skip("email", "subscription_groups[0].emails", 1),
      ],
    });
    const one = await setV1(workspace, ALERTS, "subscribed", { phones: ["+14155552672"] });
    assert.equal(one.status, 201);
    assert.deepEqual(one.body.skipped, [skip("phone", "phone", 0)]);
    assert.deepEqual(await subscribed(workspace, NEWSLETTER), ["dee"]);
    assert.deepEqual(await workspace.profiles({ external_ids: ["nobody"] }), []);
    assert.deepEqual(await workspace.profiles({ email_address: "nobody@example.com" }), []);
    assert.deepEqual(await workspace.profiles({ phone: "+14155552672" }), []);
  });

  test("setting a group state never affects users of another workspace", async () => {
    const mine = await neighbours();
    const other = await neighbours();
    await setV2(mine, NEWSLETTER, "subscribed", { emails: ["home@example.com"] });
    assert.deepEqual(await subscribed(other, NEWSLETTER), []);
  });
});

describe("group state changes as writes", () => {
  test("setting a group state makes its user the most recently updated one", async () => {
    for (const set of VERSIONS) {
      const workspace = await newWorkspace();
      await users(workspace, { external_id: "ada", phone: PHONE });
      await users(workspace, { external_id: "bob", phone: PHONE });
      await set(workspace, NEWSLETTER, "subscribed", { external_ids: ["ada"] });
      await workspace.track({ events: [{ phone: PHONE, name: "seen", time: "2026-01-01" }] });
      const ada = await workspace.profile({ external_ids: ["ada"] });
      assert.deepEqual(
        ada.custom_events.map((event: { name: string }) => event.name),
        ["seen"],
      );
    }
  });

  test("a subscription request repeated with its Idempotency-Key gets the first response and changes nothing", async () => {
    const workspace = await newWorkspace();
    await users(workspace, { external_id: "ada" });
    const body = {
      subscription_group_id: NEWSLETTER,
      subscription_state: "subscribed",
      external_id: ["ada", "nobody"],
    };
    const options = { headers: { "idempotency-key": "once" } };
    const first = await workspace.call("POST", "/subscription/status/set", body, options);
    assert.equal(first.status, 201);
    await setV1(workspace, NEWSLETTER, "unsubscribed", { external_ids: ["ada"] });
    const second = await workspace.call("POST", "/subscription/status/set", body, options);
    assert.deepEqual(second.body, first.body);
    assert.equal(second.headers.get("idempotency-replayed"), "true");
    assert.deepEqual(await statesOf(workspace, NEWSLETTER, "ada"), { ada: "Unsubscribed" });
  });

  test("concurrent group state changes and track requests for one user lose no update", async () => {
    const workspace = await newWorkspace();
    await users(
      workspace,
      { external_id: "ada", email: "home@example.com" },
      { external_id: "bob", email: "home@example.com" },
    );
    const rounds = Array.from({ length: 12 }, (_, round) => round);
    const answers = await Promise.all(
      rounds.flatMap((round) => [
        workspace.track({ attributes: [{ external_id: "ada", count: { inc: 1 } }] }),
        workspace.track({ attributes: [{ external_id: "bob", count: { inc: 1 } }] }),
        setV2(workspace, NEWSLETTER, round % 2 ? "subscribed" : "unsubscribed", {
          emails: ["home@example.com"],
        }),
        workspace.call(
          "POST",
          "/subscription/status/set",
          {
            subscription_group_id: ALERTS,
            subscription_state: round % 2 ? "subscribed" : "unsubscribed",
            external_id: "bob",
          },
          { headers: { "idempotency-key": `round ${round}` } },
        ),
      ]),
    );
    for (const answer of answers) assert.equal(answer.status, 201, JSON.stringify(answer.body));
    for (const id of ["ada", "bob"]) {
      const profile = await workspace.profile({ external_ids: [id] });
      assert.equal(profile.custom_attributes.count, 12);
      for (const { id: groupId, status } of profile.subscription_groups) {
        const query = { external_id: id, subscription_group_id: groupId };
        const [newest] = await historyOf(server, workspace, query);
        assert.equal(newest?.subscription_state, status);
      }
    }
  });
});

test("requests recorded from an existing client are accepted unless a phone number is not E.164", async () => {
  const lines = readFileSync(join(packageRoot(), "test/fixtures/requests.jsonl"), "utf8");
  const bodies = lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter(({ endpoint }) => endpoint === "POST /v2/subscription/status/set")
    .map(({ body }) => body);
  assert.equal(bodies.length, 6);
  const ids = bodies.flatMap((body) =>
    body.subscription_groups.map((set: any) => set.subscription_group_id as string),
  );
  const workspace = await workspaceWithGroups(server, {
    subscription_groups: [...new Set(ids)].map((id) => ({ id, name: id, channel: "email" })),
  });
  for (const body of bodies) {
    const answer = await workspace.call<any>("POST", "/v2/subscription/status/set", body);
    const isNational = body.subscription_groups.some((set: any) => set.phones);
    assert.equal(answer.status, isNational ? 400 : 201, JSON.stringify(answer.body));
    if (isNational) assert.match(answer.body.message, /'5055077683' is not a number in E\.164/);
  }
});
