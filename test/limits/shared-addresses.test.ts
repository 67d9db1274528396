/*
 * Calls that reach all users of one address take time in proportion to their number. Each is measured with some thousand
 * users, and with twice as many: the second takes about twice the processor time, and in neither does the event loop
 * stall. `npm run attack 40,000` measures the same with 40,000 users.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { NEWSLETTER, startOwnServer, type TestWorkspace } from "../harness.ts";
import { sized } from "../sizes.ts";
import { duringAttack } from "./event-loop-delay.ts";

const USERS = sized(3_000, 10_000);

/** Linear work takes twice as long, quadratic work four times. */
const MOST_GROWTH = 3;

const LONGEST_DELAY_MS = 100;

const TRIES = 5;

const server = await startOwnServer();

const EMAIL = "shared@example.com";

async function workspaceWith(
  users: number,
  more: Record<string, unknown> = {},
): Promise<TestWorkspace> {
  const workspace = await server.workspace(more);
  for (let from = 0; from < users; from += 1_000) {
    const rows = Array.from({ length: Math.min(1_000, users - from) }, (_, index) => ({
      external_id: `user-${from + index}`,
      email: EMAIL,
      custom_attributes: { note: "x".repeat(200) },
    }));
    const body = { kind: "users", first_row: from + 1, rows };
    const path = `/admin/v1/workspaces/${workspace.name}/imports/shared`;
    const { status, body: answer } = await server.admin("POST", path, body);
    assert.deepEqual([status, answer.imported], [200, rows.length]);
  }
  return workspace;
}

const few = await workspaceWith(USERS);
const many = await workspaceWith(2 * USERS);
const beside = await server.workspace();

/** Alternates the value, so that every call changes something. */
let turn = 0;

const CALLS = {
  emailStatus: (workspace: TestWorkspace) =>
    workspace.call("POST", "/email/status", {
      email: EMAIL,
      subscription_state: ["unsubscribed", "subscribed"][turn++ % 2],
    }),
  setByEmail: (workspace: TestWorkspace) =>
    workspace.call("POST", "/v2/subscription/status/set", {
      subscription_groups: [
        {
          subscription_group_id: NEWSLETTER,
          subscription_state: ["subscribed", "unsubscribed"][turn++ % 2],
          emails: [EMAIL],
        },
      ],
    }),
  trackByEmail: (workspace: TestWorkspace) =>
    workspace.track({
      events: [{ email: EMAIL, name: "came", time: "2026-01-01T00:00:00Z" }],
    }),
  setOfOne: (workspace: TestWorkspace) =>
    workspace.call("POST", "/v2/subscription/status/set", {
      subscription_groups: [
        {
          subscription_group_id: NEWSLETTER,
          subscription_state: ["subscribed", "unsubscribed"][turn++ % 2],
          external_ids: ["user-1"],
        },
      ],
    }),
};

async function processorMs(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const besides = {
  url: server.url,
  legitimate: async () =>
    (await beside.track({ attributes: [{ external_id: "other", first_name: "O" }] })).status,
};

/** One call beside the same load of others, whose processor time is part of it. */
async function besideOthers(call: () => Promise<{ status: number }>) {
  let ms = 0;
  const { worstDelayMs, refused } = await duringAttack(besides, async () => {
    ms = await processorMs(async () => assert.ok((await call()).status < 300));
  });
  assert.equal(refused, 0);
  return { ms, worstDelayMs };
}

async function assertLinear(call: (workspace: TestWorkspace) => Promise<{ status: number }>) {
  const seen: string[] = [];
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const once = await besideOthers(() => call(few));
    const twice = await besideOthers(() => call(many));
    if (twice.ms < MOST_GROWTH * once.ms && twice.worstDelayMs < LONGEST_DELAY_MS) return;
    seen.push(
      `${Math.round(once.ms)} and ${Math.round(twice.ms)} ms, stalled ${twice.worstDelayMs} ms`,
    );
  }
  assert.fail(`${USERS} and ${2 * USERS} users: ${seen.join("; ")}`);
}

