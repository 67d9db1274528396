/* Users whose external_id the workspace blocks. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ItemNote, startServer, type TestWorkspace } from "../../harness.ts";
import { attributes, event, purchase, TIME } from "./track-objects.ts";

const server = await startServer();

const placesOf = (notes: readonly ItemNote[] | undefined) =>
  notes?.map((note) => [note.input_array, note.index, note.code]);

const profilesOf = (workspace: TestWorkspace, ...external_ids: string[]) =>
  workspace.profiles({ external_ids });

describe("a blocked external_id", () => {
  test("a track object with a blocked external_id is refused in every array; all other objects are processed", async () => {
    const workspace = await server.workspace({
      settings: { blocked_external_ids: ["dummy-user", "0", "dummy@example.com"] },
    });
    const answer = await workspace.track({
      attributes: [attributes("dummy-user"), attributes("ada"), { external_id: 0 }],
      events: [event("dummy-user")],
      purchases: [
        purchase("dummy-user"),
        purchase("DUMMY-USER"),
        // No address is an external_id.
        { ...purchase("x"), external_id: undefined, email: "dummy@example.com" },
      ],
    });
    assert.equal(answer.status, 201);
    assert.deepEqual(placesOf(answer.body.errors), [
      ["attributes", 0, "BLACKLISTED_EXTERNAL_USER_ID"],
      ["attributes", 2, "BLACKLISTED_EXTERNAL_USER_ID"],
      ["events", 0, "BLACKLISTED_EXTERNAL_USER_ID"],
      ["purchases", 0, "BLACKLISTED_EXTERNAL_USER_ID"],
    ]);
    assert.match(answer.body.errors?.[0]?.message ?? "", /external_id is blocked/);
    const found = await profilesOf(workspace, "dummy-user", "0", "ada", "DUMMY-USER");
    assert.deepEqual(found.map((each) => each.external_id).sort(), ["DUMMY-USER", "ada"]);
  });
});

describe("a user whose external_id is blocked", () => {
  test("a user with a blocked external_id cannot be updated through an email, an alias or a platform_id", async () => {
    const workspace = await server.workspace();
    const alias = { alias_name: "dummy", alias_label: "crm" };
    const email = "dummy@example.com";
    await workspace.track({ attributes: [attributes("dummy-user", { email, plan: "old" })] });
    await workspace.call("POST", "/users/alias/new", {
      user_aliases: [{ external_id: "dummy-user", ...alias }],
    });
    const [before] = await profilesOf(workspace, "dummy-user");
    const settings = { blocked_external_ids: ["dummy-user"] };
    await server.admin("PUT", `/admin/v1/workspaces/${workspace.name}/settings`, settings);
    const names = [{ email }, { user_alias: alias }, { platform_id: before?.platform_id }];
    for (const name of names) {
      const answer = await workspace.track({
        attributes: [{ ...name, plan: "new" }, attributes("ada")],
        events: [{ ...name, name: "opened", time: TIME }],
        purchases: [{ ...purchase("x"), external_id: undefined, ...name }],
      });
      assert.deepEqual(placesOf(answer.body.errors), [
        ["attributes", 0, "BLACKLISTED_EXTERNAL_USER_ID"],
        ["events", 0, "BLACKLISTED_EXTERNAL_USER_ID"],
        ["purchases", 0, "BLACKLISTED_EXTERNAL_USER_ID"],
      ]);
    }
    assert.deepEqual(await profilesOf(workspace, "dummy-user"), [before]);
  });
});
