/* The bounds on a filter's work, and what becomes of segments that were stored before there were any (docs/segments.md). */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { enqueue } from "../../../src/core/admin/jobs/queue.ts";
import { systemClock } from "../../../src/core/base/clock.ts";
import type { Queryable } from "../../../src/core/database/database.ts";
import { readFilter } from "../../../src/features/segments/filter.ts";
import { countMembersOfEach, readMembers } from "../../../src/features/segments/members.ts";
import { BEFORE_ALL } from "../../../src/features/segments/members-store.ts";
import { columnsOf } from "../../../src/features/segments/sql.ts";
import { type Answer, startServer, type TestWorkspace } from "../../harness.ts";
import { ask, declare, membersOf, succeeds } from "../../segment-calls.ts";
import { until } from "../../until.ts";

const server = await startServer();

const steps = (count: number) => Array.from({ length: count }, () => "a").join(".");
const FIVE = { equals: "x", not_equals: "y", contains: "x", starts_with: "x", one_of: ["x"] };
const FIVE_TIMES = {
  before: "2030-01-01",
  after: "2000-01-01",
  in_last_days: 3,
  more_than_days_ago: 1,
  day_of_year: "12-31",
};

/** More steps and more comparators than a filter may have. */
const EXCESS = { custom_attribute: steps(64), ...FIVE, ...FIVE_TIMES };

describe("a filter", () => {
  const refusals: [filter: object, message: string][] = [
    [
      { custom_attribute: steps(11), equals: "x" },
      "'filter.custom_attribute' has more than 10 steps.",
    ],
    [
      { all: [{ event: "x", where: { property: steps(11), equals: 1 } }] },
      "'filter.all[0].where.property' has more than 10 steps.",
    ],
    [{ custom_attribute: "a", ...FIVE, exists: true }, "'filter' has more than 5 comparators."],
    [
      { not: { attribute: "dob", ...FIVE_TIMES, exists: true } },
      "'filter.not' has more than 5 comparators.",
    ],
    [
      { event: "x", at_least: 1, in_last_days: 3, where: { property: "a", ...FIVE } },
      "'filter' has more than 5 comparators.",
    ],
    [{ event: "x", at_least: 1, first: FIVE_TIMES }, "'filter' has more than 5 comparators."],
    [
      { event: "x", first: { before: "2030-01-01" }, last: FIVE_TIMES },
      "'filter' has more than 5 comparators.",
    ],
  ];

  test("with more than 10 steps or 5 comparators is refused with its place, also when a segment is saved", async () => {
    const workspace = await server.workspace();
    for (const [filter, message] of refusals) {
      const counted = await ask(server, workspace, "count", { filter });
      assert.deepEqual([counted.status, counted.body.message], [400, message]);
      const saved = await declare(server, workspace, randomUUID(), { name: "Excess", filter });
      assert.deepEqual(
        [saved.status, saved.body.message],
        [400, `The segment 'Excess': ${message}`],
      );
    }
  });

  test("with more than 2,000 labels of addresses beyond ASCII or in punycode is refused, those of its segments included", async () => {
    const workspace = await server.workspace();
    const addresses = (count: number, from = 0) =>
      Array.from(
        { length: count },
        (_, index) => `k@xn--${(from + index).toString(36)}-tda.example`,
      );
    const email = (one_of: string[]) => ({ attribute: "email", one_of });
    const long = Array.from({ length: 60 }, () => "xn--tda").join(".");
    const most = { any: [email(addresses(1_000)), email(addresses(1_000, 1_000))] };
    const tooMany =
      "has addresses with more than 2000 labels beyond ASCII or in punycode, with those of the conditions before it.";
    const count = async (filter: object) => {
      const { status, body } = await ask(server, workspace, "count", { filter });
      return [status, body.message];
    };
    assert.deepEqual(await count(most), [200, "success"]);
    for (const [filter, place] of [
      [{ any: [...most.any, email(["k@é.example"])] }, "filter.any[2]"],
      [{ not: email(Array.from({ length: 40 }, () => long)) }, "filter.not"],
      [email(Array.from({ length: 400 }, () => "é".repeat(200))), "filter"],
    ] as const) {
      assert.deepEqual(await count(filter), [400, `'${place}' ${tooMany}`]);
    }
    const id = randomUUID();
    assert.equal(
      (await declare(server, workspace, id, { name: "Most", filter: most })).status,
      200,
    );
    assert.deepEqual(await count({ in_segment: id }), [200, "success"]);
    const both = { all: [{ in_segment: id }, email(["k@é.example"])] };
    assert.deepEqual(await count(both), [400, `'filter.all[1]' ${tooMany}`]);
  });

  test("with exactly 10 steps and 5 comparators is counted, and a period is no comparator of events", async () => {
    const workspace = await server.workspace();
    const deep = (value: unknown): unknown =>
      Array.from({ length: 9 }).reduce((inner) => ({ a: inner }), value);
    await succeeds(
      workspace.track({
        attributes: [
          { external_id: "deep", a: deep("x") },
          { external_id: "list", a: ["x"] },
        ],
        events: [
          {
            external_id: "deep",
            name: "came",
            time: new Date().toISOString(),
            properties: { a: deep("x") },
          },
        ],
      }),
    );
    assert.deepEqual(await membersOf(server, workspace, { custom_attribute: steps(10), ...FIVE }), [
      "deep",
    ]);
    const where = { property: steps(10), ...FIVE };
    assert.deepEqual(
      await membersOf(server, workspace, { event: "came", in_last_days: 3, where }),
      ["deep"],
    );
  });

  test("finds a value by a path through objects, and never through a list", async () => {
    const workspace = await server.workspace();
    await succeeds(
      workspace.track({
        attributes: [
          { external_id: "object", a: { "0": "x" } },
          { external_id: "list", a: ["x"] },
        ],
      }),
    );
    const found = (custom_attribute: string) =>
      membersOf(server, workspace, { custom_attribute, equals: "x" });
    assert.deepEqual(await found("a.0"), ["object"]);
    assert.deepEqual(await found("a..0"), []);
    assert.deepEqual(await found("a.-1"), []);
  });
});

