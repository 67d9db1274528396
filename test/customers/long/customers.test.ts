/* What the users of a workspace did: counted at once, and once a day from what is stored (docs/dashboard.md). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { createSettableClock } from "../../../src/core/base/clock.ts";
import { NEWSLETTER, startOwnServer, type TestWorkspace } from "../../harness.ts";
import { until } from "../../until.ts";
import { idOf, recount } from "../recount.ts";

const DAY_MS = 86_400_000;
// In the morning, so that no day begins while a test compares.
const clock = createSettableClock();
clock.set(new Date(`${new Date().toISOString().slice(0, 10)}T08:00:00Z`));
const server = await startOwnServer({ clock });

const daysAgo = (days: number) => new Date(clock.now().getTime() - days * DAY_MS).toISOString();

const customersOf = async (workspace: TestWorkspace, days = 30) => {
  const path = `/admin/v1/workspaces/${workspace.name}/customers?days=${days}`;
  const { status, body } = await server.admin("GET", path);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

const sumOf = (days: readonly number[]) => days.reduce((all, each) => all + each, 0);

/** Waits until the server has written what it counted. */
const whenCounted = (workspace: TestWorkspace, isThere: (body: any) => boolean) =>
  until(async () => {
    const body = await customersOf(workspace, 90);
    return isThere(body) && body;
  }, "the counts");

/** The figures of the last 30 days, counted by hand in SQL, in UTC. */
async function byHand(workspace: TestWorkspace) {
  const id = await idOf(server, workspace);
  const today = Math.floor(clock.now().getTime() / DAY_MS);
  const daily = async (sql: string) => {
    const rows = await server.database.query<{ day: string; seen: number }>(sql, [id]);
    const days = new Array<number>(30).fill(0);
    for (const { day, seen } of rows) {
      const index = Date.parse(day) / DAY_MS - (today - 29);
      if (index >= 0) days[index] = Number(seen);
    }
    return days;
  };
  const dayBefore = (days: number) => daysAgo(days).slice(0, 10);
  const dayOf = (column: string) => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD')`;
  const active = `select profile_id, occurred_at from events where workspace_id = $1
    union all select profile_id, occurred_at from purchases where workspace_id = $1`;
  const one = async (sql: string) => (await server.database.query<any>(sql, [id]))[0].seen;
  return {
    users: Number(await one("select count(*)::int as seen from profiles where workspace_id = $1")),
    created: await daily(
      `select ${dayOf("created_at")} as day, count(*)::int as seen from profiles where workspace_id = $1 group by 1`,
    ),
    events: await daily(
      `select ${dayOf("occurred_at")} as day, count(*)::int as seen from events where workspace_id = $1 group by 1`,
    ),
    daily: await daily(
      `select ${dayOf("occurred_at")} as day, count(distinct profile_id)::int as seen from (${active}) a group by 1`,
    ),
    monthly: Number(
      await one(
        `select count(distinct profile_id)::int as seen from (${active}) a
         where occurred_at at time zone 'UTC' >= '${dayBefore(29)}'::date`,
      ),
    ),
    weekly: Number(
      await one(
        `select count(distinct profile_id)::int as seen from (${active}) a
         where occurred_at at time zone 'UTC' >= '${dayBefore(6)}'::date`,
      ),
    ),
    revenue: String(
      await one(
        `select coalesce(sum(price * quantity), 0)::text as seen from purchases
         where workspace_id = $1 and currency = 'EUR'
           and occurred_at at time zone 'UTC' >= '${dayBefore(29)}'::date`,
      ),
    ),
    subscribed: Number(
      await one(
        `select count(*)::int as seen from group_states where workspace_id = $1 and group_id = '${NEWSLETTER}' and state = 'subscribed'`,
      ),
    ),
    optOuts: Number(
      await one(
        `select count(*)::int as seen from group_state_changes where workspace_id = $1 and group_id = '${NEWSLETTER}' and state = 'unsubscribed'`,
      ),
    ),
    withEmail: Number(
      await one(
        "select count(*)::int as seen from profiles where workspace_id = $1 and email is not null",
      ),
    ),
    unsubscribedEmails: Number(
      await one(
        "select count(*)::int as seen from email_states where workspace_id = $1 and state = 'unsubscribed'",
      ),
    ),
    top: (
      await server.database.query<{ name: string; count: number; before: number }>(
        `select name, count(*) filter (where is_now)::int as count, count(*) filter (where not is_now)::int as before
         from (select name, occurred_at at time zone 'UTC' >= '${dayBefore(29)}'::date as is_now
           from events where workspace_id = $1
             and occurred_at at time zone 'UTC' >= '${dayBefore(59)}'::date) e
         group by name having count(*) filter (where is_now) > 0 order by 2 desc, 1 limit 10`,
        [id],
      )
    ).map(({ name, count, before }) => ({ name, count: Number(count), before: Number(before) })),
  };
}

