/*
 * The result of merging data that no public call writes, line by line of the specification's merge
 * behaviour, on rows that were imported, read back with an export.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { id, merge, succeeds } from "../../../../core/people/identity/identity-calls.ts";
import {
  EARLY,
  LATE,
  MIDDLE,
  make,
  merged,
  OTHER_APP,
  workspaceWithApps,
} from "../../../../core/people/identity/merged-users.ts";
import { startServer, WEB_APP } from "../../../../harness.ts";
import { membersOf } from "../../../../segment-calls.ts";

const server = await startServer();

describe("merging imported engagement data", () => {
  const app = (app_id: string, sessions: number, first_used: string, last_used: string) => ({
    app_id,
    sessions,
    first_used,
    last_used,
    version: `${sessions}`,
  });

  test("a merge adds up the sessions of an app that both users have, and keeps the earliest and latest dates", async () => {
    const { apps } = await merged(
      server,
      { imported: { apps: [app(WEB_APP, 2, MIDDLE, MIDDLE)] } },
      { imported: { apps: [app(WEB_APP, 3, EARLY, LATE)] } },
    );
    assert.deepEqual(apps, [
      { ...app(WEB_APP, 5, EARLY, LATE), version: "3", name: "Web", platform: "web" },
    ]);
  });

  test("a merge carries over the summary of an app that only the merged user has", async () => {
    const { apps } = await merged(
      server,
      { imported: { apps: [app(WEB_APP, 2, MIDDLE, MIDDLE)] } },
      { imported: { apps: [app(OTHER_APP, 3, EARLY, LATE)] } },
    );
    assert.deepEqual(
      apps.map(({ name, platform, ...usage }: Record<string, any>) => usage),
      [app(OTHER_APP, 3, EARLY, LATE), app(WEB_APP, 2, MIDDLE, MIDDLE)],
    );
    const sessions = apps.map((each: Record<string, any>) => each.sessions);
    assert.equal(sessions[0] + sessions[1], 5);
  });

  test("segments count the sessions that an export shows after a merge, of an app that both had and of one that only the merged user had", async () => {
    const workspace = await workspaceWithApps(server);
    const both = app(WEB_APP, 2, MIDDLE, MIDDLE);
    await make(server, workspace, "k", { imported: { apps: [both] } });
    await make(server, workspace, "m", {
      imported: { apps: [both, app(OTHER_APP, 3, EARLY, LATE)] },
    });
    await make(server, workspace, "none", {});
    await make(server, workspace, "other", { imported: { apps: [app(OTHER_APP, 1, LATE, LATE)] } });
    await succeeds(merge(workspace, [[id("m"), id("k")]]));
    await succeeds(merge(workspace, [[id("other"), id("none")]]));
    const sessionsOf = async (name: string) => {
      const { apps } = await workspace.profile({ external_ids: [name] });
      return Object.fromEntries(apps.map((each: any) => [each.app_id, each.sessions]));
    };
    assert.deepEqual(await sessionsOf("k"), { [WEB_APP]: 4, [OTHER_APP]: 3 });
    assert.deepEqual(await sessionsOf("none"), { [OTHER_APP]: 1 });
    for (const [filter, members] of [
      [{ sessions: "any", at_least: 7 }, ["k"]],
      [{ sessions: "any", at_least: 8 }, []],
      [{ sessions: OTHER_APP, at_least: 1 }, ["k", "none"]],
      [{ sessions: OTHER_APP, at_least: 4 }, []],
      [{ sessions: WEB_APP, at_least: 4 }, ["k"]],
      [{ sessions: WEB_APP, at_least: 5 }, []],
      [{ sessions: "any", first: { before: MIDDLE } }, ["k"]],
      [{ sessions: "any", last: { after: MIDDLE } }, ["k", "none"]],
    ] as const) {
      assert.deepEqual(await membersOf(server, workspace, filter), members, JSON.stringify(filter));
    }
  });

  test("a merge takes device information only if the kept user has none", async () => {
    const theirs = [
      { device_id: "one", model: "other", carrier: "c", ad_tracking_enabled: false },
      { device_id: "two", model: "second" },
    ];
    const own = [{ device_id: "one", model: "own", os: "17" }];
    const kept = { imported: { devices: own } };
    const other = { imported: { devices: theirs } };
    assert.deepEqual((await merged(server, kept, other)).devices, own);
    assert.deepEqual((await merged(server, {}, other)).devices, theirs);
  });

  test("a merge keeps the push tokens of both users", async () => {
    const tokens = (...names: string[]) => ({
      push_tokens: names.map((token) => ({
        app_id: WEB_APP,
        token,
        device_id: `device of ${token}`,
      })),
    });
    const { push_tokens } = await merged(
      server,
      { imported: tokens("one", "two") },
      { attributes: tokens("two", "three") },
    );
    assert.deepEqual({ push_tokens }, tokens("one", "two", "three"));
  });

  test("a merge keeps the newer date of each Last_X_at field", async () => {
    const { engagement_times } = await merged(
      server,
      {
        imported: {
          engagement_times: { last_opened_email_at: MIDDLE, last_received_push_at: MIDDLE },
        },
      },
      {
        imported: {
          engagement_times: {
            last_opened_email_at: LATE,
            last_received_push_at: EARLY,
            last_clicked_email_at: EARLY,
          },
        },
      },
    );
    assert.deepEqual(engagement_times, {
      last_opened_email_at: LATE,
      last_received_push_at: MIDDLE,
      last_clicked_email_at: EARLY,
    });
  });

  test("a merge keeps the most recent date of each campaign interaction", async () => {
    const campaign = (api_campaign_id: string, last_received: string, more: object) => ({
      api_campaign_id,
      last_received,
      ...more,
    });
    const { campaigns_received } = await merged(
      server,
      {
        imported: {
          campaigns_received: [
            campaign("both", MIDDLE, { variation_name: "own", engaged: { opened_email: true } }),
            campaign("newer", LATE, { converted: false }),
          ],
        },
      },
      {
        imported: {
          campaigns_received: [
            campaign("both", LATE, { variation_name: "new", engaged: { clicked_email: true } }),
            campaign("newer", EARLY, { converted: true }),
            campaign("other", EARLY, {}),
          ],
        },
      },
    );
    assert.deepEqual(campaigns_received, [
      campaign("both", LATE, {
        variation_name: "new",
        engaged: { opened_email: true, clicked_email: true },
      }),
      campaign("newer", LATE, { converted: true }),
      campaign("other", EARLY, {}),
    ]);
  });

  test("a merge keeps the most recent date of each canvas summary", async () => {
    const { canvases_received, cards_clicked } = await merged(
      server,
      {
        imported: {
          canvases_received: [
            {
              api_canvas_id: "c",
              last_entered: LATE,
              steps_received: [{ api_canvas_step_id: "s", last_received: EARLY }],
            },
          ],
          cards_clicked: [{ name: "one", last_clicked: LATE }],
        },
      },
      {
        imported: {
          canvases_received: [
            {
              api_canvas_id: "c",
              last_entered: EARLY,
              last_exited: MIDDLE,
              steps_received: [{ api_canvas_step_id: "s", last_received: MIDDLE }],
            },
          ],
          cards_clicked: [{ name: "one", last_clicked: EARLY }, { name: "two" }],
        },
      },
    );
    assert.deepEqual(canvases_received, [
      {
        api_canvas_id: "c",
        last_entered: LATE,
        last_exited: MIDDLE,
        steps_received: [{ api_canvas_step_id: "s", last_received: MIDDLE }],
      },
    ]);
    assert.deepEqual(cards_clicked, [{ name: "one", last_clicked: LATE }, { name: "two" }]);
  });

  test("a merge keeps the messages of both users with their interactions", async () => {
    const message = (message_id: string, sent_at: string, more: object = {}) => ({
      message_id,
      channel: "email",
      sent_at,
      ...more,
    });
    const { message_history } = await merged(
      server,
      { imported: { messages: [message("one", MIDDLE, { opened_at: LATE })] } },
      { imported: { messages: [message("two", EARLY), message("three", LATE)] } },
      ["message_history"],
    );
    assert.deepEqual(message_history, [
      message("three", LATE),
      message("one", MIDDLE, { opened_at: LATE }),
      message("two", EARLY),
    ]);
  });
});
