/* The list of users: its orders, filters of segments, and columns. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer, type TestWorkspace } from "../harness.ts";

const server = await startServer();

const list = (workspace: TestWorkspace, parameters: readonly (readonly [string, string])[]) =>
  server.admin(
    "GET",
    `/admin/v1/workspaces/${workspace.name}/users?${new URLSearchParams(parameters as [string, string][])}`,
  );

/** The external ids of all pages. */
async function idsOf(
  workspace: TestWorkspace,
  ...parameters: (readonly [string, string])[]
): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { status, body } = await list(workspace, [
      ...parameters,
      ["limit", "2"],
      ...(cursor ? ([["cursor", cursor]] as const) : []),
    ]);
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(body.users.length <= 2);
    ids.push(...body.users.map((user: any) => user.external_id));
    cursor = body.next_cursor;
    if (!cursor) return ids;
  }
}

describe("the list of users", async () => {
  const workspace = await server.workspace();
  const now = Date.now();
  const boughtAt = (daysAgo: number) => new Date(now - daysAgo * 86_400_000).toISOString();
  const LONG = Array.from({ length: 100 }, (_, index) => `plan ${index}`);
  const PEOPLE = [
    { external_id: "c", first_name: "Zoe", email: "b@example.com", country: "DE" },
    { external_id: "a", first_name: "Élise", email: "c@example.com", country: "FR", plan: "gold" },
    { external_id: "d", first_name: "Ann", email: "b@example.com", country: "DE", language: "de" },
    { external_id: "b", country: "DE", plan: LONG },
  ];
  for (const each of PEOPLE) {
    const { body } = await workspace.track({ attributes: [each] });
    assert.equal(body.errors, undefined, JSON.stringify(body));
  }
  await workspace.track({
    purchases: ["EUR", "USD"].map((currency, index) => ({
      external_id: "d",
      product_id: "mug",
      currency,
      price: 10 + index,
      time: boughtAt(2 - index),
    })),
  });
  const IN_GERMANY = ["filter", JSON.stringify({ attribute: "country", equals: "DE" })] as const;

  test("each order has every user who has the value once, on all pages and in both directions", async () => {
    for (const [order, ids] of [
      ["added", ["c", "a", "d", "b"]],
      ["email", ["c", "d", "a"]],
      ["name", ["d", "a", "c"]],
    ] as const) {
      assert.deepEqual(await idsOf(workspace, ["sort", order]), ids, order);
      assert.deepEqual(await idsOf(workspace, ["sort", `-${order}`]), [...ids].reverse(), order);
    }
  });

  test("a filter or a segment leaves only its members, in a search and in every order", async () => {
    assert.deepEqual(await idsOf(workspace, IN_GERMANY, ["sort", "-added"]), ["b", "d", "c"]);
    assert.deepEqual(await idsOf(workspace, IN_GERMANY, ["query", "b@"]), ["c", "d"]);
    assert.deepEqual(await idsOf(workspace, IN_GERMANY), ["b", "c", "d"]);
    const spent = JSON.stringify({ purchases: "mug", at_least: 2, in_last_days: 30 });
    assert.deepEqual(await idsOf(workspace, ["filter", spent]), ["d"]);
    const id = "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11";
    const path = `/admin/v1/workspaces/${workspace.name}/segments/${id}`;
    const segment = { name: "Reachable", filter: { email_available: true } };
    assert.ok((await server.admin("PUT", path, segment)).status < 300);
    assert.deepEqual(await idsOf(workspace, ["segment_id", id], ["sort", "name"]), ["d", "a", "c"]);
    const { body } = await list(workspace, [["segment_id", id]]);
    assert.match(body.filtered_by, /can receive email/);
    const [user] = body.users;
    const one = ["query", user.platform_id] as const;
    assert.equal((await list(workspace, [one, ["segment_id", id]])).body.users.length, 1);
    const none = ["filter", JSON.stringify({ attribute: "country", equals: "IS" })] as const;
    assert.deepEqual((await list(workspace, [one, none])).body.users, []);
  });

  test("requested columns are shown, without what a user does not have and with the beginning of a long value", async () => {
    const names = ["country", "language", "spent", "last_seen", "custom_attributes.plan"];
    const { body } = await list(workspace, [
      ["sort", "added"],
      ...names.map((name) => ["columns", name] as const),
    ]);
    const shown = body.users.map(({ columns }: any) => columns);
    assert.deepEqual(shown.slice(0, 3), [
      { country: "DE" },
      { country: "FR", "custom_attributes.plan": "gold" },
      {
        country: "DE",
        language: "de",
        spent: { USD: 11, EUR: 10 },
        last_seen: boughtAt(1),
      },
    ]);
    assert.equal(shown[3]["custom_attributes.plan"], `${JSON.stringify(LONG).slice(0, 499)}…`);
  });

  test("an order beside a search, a filter that is none, and an unknown column or segment are refused with the place", async () => {
    for (const [parameters, status, message] of [
      [
        [
          ["sort", "added"],
          ["query", "a"],
        ],
        400,
        /'sort'/,
      ],
      [[["sort", "updated"]], 400, /sort/],
      [[["filter", "{"]], 400, /'filter'/],
      [[["filter", '{"attribute":"country","is":1}']], 400, /'filter\.is'/],
      [
        [
          ["filter", "{}"],
          ["segment_id", "x"],
        ],
        400,
        /'filter' or 'segment_id'/,
      ],
      [[["segment_id", "x"]], 404, /Segment/],
      [[["columns", "shoe_size"]], 400, /'columns'.*"shoe_size"/],
      [[["filter", "x".repeat(8_001)]], 400, /filter/],
      [
        [
          ["sort", "email"],
          ["cursor", "x"],
        ],
        400,
        /cursor/i,
      ],
    ] as const) {
      const { status: given, body } = await list(workspace, parameters);
      assert.equal(given, status, JSON.stringify(body));
      assert.match(JSON.stringify(body).replaceAll('\\"', '"'), message);
    }
  });

  test("a column is what a user has, not what every object of the language has", async () => {
    for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
      const { status, body } = await list(workspace, [["columns", `custom_attributes.${name}`]]);
      assert.equal(status, 200, JSON.stringify(body));
      assert.ok(
        body.users.every((user: any) => Object.keys(user.columns).length === 0),
        name,
      );
    }
  });

  test("a filter with text that no engine holds, or nested too deep, is refused by its name", async () => {
    const deep = `${"[".repeat(3_000)}${"]".repeat(3_000)}`;
    for (const value of ['"a\\u0000b"', '"a\\ud83d"', deep]) {
      const filter = `{"attribute":"country","equals":${value}}`;
      const { status, body } = await list(workspace, [["filter", filter]]);
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(body.message, /filter/);
    }
  });

  test("a forged cursor is refused, or begins at what it says", async () => {
    const [user] = (await list(workspace, [])).body.users;
    const id = user.platform_id;
    for (const text of [
      "added zz x",
      `added ${id} \0`,
      `email ${id} a`,
      `email ${id} \0`,
      "added",
    ]) {
      const cursor = Buffer.from(text).toString("base64url");
      for (const sort of ["added", "-email", "name"]) {
        const { status, body } = await list(workspace, [
          ["sort", sort],
          ["cursor", cursor],
        ]);
        assert.ok(status === 200 || status === 400, JSON.stringify(body));
      }
    }
  });
});