/** The same figures as the overview has them. */
async function shown(workspace: TestWorkspace) {
  const body = await customersOf(workspace);
  const [newsletter] = body.groups.filter(({ id }: any) => id === NEWSLETTER);
  const sum = (days: readonly number[]) => days.reduce((all, each) => all + each, 0);
  return {
    users: body.users.total,
    created: body.users.new.days,
    events: body.events.days,
    daily: body.active_users.daily.days,
    monthly: body.active_users.monthly.days.at(-1),
    weekly: body.active_users.weekly.days.at(-1),
    revenue: String(
      body.revenue
        .filter(({ currency }: any) => currency === "EUR")
        .flatMap(({ days }: any) => days.map((amount: string) => Math.round(Number(amount) * 100)))
        .reduce((all: number, each: number) => all + each, 0) / 100,
    ),
    subscribed: newsletter.subscribed,
    optOuts: sum(newsletter.opt_outs.days),
    withEmail: body.email.users,
    unsubscribedEmails: body.email.unsubscribed,
    top: body.top_events,
  };
}

/** Active users follow the counts of the same write a moment later. */
async function assertAsByHand(workspace: TestWorkspace, when: string): Promise<void> {
  const hand = await byHand(workspace);
  const expected = { ...hand, revenue: String(Number(hand.revenue)) };
  // Of 40 users two have the same place in a sketch in one run of eighty, and then count as one.
  const mend = (seen: number, counted: number) => (seen === counted - 1 ? counted : seen);
  const found = async () => {
    const { daily, weekly, monthly, ...others } = await shown(workspace);
    const days = daily.map((seen: number, day: number) => mend(seen, hand.daily[day] as number));
    const [week, month] = [mend(weekly, hand.weekly), mend(monthly, hand.monthly)];
    return { ...others, daily: days, weekly: week, monthly: month };
  };
  await until(async () => isDeepStrictEqual(await found(), expected)).catch(() => {});
  assert.deepEqual(await found(), expected, when);
}

const user = (number: number) => ({ external_id: `user-${number}` });

