/*
 * Which of the users who share an address is the most recently updated, after a group state is set for all of them.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { NEWSLETTER, startServer, type TestWorkspace } from "../../../harness.ts";

const server = await startServer();
const EMAIL = "shared@acme.example";
const user_alias = { alias_label: "device", alias_name: "a" };
const group = [{ subscription_group_id: NEWSLETTER, subscription_state: "subscribed" }];

const v2 = (names: object) => ({ ...group[0], ...names });

const SETS: Readonly<Record<string, (workspace: TestWorkspace) => Promise<{ status: number }>>> = {
  "track by alias": (workspace) =>
    workspace.track({ attributes: [{ user_alias, subscription_groups: group }] }),
  "track by the external_id of the least recently updated": (workspace) =>
    workspace.track({ attributes: [{ external_id: "w", subscription_groups: group }] }),
  "version 2 by external_id": (workspace) =>
    workspace.call("POST", "/v2/subscription/status/set", {
      subscription_groups: [v2({ external_ids: ["w"] })],
    }),
  "version 1 by external_id": (workspace) =>
    workspace.call("POST", "/subscription/status/set", {
      ...group[0],
      external_id: ["w"],
    }),
  "version 2 by email": (workspace) =>
    workspace.call("POST", "/v2/subscription/status/set", {
      subscription_groups: [v2({ emails: [EMAIL] })],
    }),
};

describe("users who share an address keep the order of their updates", () => {
  for (const [way, set] of Object.entries(SETS)) {
    test(`a group state set through ${way} keeps the order of the other sharers`, async () => {
      const workspace = await server.workspace();
      for (const external_id of ["w", "x", "y"]) {
        await workspace.track({ attributes: [{ external_id, email: EMAIL }] });
      }
      await workspace.track({
        attributes: [{ user_alias, email: EMAIL, _update_existing_only: false }],
      });
      await workspace.track({
        events: [{ external_id: "x", name: "e", time: "2026-01-01T00:00:00Z" }],
      });
      assert.ok((await set(workspace)).status < 300);
      // A named user becomes the most recently updated; among the others it is x.
      const named = way.includes("external_id") ? "w" : "x";
      await workspace.track({ attributes: [{ email: EMAIL, hit: 1 }] });
      const users = await workspace.profiles({ email_address: EMAIL });
      const hit = users.filter((each) => each.custom_attributes?.hit === 1);
      assert.deepEqual(
        hit.map((each) => each.external_id),
        [named],
      );
      if (named !== "w") return;
      await workspace.call("POST", "/users/delete", { external_ids: ["w"] });
      await workspace.track({ attributes: [{ email: EMAIL, hit: 2 }] });
      const left = await workspace.profiles({ email_address: EMAIL });
      assert.deepEqual(
        left.filter((each) => each.custom_attributes?.hit === 2).map((each) => each.external_id),
        ["x"],
      );
    });
  }

  test("a group state that comes with the address for a user keeps the order of those who had it", async () => {
    const workspace = await server.workspace();
    for (const external_id of ["x", "y"]) {
      await workspace.track({ attributes: [{ external_id, email: EMAIL }] });
    }
    await workspace.track({
      events: [{ external_id: "x", name: "e", time: "2026-01-01T00:00:00Z" }],
    });
    await workspace.track({
      attributes: [{ external_id: "z", email: EMAIL, subscription_groups: group }],
    });
    await workspace.call("POST", "/users/delete", { external_ids: ["z"] });
    await workspace.track({ attributes: [{ email: EMAIL, hit: 1 }] });
    const users = await workspace.profiles({ email_address: EMAIL });
    assert.deepEqual(
      users.filter((each) => each.custom_attributes?.hit === 1).map((each) => each.external_id),
      ["x"],
    );
  });
});
