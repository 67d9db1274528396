/*
 * Writers order themselves before they read: the transactions that a server rolls back because of
 * another one, as its metrics count them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { id, merge } from "../../../../core/people/identity/identity-calls.ts";
import { freePort } from "../../../../free-port.ts";
import { ALERTS, startOwnServer } from "../../../../harness.ts";

const metricsPort = await freePort();
const server = await startOwnServer({ metricsPort });

/** How many transactions were rolled back because of another one, and run again. */
async function aborted(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const [, count] = /_transactions_total\{use="intake",end="aborted"\} (\d+)/.exec(text) ?? [];
  return Number(count ?? 0);
}

const skip = Boolean(process.env.TEST_CITUS_WORKERS) && "writers on a cluster do not wait in order";

test("merges, subscription sets and updates of the same users through one server roll back no transaction", {
  skip,
}, async () => {
  const workspace = await server.workspace({
    subscription_groups: [{ id: ALERTS, name: "Alerts", channel: "email" }],
    settings: { rate_limits: { "users.track": "off", "users.merge": "off" } },
  });
  const users = Array.from({ length: 200 }, (_, index) => id(`user ${index}`));
  for (let first = 0; first < users.length; first += 50) {
    await workspace.track({ attributes: users.slice(first, first + 50) });
  }
  const before = await aborted();
  const update = (from: number) =>
    workspace.track({
      attributes: users
        .slice(from, from + 50)
        .map((user) => ({ ...user, score: from, _update_existing_only: true })),
    });
  const set = (from: number) =>
    workspace.call("POST", "/v2/subscription/status/set", {
      subscription_groups: [
        {
          subscription_group_id: ALERTS,
          subscription_state: from % 20 === 0 ? "subscribed" : "unsubscribed",
          external_ids: users.slice(from, from + 50).map(({ external_id }) => external_id),
        },
      ],
    });
  // A few at a time: a machine with other work takes longer, and none may wait for seconds.
  for (let first = 0; first < 100; first += 10) {
    const rounds = Array.from({ length: 10 }, (_, index) => first + index);
    const answers = await Promise.all(
      rounds.flatMap((index) => [
        merge(workspace, [[users[2 * index] ?? {}, users[2 * index + 1] ?? {}]]),
        update((index * 30) % 150),
        set((index * 50) % 150),
      ]),
    );
    for (const { status } of answers) assert.ok(status < 300, String(status));
  }
  assert.equal(await aborted(), before);
});