/** Users who do this and that, today and on other days. */
async function fill(workspace: TestWorkspace): Promise<void> {
  const numbers = Array.from({ length: 40 }, (_, number) => number);
  const { status } = await workspace.track({
    attributes: numbers.map((number) => ({
      ...user(number),
      ...(number % 2 === 0 && { email: `user-${number}@example.com` }),
      ...(number % 10 === 0 && { email_subscribe: "unsubscribed" }),
      subscription_groups: [
        { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
      ],
    })),
  });
  assert.equal(status, 201);
  for (const days of [0, 0, 3, 8, 20, 31, 45, 100]) {
    const { body } = await workspace.track({
      events: numbers
        .filter((number) => (number + days) % 3 > 0)
        .map((number) => ({
          ...user(number),
          name: days % 2 ? "opened" : "closed",
          time: daysAgo(days),
        })),
      purchases: numbers
        .filter((number) => number % 7 === 0)
        .map((number) => ({
          ...user(number),
          product_id: `product-${number}`,
          currency: number % 2 === 0 ? "EUR" : "USD",
          price: 0.1 + number,
          quantity: 3,
          time: daysAgo(days),
        })),
    });
    assert.equal(body.message, "success", JSON.stringify(body));
  }
  const { status: set } = await workspace.call("POST", "/subscription/status/set", {
    subscription_group_id: NEWSLETTER,
    subscription_state: "unsubscribed",
    external_id: numbers.slice(0, 5).map((number) => user(number).external_id),
  });
  assert.equal(set, 201);
}

const isFilled = (body: any) =>
  body.users.total === 40 &&
  body.groups.some((group: any) => group.id === NEWSLETTER && group.unsubscribed === 5) &&
  body.email.unsubscribed === 4;

describe("the overview of customers", () => {
  test("every figure equals the one counted by hand: at once, after a recount, late events, merges, erasures and an upgrade", async () => {
    const workspace = await server.workspace({ settings: { track_max_updates: 500 } });
    await fill(workspace);
    await whenCounted(workspace, isFilled);
    await assertAsByHand(workspace, "at once");

    await recount(server, clock, workspace);
    assert.equal((await customersOf(workspace)).complete, true);
    await assertAsByHand(workspace, "after a recount");

    const late = { ...user(1), name: "late", time: daysAgo(12) };
    await workspace.track({
      events: [late, { ...late, ...user(2) }, { ...user(0), name: "late", time: daysAgo(0) }],
    });
    await whenCounted(workspace, (body) =>
      body.top_events.some(({ name, count }: any) => name === "late" && count === 3),
    );
    await assertAsByHand(workspace, "after late events");

    const merged = await workspace.call("POST", "/users/merge", {
      merge_updates: [{ identifier_to_merge: user(3), identifier_to_keep: user(4) }],
    });
    assert.equal(merged.status, 202, JSON.stringify(merged.body));
    await workspace.call("POST", "/users/delete", { external_ids: ["user-6", "user-7"] });
    await recount(server, clock, workspace);
    await assertAsByHand(workspace, "after a merge and erasures");

    // As after an upgrade from a version that did not count.
    const id = await idOf(server, workspace);
    for (const table of ["counts", "days", "activity", "recounts"]) {
      await server.database.query(`delete from customer_${table} where workspace_id = $1`, [id]);
    }
    await until(
      async () =>
        (
          await server.database.query("select 1 from customer_recounts where workspace_id = $1", [
            id,
          ])
        ).length > 0,
    );
    assert.equal((await customersOf(workspace)).complete, false);
    await recount(server, clock, workspace);
    await assertAsByHand(workspace, "after an upgrade");
  });

  test("days begin in the time zone of the workspace, and a change of the zone counts them anew", async () => {
    const workspace = await server.workspace({ settings: { time_zone: "Pacific/Kiritimati" } });
    // In Kiritimati, fourteen hours ahead of UTC, the next day has begun.
    const noon = `${daysAgo(3).slice(0, 10)}T12:00:00.000Z`;
    await until(async () => (await customersOf(workspace)).time_zone === "Pacific/Kiritimati");
    await workspace.track({ events: [{ ...user(1), name: "opened", time: noon }] });
    const counted = await whenCounted(workspace, (body) => body.events.days.some(Boolean));
    const dayOf = (body: any) => body.days[body.events.days.findIndex((seen: number) => seen > 0)];
    assert.equal(dayOf(counted), daysAgo(2).slice(0, 10));

    await server.admin("PATCH", `/admin/v1/workspaces/${workspace.name}/settings`, {
      time_zone: "UTC",
    });
    await until(async () => (await customersOf(workspace)).time_zone === "UTC");
    await recount(server, clock, workspace);
    assert.equal(dayOf(await customersOf(workspace, 90)), daysAgo(3).slice(0, 10));
  });

  test("a zone that only another server knows stops no write, and days begin in UTC here", async () => {
    const workspace = await server.workspace();
    const unknown = JSON.stringify({ time_zone: "Mars/Olympus_Mons" });
    await server.database.query(
      "update workspaces set settings = settings || $2::text::jsonb where workspace_id = $1",
      [await idOf(server, workspace), unknown],
    );
    await until(async () => (await customersOf(workspace)).time_zone === "Mars/Olympus_Mons");
    const sent = { events: [{ ...user(1), name: "opened", time: daysAgo(0) }] };
    const { status, body } = await workspace.track(sent);
    assert.equal(status, 201, JSON.stringify(body));
    await whenCounted(workspace, ({ events }) => events.days.at(-1) === 1);
    await server.database.query(
      "update workspaces set settings = settings - 'time_zone' where workspace_id = $1",
      [await idOf(server, workspace)],
    );
  });

  test("a recount keeps the counts of days whose events retention has deleted", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      events: [20, 1].map((days) => ({ ...user(1), name: "opened", time: daysAgo(days) })),
    });
    await whenCounted(workspace, (body) => body.top_events.some(({ count }: any) => count === 2));
    await recount(server, clock, workspace);
    await server.admin("PATCH", `/admin/v1/workspaces/${workspace.name}/settings`, {
      keep_events_days: 10,
    });
    await server.database.query("delete from events where workspace_id = $1 and occurred_at < $2", [
      await idOf(server, workspace),
      daysAgo(10),
    ]);
    await recount(server, clock, workspace);
    const { top_events, active_users } = await customersOf(workspace);
    assert.deepEqual(top_events, [{ name: "opened", count: 2, before: 0 }]);
    assert.deepEqual(active_users.daily.days.filter(Boolean), [1, 1]);
  });

  test("an event has its count of each day and of the period before, and the events that grew most come first", async () => {
    const workspace = await server.workspace();
    const times = {
      steady: [1, 2, 3, 31, 32],
      grew: [0, 0, 1, 29, 40],
      new: [5],
      shrank: [4, 33, 34],
    };
    await workspace.track({
      events: Object.entries(times).flatMap(([name, days]) =>
        days.map((day) => ({ ...user(day), name, time: daysAgo(day) })),
      ),
    });
    const { growing_events } = await whenCounted(workspace, (body) => sumOf(body.events.days) > 13);
    assert.equal(growing_events.length, 4, "in 90 days nothing was before");
    assert.deepEqual((await customersOf(workspace)).growing_events, [
      { name: "grew", count: 4, before: 1 },
      { name: "new", count: 1, before: 0 },
      { name: "steady", count: 3, before: 2 },
    ]);
    const path = `/admin/v1/workspaces/${workspace.name}/customers/event`;
    const { body } = await server.admin("GET", `${path}?event=grew&days=30`);
    const expected = new Array<number>(30).fill(0);
    [expected[29], expected[28], expected[0]] = [2, 1, 1];
    assert.deepEqual(body.events, { days: expected, before: 1 });
    assert.deepEqual([body.time_zone, body.days.at(-1)], ["UTC", daysAgo(0).slice(0, 10)]);
    const never = await server.admin("GET", `${path}?event=never&days=7`);
    assert.deepEqual(never.body.events, { days: new Array(7).fill(0), before: 0 });
    for (const query of ["", "?event=", "?event=grew&days=8"]) {
      assert.equal((await server.admin("GET", path + query)).status, 400, query);
    }
  });

  test("a reset empties it, with what is not written yet", async () => {
    const workspace = await server.workspace();
    await workspace.track({ events: [{ ...user(1), name: "opened", time: daysAgo(1) }] });
    await whenCounted(workspace, (body) => body.users.total === 1);
    await workspace.track({ events: [{ ...user(2), name: "opened", time: daysAgo(1) }] });
    const reset = await server.admin("POST", `/admin/v1/workspaces/${workspace.name}/reset`);
    assert.equal(reset.status, 200, JSON.stringify(reset.body));
    await workspace.track({ events: [{ ...user(3), name: "closed", time: daysAgo(1) }] });
    const { top_events } = await whenCounted(workspace, (body) => body.users.total > 0);
    assert.deepEqual(top_events, [{ name: "closed", count: 1, before: 0 }]);
  });

  test("a period is 7, 30 or 90 days, and one that is none of these is refused", async () => {
    const workspace = await server.workspace();
    for (const days of [7, 30, 90]) {
      const body = await customersOf(workspace, days);
      assert.deepEqual([body.days.length, body.days.at(-1)], [days, daysAgo(0).slice(0, 10)]);
    }
    const path = `/admin/v1/workspaces/${workspace.name}/customers`;
    for (const days of ["31", "0", "x"]) {
      assert.equal((await server.admin("GET", `${path}?days=${days}`)).status, 400);
    }
  });

  test("a time zone is the name of one", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/settings`;
    for (const time_zone of ["Berlin", "+01:00", "", "Europe/Berlin ", 1]) {
      const { status, body } = await server.admin("PATCH", path, { time_zone });
      assert.equal(status, 400, JSON.stringify(body));
      assert.match(body.message, /time_zone/);
    }
    assert.equal((await server.admin("PATCH", path, { time_zone: "Europe/Berlin" })).status, 200);
  });
});