test("/email/status takes linear time in the users of an address, and lets others through", () =>
  assertLinear(CALLS.emailStatus));

test("a subscription set by email takes linear time in the users of an address, and lets others through", () =>
  assertLinear(CALLS.setByEmail));

test("a track request by email takes linear time in the users of an address, and lets others through", () =>
  assertLinear(CALLS.trackByEmail));

test("a subscription set of one user takes linear time in the users of the address, and lets others through", () =>
  assertLinear(CALLS.setOfOne));

describe("groups of users who share an address", () => {
  /** States that one request may set. */
  const MOST = 50_000;
  const GROUPS = Math.ceil(MOST / USERS) + 1;
  const ids = Array.from({ length: GROUPS }, () => randomUUID());
  const declared = ids.map((id, index) => ({ id, name: `Group ${index}`, channel: "email" }));
  const statesOf = (of: readonly string[], subscription_state = "subscribed") =>
    of.map((subscription_group_id) => ({ subscription_group_id, subscription_state }));
  const set = (workspace: TestWorkspace, times: number) =>
    workspace.call("POST", "/v2/subscription/status/set", {
      subscription_groups: Array.from({ length: times }, () => ({
        subscription_group_id: NEWSLETTER,
        subscription_state: "subscribed",
        emails: [EMAIL],
      })),
    });

  test("an object with more groups than its users allow is refused, its neighbours are applied, and others go on", async () => {
    const workspace = await workspaceWith(USERS, { subscription_groups: declared });
    const { worstDelayMs, refused } = await duringAttack(besides, async () => {
      const { status, body } = await workspace.track({
        attributes: [
          { external_id: "user-1", seen: 1, subscription_groups: statesOf(ids) },
          { external_id: "user-2", seen: 2, subscription_groups: statesOf(ids.slice(0, 2)) },
        ],
      });
      assert.equal(status, 201);
      const faults = body.errors?.map(({ index, code }: any) => [index, code]);
      assert.deepEqual(faults, [[0, "WORK_LIMIT_EXCEEDED"]]);
    });
    assert.deepEqual([refused, worstDelayMs < 1_000], [0, true], `${worstDelayMs} ms`);
    const [first, second] = await workspace.profiles({ external_ids: ["user-1", "user-2"] });
    for (const { external_id, custom_attributes, subscription_groups } of [
      first,
      second,
    ] as any[]) {
      assert.equal(custom_attributes.seen, external_id === "user-2" ? 2 : undefined);
      assert.equal(subscription_groups.length, 2, external_id);
    }
  });

  test("a request that sets more states than one may is refused, and two that together do are both done", async () => {
    const times = Math.floor(MOST / (2 * USERS));
    const { status, body } = await set(many, times + 1);
    assert.deepEqual([status, body.code], [400, "WORK_LIMIT_EXCEEDED"]);
    const answers = await Promise.all([set(many, times), set(many, times)]);
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [201, 201],
    );
  });

  test("an import of more states than a request may set is done in parts", async () => {
    const count = Math.ceil(MOST / (2 * USERS)) + 1;
    const rows = Array.from({ length: count }, (_, index) => ({
      email: EMAIL,
      subscription_group_id: NEWSLETTER,
      subscription_state: index < count - 1 ? "unsubscribed" : "subscribed",
    }));
    const path = `/admin/v1/workspaces/${many.name}/imports/${randomUUID()}`;
    const { status, body } = await server.admin("POST", path, {
      kind: "subscriptions",
      first_row: 1,
      rows,
    });
    assert.deepEqual([status, body.imported], [200, count], JSON.stringify(body));
    const user = await many.profile({ external_ids: ["user-7"] });
    assert.equal(user.subscription_groups[0].status, "subscribed");
  });
});
