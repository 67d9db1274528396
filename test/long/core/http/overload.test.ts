/* More than the server can hold is refused, and never lost or half applied: docs/decisions/overload.md */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startOwnServer } from "../../../harness.ts";

test("track requests beyond the write queue get 429 with Retry-After, and accepted ones are fully applied", async () => {
  const server = await startOwnServer();
  const workspace = await server.workspace({
    settings: { track_max_updates: 1_000, rate_limits: { "users.track": "off" } },
  });
  const users = Array.from({ length: 100 }, (_, index) => `user-${index}`);
  const answers = await Promise.all(
    users.map((external_id) => {
      const event = { external_id, name: "opened", time: "2026-01-01T12:00:00Z" };
      return workspace.track({ events: Array(1_000).fill(event) });
    }),
  );
  const refused = answers.filter((answer) => answer.status === 429);
  assert.ok(refused.length > 0);
  for (const { headers, body } of refused) {
    assert.match(headers.get("retry-after") ?? "", /^[1-9]\d*$/);
    assert.equal(body.message, "The write queue is full. Try again later.");
  }
  const found = (
    await Promise.all([
      workspace.profiles({ external_ids: users.slice(0, 50) }),
      workspace.profiles({ external_ids: users.slice(50) }),
    ])
  ).flat();
  const counts = new Map(found.map((each) => [each.external_id, each.custom_events[0].count]));
  for (const [index, { status }] of answers.entries()) {
    assert.equal(counts.get(users[index] ?? ""), status === 201 ? 1_000 : undefined);
  }
  const again = await workspace.track({
    events: [{ external_id: "later", name: "opened", time: "2026-01-01T12:00:00Z" }],
  });
  assert.equal(again.status, 201);
});