describe("the statements for a filter", () => {
  const SCOPE = {
    groups: new Map([["group", { name: "Group", channel: "email" }]]),
    apps: new Map(),
    segments: new Map(),
  };
  const fifty = (leafOf: (index: number) => object) =>
    readFilter({ any: Array.from({ length: 50 }, (_, index) => leafOf(index)) }, SCOPE);
  const path = (index: number) => `a${index}.${steps(9)}`;
  const times = (index: number) => ({ ...FIVE_TIMES, in_last_days: index + 1 });

  /** The largest filters of each kind of condition. */
  const LARGEST = {
    texts: fifty((index) => ({ custom_attribute: path(index), ...FIVE, equals: `x${index}` })),
    times: fifty((index) => ({ custom_attribute: path(index), ...times(index) })),
    aliases: fifty((index) => ({ attribute: "alias_label", ...FIVE, equals: `x${index}` })),
    properties: fifty((index) => ({
      event: `e${index}`,
      in_last_days: 30,
      where: { property: path(index), ...times(index) },
    })),
    purchases: fifty((index) => ({
      purchases: `p${index}`,
      first: times(index),
    })),
    money: fifty((index) => ({
      money_spent: "EUR",
      in_last_days: 30,
      at_least: index,
      more_than: index,
      less_than: 90,
      at_most: index,
    })),
  };

  test("compute a value that several conditions test once for each user", {
    skip:
      server.database.commitsInParts === true && "a cluster cannot look at other tables behind it",
  }, async () => {
    const columns = columnsOf("p");
    const value = columns.once("pg_temp.computed(p.n)");
    const users = columns.around("select n from generate_series(1, 3) as n");
    const undone = new Error("Nothing of this stays.");
    const work = server.database.transaction(async (tx) => {
      await tx.query("create temporary sequence computations");
      await tx.query(`create function pg_temp.computed(n int) returns int immutable language plpgsql
        as 'begin perform nextval(''computations''); return n; end'`);
      const found = await tx.query(`select from ${users} where ${value} > 0 and ${value} < 9`);
      assert.equal(found.length, 3);
      const [row] = await tx.query<{ times: unknown }>(
        "select last_value as times from computations",
      );
      assert.equal(Number(row?.times), 3);
      throw undone;
    });
    await assert.rejects(work, undone);
  });

  test("have less than 256 KB of text and 10,000 parameters, however a filter uses its bounds", async () => {
    for (const [kind, filter] of Object.entries(LARGEST)) {
      const sent: { readonly text: number; readonly parameters: number }[] = [];
      const tx = {
        query: async (sql: string, parameters: readonly unknown[] = []) => {
          sent.push({ text: sql.length, parameters: parameters.length });
          return [{ seen: 0, sure: 0, lastId: null, highestChance: null }].slice(sent.length - 1);
        },
      } as unknown as Queryable;
      const portion = { kind: "next", after: BEFORE_ALL, size: 1_000 } as const;
      const look = { tx, workspaceId: 1, portion, now: new Date() };
      const parts = filter.op === "or" ? [filter, filter] : [];
      await countMembersOfEach(look, [filter]);
      await countMembersOfEach(look, parts).catch(() => {});
      await readMembers(look, filter).catch(() => {});
      assert.ok(sent.length >= 4, kind);
      for (const { text, parameters } of sent) {
        assert.ok(text < 262_144 / 2, `${kind}: ${text} characters`);
        assert.ok(parameters < 1_000, `${kind}: ${parameters} parameters`);
      }
    }
  });
});

