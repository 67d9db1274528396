/* The meaning of null in a request: docs/decisions/null-is-absent.md */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ALERTS, startServer } from "../../harness.ts";

const server = await startServer();
const workspace = await server.workspace();

describe("a request whose switch or choice is null is refused", () => {
  const identify = { aliases_to_identify: [] };
  const set = { subscription_group_id: ALERTS, subscription_state: "subscribed" };
  const requests: [path: string, body: object, name: string][] = [
    ["/users/alias/new", { user_aliases: [{}], dry_run: null }, "dry_run"],
    ["/users/alias/update", { alias_updates: [{}], dry_run: null }, "dry_run"],
    ["/users/identify", { ...identify, dry_run: null }, "dry_run"],
    ["/users/identify", { ...identify, merge_behavior: null }, "merge_behavior"],
    ["/users/merge", { merge_updates: [], dry_run: null }, "dry_run"],
    ["/users/delete", { external_ids: ["ada"], dry_run: null }, "dry_run"],
    ["/email/status", { email: "a@example.com", subscription_state: null }, "subscription_state"],
    [
      "/subscription/status/set",
      { ...set, external_id: "ada", subscription_state: null },
      "subscription_state",
    ],
    [
      "/subscription/status/set",
      { ...set, external_id: "ada", use_double_opt_in_logic: null },
      "use_double_opt_in_logic",
    ],
    [
      "/v2/subscription/status/set",
      {
        subscription_groups: [{ ...set, external_ids: ["ada"], use_double_opt_in_logic: null }],
      },
      "use_double_opt_in_logic",
    ],
  ];
  for (const [path, body, name] of requests) {
    test(`POST ${path} refuses null for ${name}`, async () => {
      const answer = await workspace.call("POST", path, body);
      assert.equal(answer.status, 400);
      assert.match(String(answer.body.message), new RegExp(name));
    });
  }
});

test("a null flag of a track item is treated as absent", async () => {
  const answer = await workspace.track({
    attributes: [{ external_id: "null-switch", _update_existing_only: null, seen: true }],
  });
  assert.equal(answer.status, 201);
  assert.equal(answer.body.attributes_processed, 1);
});
