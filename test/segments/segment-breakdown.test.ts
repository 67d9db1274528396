/* Further results of a count (docs/segments.md, Count). */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createCountSlots } from "../../src/features/segments/count-exactly.ts";
import { NEWSLETTER, startServer, WEB_APP } from "../harness.ts";
import { ask, succeeds } from "../segment-calls.ts";

const server = await startServer();

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

const subscribed = [{ subscription_group_id: NEWSLETTER, subscription_state: "subscribed" }];

describe("the count of a segment", () => {
  test("each part of a filter is counted alone and together with those before it", async () => {
    const workspace = await server.workspace();
    await succeeds(
      workspace.track({
        attributes: [
          { external_id: "a", plan: "pro", email: "a@example.com" },
          { external_id: "b", plan: "pro" },
          { external_id: "c", plan: "free", email: "c@example.com" },
          {
            external_id: "d",
            plan: "pro",
            email: "d@example.com",
            email_subscribe: "unsubscribed",
          },
        ],
      }),
    );
    const parts = [{ custom_attribute: "plan", equals: "pro" }, { email_available: true }];
    const figuresOf = ({ body }: { body: any }) =>
      body.parts.map((part: any) => [part.condition, part.alone.matching, part.together.matching]);
    assert.deepEqual(
      figuresOf(await ask(server, workspace, "count", { filter: { all: parts }, parts: true })),
      [
        ['plan is "pro"', 3, 3],
        ["can receive email", 2, 1],
      ],
    );
    const any = await ask(server, workspace, "count", { filter: { any: parts }, parts: true });
    assert.deepEqual(figuresOf(any).at(-1), ["can receive email", 2, 4]);
    const one = await ask(server, workspace, "count", { filter: parts[0], parts: true });
    assert.deepEqual(figuresOf(one), [['plan is "pro"', 3, 3]]);
    const plain = await ask(server, workspace, "count", { filter: parts[0] });
    assert.deepEqual([plain.body.parts, plain.body.reach], [undefined, undefined]);
  });

  test("it tells who can be reached by email, by push, and in each subscription group", async () => {
    const workspace = await server.workspace();
    const push_tokens = [{ app_id: WEB_APP, token: "t" }];
    await succeeds(
      workspace.track({
        attributes: [
          { external_id: "a", plan: 1, email: "a@example.com", subscription_groups: subscribed },
          { external_id: "b", plan: 1, subscription_groups: subscribed, push_tokens },
          { external_id: "c", plan: 1, push_subscribe: "unsubscribed", push_tokens },
          { external_id: "d", email: "d@example.com", subscription_groups: subscribed },
        ],
      }),
    );
    const filter = { custom_attribute: "plan", exists: true };
    const { body } = await ask(server, workspace, "count", { filter, reach: true });
    const reach = new Map(
      body.reach.map((each: any) => [each.subscription_group_id ?? each.channel, each.matching]),
    );
    assert.deepEqual(
      [body.matching, reach.get("email"), reach.get("push"), reach.get(NEWSLETTER)],
      [3, 1, 1, 1],
    );
  });

  test("a filter that reads rows which retention deletes is answered with since when they are kept", async () => {
    const workspace = await server.workspace({
      settings: { keep_events_days: 20, keep_purchases_days: 0 },
    });
    const sinceOf = async (filter: unknown) =>
      (await ask(server, workspace, "count", { filter })).body.counts_since;
    const since = await sinceOf({ any: [{ event: "opened", in_last_days: 7 }] });
    assert.ok(Math.abs(Date.parse(since.events) - Date.parse(daysAgo(20))) < 60_000);
    assert.equal(await sinceOf({ event: "opened" }), undefined);
    assert.equal(await sinceOf({ purchases: "any", in_last_days: 7 }), undefined);
  });
});

test("few exact counts run within requests at a time: two of a workspace and four of a process", () => {
  const slots = createCountSlots();
  const taken = ["a", "a", "b", "b"].map((name) => slots.take(name));
  assert.ok(taken.every((give) => give !== undefined));
  assert.equal(slots.take("c"), undefined);
  taken[0]?.();
  assert.equal(slots.take("b"), undefined);
  assert.ok(slots.take("a"));
});
