/* POST /admin/v1/workspaces/{name}/import, and the imported data in an export. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  alias,
  byAlias,
  id,
  makeUsers,
  many,
  merge,
  notesOf,
  succeeds,
  TIME,
  userOf,
} from "../../core/people/identity/identity-calls.ts";
import { startServer, type TestWorkspace, WEB_APP } from "../../harness.ts";

const server = await startServer();

const send = (workspace: TestWorkspace, ...users: unknown[]) =>
  server.admin("POST", `/admin/v1/workspaces/${workspace.name}/import`, { users });

const FULL = {
  apps: [{ app_id: WEB_APP, version: "1.2", sessions: 3, first_used: TIME, last_used: TIME }],
  devices: [{ device_id: "d", model: "Phone", os: "17", ad_tracking_enabled: true }],
  campaigns_received: [
    {
      api_campaign_id: "c",
      name: "Welcome",
      last_received: TIME,
      engaged: { opened_email: true },
      converted: true,
      multiple_converted: false,
      in_control: false,
      variation_name: "A",
      variation_api_id: "v",
    },
  ],
  canvases_received: [
    {
      api_canvas_id: "v",
      name: "Onboarding",
      last_entered: TIME,
      steps_received: [{ api_canvas_step_id: "s", name: "One", last_received: TIME }],
    },
  ],
  cards_clicked: [{ name: "card", last_clicked: TIME }],
  engagement_times: { last_received_email_at: TIME },
};

const MESSAGES = [{ message_id: "m", channel: "email", sent_at: TIME, opened_at: TIME }];

const TOKENS = [{ app_id: WEB_APP, token: "t", device_id: "device-1" }];

const FIELDS = [...Object.keys(FULL), "message_history", "push_tokens"];

const read = (workspace: TestWorkspace, name: string) =>
  workspace.profile({ external_ids: [name], fields_to_export: FIELDS });

const expected = {
  ...FULL,
  apps: [{ ...FULL.apps[0], name: "Web", platform: "web" }],
  message_history: MESSAGES,
  push_tokens: TOKENS,
};

describe("an import", () => {
  test("an export shows everything that was imported", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("ada"));
    const answer = await send(workspace, {
      ...id("ada"),
      ...FULL,
      messages: MESSAGES,
      push_tokens: TOKENS,
    });
    assert.deepEqual([answer.status, answer.body], [200, { imported: 1, message: "success" }]);
    assert.deepEqual(await read(workspace, "ada"), expected);
    assert.deepEqual((await userOf(workspace, "ada"))?.devices, FULL.devices);
  });

  test("repeating an import changes nothing", async () => {
    const workspace = await server.workspace();
    const user = { ...id("ada"), ...FULL, messages: MESSAGES, push_tokens: TOKENS };
    await send(workspace, user, user);
    await send(workspace, user);
    assert.deepEqual(await read(workspace, "ada"), expected);
  });

  test("a push token that is sent again replaces the stored one, by import and by track", async () => {
    const workspace = await server.workspace();
    const token = (device_id?: string) => ({ app_id: WEB_APP, token: "t", device_id });
    const stored = async () => (await read(workspace, "ada")).push_tokens;
    const track = (sent: object) =>
      workspace.track({ attributes: [{ ...id("ada"), push_tokens: [sent] }] });

    await track(token("device-1"));
    await send(workspace, { ...id("ada"), push_tokens: [token("device-2")] });
    assert.deepEqual(await stored(), [token("device-2")]);
    await track(token("device-3"));
    assert.deepEqual(await stored(), [token("device-3")]);
    // A token without a device keeps the stored device.
    await send(workspace, { ...id("ada"), push_tokens: [token()] });
    await track(token());
    assert.deepEqual(await stored(), [token("device-3")]);
  });

  test("an import sets what it names and leaves the rest unchanged", async () => {
    const workspace = await server.workspace();
    await send(workspace, { ...id("ada"), ...FULL });
    const app = { ...FULL.apps[0], sessions: 9 };
    await send(workspace, { ...id("ada"), apps: [app], devices: [{ device_id: "e" }] });
    const { apps, devices, campaigns_received } = await read(workspace, "ada");
    assert.equal(apps[0].sessions, 9);
    assert.deepEqual(devices, [...FULL.devices, { device_id: "e" }]);
    assert.deepEqual(campaigns_received, FULL.campaigns_received);
  });

  test("an import creates unknown users, except by platform_id, and finds merged users", async () => {
    const workspace = await server.workspace();
    await makeUsers(workspace, id("m"), id("k"));
    const { platform_id } = (await userOf(workspace, "m")) ?? {};
    await succeeds(merge(workspace, [[id("m"), id("k")]]));
    const cards = { cards_clicked: [{ name: "card" }] };
    const answer = await send(
      workspace,
      { ...id("new"), ...cards },
      { ...byAlias("a"), ...cards },
      { email: "a@example.com", ...cards },
      { phone: "+14155552671", ...cards },
      { braze_id: platform_id, ...cards },
      { platform_id: "00000000-0000-4000-8000-000000000000", ...cards },
    );
    assert.equal(answer.body.imported, 6);
    assert.deepEqual(notesOf(answer.body.skipped), ["users 5 USER_NOT_FOUND"]);
    const [k] = await workspace.profiles({ external_ids: ["k"] });
    for (const request of [
      { external_ids: ["new"] },
      { user_aliases: [alias("a")] },
      { email_address: "a@example.com" },
      { phone: "+14155552671" },
      { platform_ids: [k?.platform_id] },
    ]) {
      assert.deepEqual((await workspace.profile(request)).cards_clicked, cards.cards_clicked);
    }
  });

  test("an import accepts times with a zone and stores them in UTC", async () => {
    const workspace = await server.workspace();
    const time = "2026-01-01T14:30:00+02:30";
    await send(workspace, {
      ...id("ada"),
      apps: [{ app_id: WEB_APP, sessions: 1, first_used: time, last_used: time }],
      canvases_received: [
        {
          api_canvas_id: "c",
          steps_received: [{ api_canvas_step_id: "s", last_received: time }],
        },
      ],
      engagement_times: { last_opened_email_at: time },
    });
    const { apps, canvases_received, engagement_times } = await read(workspace, "ada");
    assert.equal(apps[0].first_used, TIME);
    assert.equal(canvases_received[0].steps_received[0].last_received, TIME);
    assert.deepEqual(engagement_times, { last_opened_email_at: TIME });
  });

  test("a reset deletes imported data", async () => {
    const workspace = await server.workspace();
    await send(workspace, { ...id("ada"), ...FULL, messages: MESSAGES });
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    await makeUsers(workspace, id("ada"));
    const { apps, devices, message_history, engagement_times } = await read(workspace, "ada");
    assert.deepEqual([apps, devices, message_history, engagement_times], [[], [], [], {}]);
  });
});

describe("an invalid object of an import is reported with its position, and the others are imported", () => {
  const [app] = FULL.apps;
  const cases: [why: string, object: unknown, code: string][] = [
    ["no object", "ada", "NOT_AN_OBJECT"],
    ["no identifier", FULL, "MISSING_IDENTIFIER"],
    ["two identifiers", { ...id("ada"), ...byAlias("a") }, "MULTIPLE_IDENTIFIERS"],
    ["an unknown member", { ...id("ada"), first_name: "Ada" }, "INVALID_USER"],
    ["apps that are no array", { ...id("ada"), apps: {} }, "INVALID_USER"],
    ["an app without sessions", { ...id("ada"), apps: [{ app_id: WEB_APP }] }, "INVALID_USER"],
    ["negative sessions", { ...id("ada"), apps: [{ ...app, sessions: -1 }] }, "INVALID_USER"],
    ["an undeclared app", { ...id("ada"), apps: [{ ...app, app_id: "x" }] }, "UNKNOWN_APP"],
    ["a time that is none", { ...id("ada"), apps: [{ ...app, last_used: "x" }] }, "INVALID_TIME"],
    [
      "a time deep inside that is none",
      {
        ...id("ada"),
        canvases_received: [
          { api_canvas_id: "c", steps_received: [{ api_canvas_step_id: "s", last_received: "x" }] },
        ],
      },
      "INVALID_TIME",
    ],
    ["another time's name", { ...id("ada"), engagement_times: { opened: TIME } }, "INVALID_USER"],
    [
      "a push token of another app",
      { ...id("ada"), push_tokens: [{ app_id: "x", token: "t" }] },
      "BAD_PUSH_TOKEN_APP_ID",
    ],
    ["a push token that is none", { ...id("ada"), push_tokens: ["t"] }, "BAD_PUSH_TOKEN_VALUE"],
    [
      "a number that is not exact",
      { ...id("ada"), apps: [{ ...app, sessions: 2 ** 60 }] },
      "NUMBER_NOT_EXACT",
    ],
    ["a NUL character", { ...id("ada"), cards_clicked: [{ name: "\0" }] }, "INVALID_TEXT"],
  ];
  for (const [why, object, code] of cases) {
    test(why, async () => {
      const workspace = await server.workspace();
      const answer = await send(workspace, object, { ...id("bob"), ...FULL });
      assert.deepEqual([answer.status, answer.body.imported], [200, 1]);
      assert.deepEqual(notesOf(answer.body.errors), [`users 0 ${code}`]);
      assert.ok(answer.body.errors[0].message.length > 10);
      assert.equal((await read(workspace, "bob")).apps.length, 1);
      assert.equal(await userOf(workspace, "ada"), undefined);
      const alone = await send(workspace, object);
      assert.equal(alone.status, 400);
      assert.match(alone.body.message, /^users\[0\]: ./);
    });
  }
});

test("an import requires the admin token, an existing workspace and at most 500 users", async () => {
  const workspace = await server.workspace();
  const path = `/admin/v1/workspaces/${workspace.name}/import`;
  assert.equal((await workspace.call("POST", path, { users: [] })).status, 401);
  const nowhere = "/admin/v1/workspaces/nowhere/import";
  assert.equal((await server.admin("POST", nowhere, { users: [] })).status, 404);
  const users = many(501, (index) => id(`u${index}`));
  assert.equal((await send(workspace, ...users)).status, 400);
  assert.deepEqual((await send(workspace, ...users.slice(1))).body.imported, 500);
  assert.deepEqual((await send(workspace)).body, { imported: 0, message: "success" });
});
