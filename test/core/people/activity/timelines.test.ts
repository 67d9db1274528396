/* The activity and history of one person, in one list: the timeline. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEWSLETTER, startServer, type TestWorkspace, WEB_APP } from "../../../harness.ts";
import { id, merge, TIME } from "../identity/identity-calls.ts";

const server = await startServer();

const get = ({ name }: TestWorkspace, rest: string) =>
  server.admin("GET", `/admin/v1/workspaces/${name}/users${rest}`);

const platformIdOf = async (workspace: TestWorkspace, externalId: string): Promise<string> =>
  (await workspace.profile({ external_ids: [externalId] })).platform_id;

/** Every entry of a timeline, read in pages of this many. */
async function timelineOf(workspace: TestWorkspace, platformId: string, limit: number, more = "") {
  const entries: any[] = [];
  for (let cursor = ""; ; ) {
    const { status, body } = await get(
      workspace,
      `/${platformId}/timeline?limit=${limit}${more}${cursor && `&cursor=${cursor}`}`,
    );
    assert.equal(status, 200, JSON.stringify(body));
    entries.push(...body.entries);
    if (!body.next_cursor) return entries;
    assert.equal(body.entries.length, limit);
    cursor = body.next_cursor;
  }
}

describe("the timeline of a user", () => {
  test("the timeline of a user lists everything by time, the newest first, in pages of any size", async () => {
    const workspace = await server.workspace();
    const at = (minute: number) => new Date(Date.parse(TIME) + minute * 60_000).toISOString();
    await workspace.track({
      attributes: [
        {
          ...id("ada"),
          email: "ada@example.com",
          email_subscribe: "opted_in",
          subscription_groups: [
            { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
          ],
        },
        { ...id("old"), first_name: "Old" },
      ],
      events: [
        ...[1, 1, 1, 2, 3].map((minute) => ({
          ...id("ada"),
          name: `e${minute}`,
          time: at(minute),
        })),
        { ...id("ada"), name: "deep", time: at(0), app_id: WEB_APP, properties: { a: [{ b: 1 }] } },
      ],
      purchases: [1, 1, 2].map((minute) => ({
        ...id("ada"),
        product_id: "p",
        currency: "USD",
        price: 12.34,
        time: at(minute),
        properties: { size: "L" },
      })),
    });
    await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/import`, {
      users: [
        {
          ...id("ada"),
          messages: ["m \u{1f600}", "m \uffee", "m"].map((message_id) => ({
            message_id,
            channel: "email",
            sent_at: at(1),
          })),
        },
      ],
    });
    await merge(workspace, [[id("old"), id("ada")]]);
    const platformId = await platformIdOf(workspace, "ada");
    const all = await timelineOf(workspace, platformId, 200);
    const kinds = (wanted: string) => all.filter((entry) => entry.kind === wanted).length;
    assert.deepEqual(
      ["event", "purchase", "message", "subscription", "identity"].map(kinds),
      [6, 3, 3, 2, 1],
    );
    const times = all.map((entry) => entry.at);
    assert.deepEqual(times, [...times].sort().reverse());
    assert.deepEqual(all.at(-1), {
      kind: "event",
      at: TIME,
      id: all.at(-1).id,
      name: "deep",
      app_id: WEB_APP,
      properties: { a: [{ b: 1 }] },
    });
    const bought = all.find((entry) => entry.kind === "purchase");
    assert.deepEqual([bought.price, bought.properties], [12.34, { size: "L" }]);
    for (const limit of [1, 2, 3, 4]) {
      assert.deepEqual(await timelineOf(workspace, platformId, limit), all, `limit ${limit}`);
    }
    const some = await timelineOf(workspace, platformId, 2, "&kind=purchase&kind=message");
    assert.deepEqual(
      some,
      all.filter((entry) => ["purchase", "message"].includes(entry.kind)),
    );
    const since = await timelineOf(workspace, platformId, 2, `&kind=event&since=${at(2)}`);
    assert.deepEqual(
      since.map((entry) => entry.name),
      ["e3", "e2"],
    );
    const until = await timelineOf(workspace, platformId, 1, `&kind=event&until=${at(2)}`);
    assert.deepEqual(
      until,
      all.filter((entry) => entry.kind === "event" && entry.at < at(2)),
    );
    const named = await timelineOf(workspace, platformId, 1, `&event=e2&since=${at(0)}`);
    assert.deepEqual(
      named,
      all.filter((entry) => entry.kind === "event" && entry.name === "e2"),
    );
    assert.ok(until.length > 0 && named.length > 0);
  });

  test("with the change feed on, the timeline has each change of the user's attributes with its values, and says from when on", async () => {
    const workspace = await server.workspace({ settings: { change_feed: true } });
    for (const plan of ["free", "pro", "gold", null]) {
      const attributes = [
        { ...id("ada"), plan },
        { ...id("eve"), plan: "other" },
      ];
      const events = [{ ...id("ada"), name: "seen", time: TIME }];
      await workspace.track({ attributes, events });
    }
    const platformId = await platformIdOf(workspace, "ada");
    const all = await timelineOf(workspace, platformId, 200);
    const changes = all.filter((entry) => entry.kind === "attributes");
    assert.deepEqual(
      changes.map(({ change, changed, values }) => [
        change,
        changed.at(-1),
        Object.values(values).at(-1),
      ]),
      [
        ["user.updated", "custom_attributes.plan", null],
        ["user.updated", "custom_attributes.plan", "gold"],
        ["user.updated", "custom_attributes.plan", "pro"],
        ["user.created", "custom_attributes.plan", "free"],
      ],
    );
    assert.equal(all.filter((entry) => entry.kind === "event").length, 4);
    for (const limit of [1, 2, 3]) {
      assert.deepEqual(await timelineOf(workspace, platformId, limit), all, `limit ${limit}`);
      const only = await timelineOf(workspace, platformId, limit, "&kind=attributes");
      assert.deepEqual(only, changes, `limit ${limit}`);
    }
    const since = await timelineOf(
      workspace,
      platformId,
      2,
      `&kind=attributes&since=${changes[1].at}`,
    );
    assert.deepEqual(since, changes.slice(0, 2));
    const { body } = await get(workspace, `/${platformId}/timeline`);
    assert.ok(body.attributes_since <= changes[3].at);
    const off = await server.workspace();
    await off.track({ attributes: [{ ...id("ada"), plan: "free" }] });
    const without = await get(off, `/${await platformIdOf(off, "ada")}/timeline`);
    assert.deepEqual([without.body.attributes_since, without.body.entries], [null, []]);
  });

  test("the timeline refuses an invalid cursor, an invalid time and an unknown kind", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ ...id("ada"), first_name: "Ada" }] });
    const platformId = await platformIdOf(workspace, "ada");
    const encoded = (text: string) => Buffer.from(text).toString("base64url");
    for (const query of [
      "cursor=x",
      `cursor=${encoded("2026-01-01T00:00:00.000Z events x")}`,
      `cursor=${encoded("9999-99-99 messages x")}`,
      "since=never",
      "until=never",
      "event=",
      "kind=other",
      "limit=0",
      "limit=201",
    ]) {
      const { status } = await get(workspace, `/${platformId}/timeline?${query}`);
      assert.equal(status, 400, query);
    }
    const last = `cursor=${encoded("9999-12-31T23:59:59.999Z messages x")}`;
    assert.equal((await get(workspace, `/${platformId}/timeline?${last}`)).status, 200);
  });
});