describe("a segment that was stored before filters had these bounds", () => {
  const ID = "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c11";
  const NEIGHBOUR = "3b1f4c1e-7d0a-4a53-9a53-0d5f0a3f7c12";
  const PLACE = "'filter.custom_attribute' has more than 10 steps.";
  const segment = { name: "Old", filter: EXCESS };
  const neighbour = { name: "Neighbour", filter: { custom_attribute: "plan", equals: "pro" } };

  /** A workspace with one user, such a segment, and another segment. */
  async function withOld(declared = false): Promise<TestWorkspace> {
    const workspace = await server.workspace();
    await succeeds(workspace.track({ attributes: [{ external_id: "ada", plan: "pro" }] }));
    await succeeds(declare(server, workspace, NEIGHBOUR, neighbour));
    await server.database.query(
      `insert into segments (workspace_id, segment_id, name, description, tags, filter, declared, created_at, updated_at)
       select workspace_id, $1, 'Old', '', '{}', $2::text::jsonb, $3, now(), now() from workspaces where name = $4`,
      [ID, JSON.stringify(EXCESS), declared, workspace.name],
    );
    return workspace;
  }

  const at = ({ name }: TestWorkspace, rest: string) => `/admin/v1/workspaces/${name}/${rest}`;

  test("is shown, can be renamed, and is replaced and deleted like every other one", async () => {
    const workspace = await withOld();
    const path = at(workspace, `segments/${ID}`);
    const { filter }: any = await succeeds(server.admin("GET", path));
    assert.deepEqual(filter, EXCESS);
    const details: any = await succeeds(
      workspace.call("GET", `/segments/details?segment_id=${ID}`),
    );
    assert.match(details.description, /^Users who match: a\.a\./);
    await succeeds(declare(server, workspace, ID, { ...segment, name: "Renamed" }));
    const changed = { ...EXCESS, equals: "another" };
    assert.equal(
      (await declare(server, workspace, ID, { name: "Old", filter: changed })).status,
      400,
    );
    await succeeds(declare(server, workspace, ID, { ...segment, filter: neighbour.filter }));
    await succeeds(server.admin("DELETE", path));
  });

  test("applies again from a manifest that has it, exported or not, while a new one is refused", async () => {
    const workspace = await withOld(true);
    const manifest = (filter: object) => ({
      company: { name: "Test" },
      workspaces: [{ name: workspace.name, segments: [{ id: ID, ...segment, filter }] }],
    });
    await succeeds(server.admin("POST", "/admin/v1/apply", manifest(EXCESS)));
    const exported: any = await succeeds(server.admin("GET", at(workspace, "manifest")));
    assert.match(JSON.stringify(exported), new RegExp(steps(64)));
    const refused = await server.admin(
      "POST",
      "/admin/v1/apply",
      manifest({ ...EXCESS, equals: "another" }),
    );
    assert.equal(refused.status, 400);
  });

  test("is refused with 400 and the place wherever it would be counted", async () => {
    const workspace = await withOld();
    const { platform_id: user_id } = await workspace.profile({ external_ids: ["ada"] });
    for (const [what, body] of Object.entries({
      count: { segment_id: ID, parts: true, reach: true },
      users: { segment_id: ID },
      explain: { segment_id: ID, user_id },
    })) {
      const refused = await ask(server, workspace, what, body);
      assert.deepEqual([refused.status, refused.body.message], [400, PLACE], what);
    }
    const exact = { segment_id: ID, exact: true, wait_s: 0 };
    assert.equal((await ask(server, workspace, "count", exact)).status, 400);
    const inside = await ask(server, workspace, "count", { filter: { in_segment: ID } });
    assert.deepEqual(
      [inside.status, inside.body.message],
      [400, "'filter.in_segment.custom_attribute' has more than 10 steps."],
    );
    const series = await workspace.call("GET", `/segments/data_series?segment_id=${ID}&length=1`);
    assert.deepEqual([series.status, series.body.message], [400, PLACE]);
    const exported = await workspace.call("POST", "/users/export/segment", {
      segment_id: ID,
      fields_to_export: ["external_id"],
    });
    assert.deepEqual([exported.status, exported.body.message], [400, PLACE]);
  });

  test("is left out with the reason, and its neighbours are known", async () => {
    const workspace = await withOld();
    const { platform_id } = await workspace.profile({ external_ids: ["ada"] });
    const { body }: Answer<any> = await server.admin(
      "GET",
      at(workspace, `users/${platform_id}/segments`),
    );
    assert.deepEqual(
      body.segments.map(({ id }: any) => id),
      [NEIGHBOUR],
    );
    assert.deepEqual(body.skipped, [{ id: ID, name: "Old", reason: PLACE }]);
    const { segments }: any = await succeeds(server.admin("GET", at(workspace, "segment-sizes")));
    // The size of the neighbour may be recorded already.
    const old = segments.filter(({ id }: any) => id === ID);
    assert.deepEqual(old, [{ id: ID, sizes: [], counted: null, fault: PLACE }]);
  });

  test("is left out of the daily sizes, and a count of it that waits ends as failed with the reason", async () => {
    const workspace = await withOld();
    const id = randomUUID();
    await server.database.query(
      `insert into segment_counts (workspace_id, count_id, segment_id, filter, status, after, total, matching, expected, started_at)
       select workspace_id, $1, $2, $3::text::jsonb, 'running', $4::uuid, 0, 0, 1, now() - interval '1 minute'
       from workspaces where name = $5`,
      [id, ID, JSON.stringify(EXCESS), BEFORE_ALL, workspace.name],
    );
    // Another count makes the job run.
    await ask(server, workspace, "count", { filter: neighbour.filter, exact: true, wait_s: 0 });
    const counts = at(workspace, "segments/counts");
    const read = async () => (await server.admin("GET", `${counts}/${id}`)).body;
    await until(async () => (await read()).status !== "running");
    const { status, failure } = await read();
    assert.deepEqual([status, failure], ["failed", PLACE]);
    const listed: any = await succeeds(server.admin("GET", counts));
    assert.match(listed.counts.at(-1).description, /^Users who match: a\.a\./);
    const [row] = await server.database.query<{ id: number }>(
      "select workspace_id as id from workspaces where name = $1",
      [workspace.name],
    );
    const job = { workspaceId: Number(row?.id), kind: "segment_sizes", subject: "workspace" };
    await server.database.transaction((tx) => enqueue(tx, systemClock, job));
    const sizes = async (): Promise<any[]> =>
      (await server.admin("GET", at(workspace, "segment-sizes"))).body.segments.filter(
        (each: any) => each.sizes.length > 0,
      );
    await until(async () => (await sizes()).length !== 0);
    assert.deepEqual(
      (await sizes()).map(({ id: of, sizes: [day] }: any) => [of, day.size]),
      [[NEIGHBOUR, 1]],
    );
  });
});
