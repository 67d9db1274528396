/* Changes of one user by administrators: attributes and subscription states. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { id, merge } from "../core/people/identity/identity-calls.ts";
import { NEWSLETTER, startServer, type TestWorkspace } from "../harness.ts";

const server = await startServer();

const pathOf = ({ name }: TestWorkspace, rest: string) =>
  `/admin/v1/workspaces/${name}/users${rest}`;

const platformIdOf = async (workspace: TestWorkspace, externalId: string): Promise<string> =>
  (await workspace.profile({ external_ids: [externalId] })).platform_id;

describe("a change of a user by an administrator", () => {
  const change = (workspace: TestWorkspace, platformId: string, attributes: unknown) =>
    server.admin("PATCH", pathOf(workspace, `/${platformId}`), { attributes });

  test("changing a user sets attributes and subscription states, which the audit names without their values", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [{ ...id("ada"), email: "ada@example.com", plan: "free" }],
    });
    const platformId = await platformIdOf(workspace, "ada");
    const { status, body } = await change(workspace, platformId, {
      plan: "gold",
      first_name: "Ada",
      email_subscribe: "unsubscribed",
      subscription_groups: [
        { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
      ],
    });
    assert.equal(status, 200, JSON.stringify(body));
    const record = (await server.admin("GET", pathOf(workspace, `/${platformId}`))).body;
    assert.equal(record.user.custom_attributes.plan, "gold");
    assert.equal(record.user.first_name, "Ada");
    assert.equal(record.subscriptions.email.state, "unsubscribed");
    assert.equal(record.subscriptions.groups[0].state, "subscribed");
    const audit = await server.admin(
      "GET",
      `/admin/v1/audit?workspace=${workspace.name}&kind=user`,
    );
    const [entry] = audit.body.entries.filter((each: any) => each.action === "updated");
    assert.equal(entry.name, platformId);
    assert.deepEqual(entry.details.attributes.sort(), [
      "email_subscribe",
      "first_name",
      "plan",
      "subscription_groups",
    ]);
    assert.doesNotMatch(JSON.stringify(entry), /gold|unsubscribed/);
  });

  test("a change of a user with a wrong value, an identifier or a missing user is refused and changes nothing", async () => {
    const workspace = await server.workspace({ settings: { intake: "lenient" } });
    await workspace.track({
      attributes: [
        { ...id("ada"), plan: "free" },
        { ...id("bob"), plan: "x" },
      ],
    });
    const [ada, bob] = [await platformIdOf(workspace, "ada"), await platformIdOf(workspace, "bob")];
    for (const [attributes, text] of [
      [{ plan: "gold", dob: "yesterday" }, /dob/],
      [{ plan: "gold", external_id: "bob" }, /external_id/],
      [{ plan: "gold", user_alias: { alias_name: "a", alias_label: "b" } }, /user_alias/],
    ] as const) {
      const { status, body } = await change(workspace, ada, attributes);
      assert.equal(status, 400);
      assert.match(body.message, text);
    }
    const missing = await change(workspace, "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03", {
      plan: "gold",
    });
    assert.equal(missing.status, 404);
    await merge(workspace, [[id("ada"), id("bob")]]);
    const merged = await change(workspace, ada, { plan: "gold" });
    assert.equal(merged.status, 409);
    assert.ok(merged.body.message.includes(bob));
    assert.equal((await workspace.profile({ external_ids: ["bob"] })).custom_attributes.plan, "x");
  });
});
