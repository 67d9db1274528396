/* Values of attributes and properties of events, from a sample (docs/segments.md). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Answer, startServer, type TestWorkspace } from "../harness.ts";
import { succeeds } from "../segment-calls.ts";

const server = await startServer();

const read = async ({ name }: TestWorkspace, path: string) => {
  const answer: Answer<any> = await server.admin("GET", `/admin/v1/workspaces/${name}/${path}`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
};

const users = (matching: number) => ({ matching, low: matching, high: matching });

/** Values with how many users have each. */
const counted = ({ values }: any) => values.map((each: any) => [each.value, each.users.matching]);

describe("values of an attribute", () => {
  test("each has how many users have it, the most frequent first; of a list its elements count once, of objects nothing", async () => {
    const workspace = await server.workspace();
    const plans = ["pro", "pro", "free", 5, true, ["pro", "pro", "team"], { a: 1 }, null];
    await succeeds(
      workspace.track({
        attributes: plans.map((plan, index) => ({
          external_id: `u${index}`,
          plan,
          ...(index < 3 && { country: index === 0 ? "FR" : "DE" }),
        })),
      } as never),
    );
    const body = await read(workspace, "attribute-values?kind=custom_attribute&attribute=plan");
    assert.deepEqual([body.total, body.looked_at, body.users], [8, 8, users(7)]);
    const [first, ...others] = counted(body);
    assert.deepEqual(first, ["pro", 3]);
    assert.deepEqual(new Set(others.map(String)), new Set(["free,1", "5,1", "true,1", "team,1"]));
    const country = await read(workspace, "attribute-values?kind=attribute&attribute=country");
    assert.deepEqual(counted(country), [
      ["DE", 2],
      ["FR", 1],
    ]);
    const nothing = await read(workspace, "attribute-values?kind=attribute&attribute=nothing");
    assert.deepEqual([nothing.users, nothing.values], [users(0), []]);
  });

  test("of more users a sample is looked at, and its intervals hold the numbers", async () => {
    const workspace = await server.workspace();
    await server.database.query(
      `insert into profiles (workspace_id, bucket, profile_id, version, aliases, standard_attributes,
         custom_attributes, created_at, updated_at)
       select workspace_id, 0, gen_random_uuid(), 1, '[]', '{}',
         case when number % 4 = 0 then '{"plan": "pro"}'::jsonb when number % 4 = 1 then '{"plan": "free"}' else '{}' end,
         now(), now()
       from workspaces, generate_series(1, 12000) as number where name = $1`,
      [workspace.name],
    );
    const body = await read(workspace, "attribute-values?kind=custom_attribute&attribute=plan");
    assert.deepEqual([body.total, body.looked_at], [12_000, 1_000]);
    const holds = ({ low, high, matching }: any, number: number) => {
      // Wider than 95 of 100, so that chance fails no run.
      const room = 2 * (high - low);
      assert.ok(low <= matching && matching <= high && low > 0 && high < 12_000);
      assert.ok(Math.abs(matching - number) < room, `${matching} of ${number}`);
    };
    holds(body.users, 6_000);
    assert.deepEqual(new Set(body.values.map(({ value }: any) => value)), new Set(["pro", "free"]));
    for (const each of body.values) holds(each.users, 3_000);
  });

  test("long values are left out, and a hundred different ones are cut off at twenty", async () => {
    const workspace = await server.workspace({ settings: { track_max_updates: 200 } });
    const values = ["x".repeat(101), ...Array.from({ length: 100 }, (_, index) => `v${index}`)];
    await succeeds(
      workspace.track({
        attributes: values.map((plan, index) => ({ external_id: `u${index}`, plan })),
      }),
    );
    const body = await read(workspace, "attribute-values?kind=custom_attribute&attribute=plan");
    assert.equal(body.users.matching, 101);
    assert.equal(body.values.length, 20);
    assert.ok(body.values.every(({ value }: any) => value.length < 101));
  });
});

describe("properties of an event", () => {
  test("each has its types and its most frequent values in the last occurrence of each user", async () => {
    const workspace = await server.workspace();
    const now = Date.now();
    const event = (external_id: string, minutes: number, properties?: object) => ({
      external_id,
      name: "opened",
      time: new Date(now - minutes * 60_000).toISOString(),
      ...(properties && { properties }),
    });
    await succeeds(
      workspace.track({
        attributes: [{ external_id: "idle", plan: "free" }],
        events: [
          event("ada", 9, { page: "left out: not the last" }),
          event("ada", 1, { page: "home", at: "2026-01-31T12:00:00Z", depth: 3 }),
          event("ben", 2, { page: "home", depth: 3, tags: ["a"], more: { b: 1 } }),
          event("cleo", 3, { page: 404, depth: 4 }),
          event("dora", 4),
          { ...event("ada", 0, { page: "of another event" }), name: "closed" },
        ],
      } as never),
    );
    const body = await read(workspace, "event-properties?event=opened");
    assert.deepEqual(
      [body.total, body.looked_at, body.users, body.occurrences],
      [5, 5, users(4), 4],
    );
    const of = (name: string) => body.properties.find((each: any) => each.name === name);
    assert.deepEqual(of("page"), {
      name: "page",
      seen: 3,
      types: [
        { type: "string", seen: 2 },
        { type: "number", seen: 1 },
      ],
      values: [
        { value: "home", seen: 2 },
        { value: 404, seen: 1 },
      ],
    });
    assert.deepEqual(of("depth").values, [
      { value: 3, seen: 2 },
      { value: 4, seen: 1 },
    ]);
    assert.deepEqual(of("at").types, [{ type: "time", seen: 1 }]);
    assert.deepEqual([of("tags").types[0].type, of("tags").values], ["array", []]);
    assert.deepEqual([of("more").types[0].type, of("more").values], ["object", []]);
    assert.equal(body.properties.length, 5);
    const nothing = await read(workspace, "event-properties?event=never");
    assert.deepEqual([nothing.users, nothing.properties], [users(0), []]);
  });

  test("a property with many values shows five, and an event with many properties a hundred", async () => {
    const workspace = await server.workspace();
    const time = new Date().toISOString();
    const many = Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => [`p${index}`, index]),
    );
    await succeeds(
      workspace.track({
        events: Array.from({ length: 30 }, (_, index) => ({
          external_id: `u${index}`,
          name: "opened",
          time,
          properties: { order: `o${index}`, ...(index === 0 && many) },
        })),
      } as never),
    );
    const body = await read(workspace, "event-properties?event=opened");
    assert.equal(body.properties.length, 100);
    const [order] = body.properties;
    assert.deepEqual([order.name, order.seen, order.values.length], ["order", 30, 5]);
    assert.equal(order.types[0].seen, 30);
  });
});
