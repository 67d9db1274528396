import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, WEB_APP } from "../../harness.ts";

const server = await startServer();

describe("an ISO 8601 date-time is accepted wherever a request holds a timestamp", () => {
  /** One instant in several forms. */
  const INSTANT = "2020-01-24T06:29:02.402Z";
  const forms = [
    INSTANT,
    "2020-01-24T11:59:02.402+05:30",
    "2020-01-24T11:59:02.402+0530",
    "20200124T062902.402Z",
  ];
  for (const time of forms) {
    test(`the time ${time} is accepted in attributes, events, purchases and imports`, async () => {
      const workspace = await server.workspace();
      const identifier = { external_id: "ada" };
      const sent = await workspace.track({
        attributes: [
          {
            ...identifier,
            date_of_first_session: time,
            date_of_last_session: time,
            visited: { $time: time },
          },
        ],
        events: [{ ...identifier, name: "came", time }],
        purchases: [{ ...identifier, product_id: "p", currency: "EUR", price: 1, time }],
      });
      assert.deepEqual([sent.status, sent.body.errors], [201, undefined]);
      const imported = await server.send(
        "POST",
        `/admin/v1/workspaces/${workspace.name}/import`,
        {
          users: [
            {
              ...identifier,
              apps: [{ app_id: WEB_APP, sessions: 1, first_used: time, last_used: time }],
            },
          ],
        },
        { key: server.adminToken },
      );
      assert.ok(imported.status < 300, JSON.stringify(imported.body));
      const user = await workspace.profile({ external_ids: ["ada"] });
      const [event, purchase, app] = [user.custom_events[0], user.purchases[0], user.apps[0]];
      assert.deepEqual(
        [event.first, purchase.first, app.first_used, app.last_used],
        Array(4).fill(INSTANT),
      );
      assert.deepEqual([user.date_of_first_session, user.date_of_last_session], [INSTANT, INSTANT]);
    });
  }
});
