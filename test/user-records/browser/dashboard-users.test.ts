/* Users in the dashboard: found and read with only the keyboard, changed, merged, erased; and text that is not markup. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../browser/accessibility.ts";
import {
  assertFits,
  follow,
  isLoaded,
  SCREENS,
  show,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../browser/dashboard-browser.ts";
import { tabTo } from "../../browser/tab-to.ts";
import { NEWSLETTER, startServer, type TestWorkspace } from "../../harness.ts";
import { inTheNight } from "../../sizes.ts";

describe("users in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  const platformIdOf = async (workspace: TestWorkspace, externalId: string): Promise<string> =>
    (await workspace.profile({ external_ids: [externalId] })).platform_id;

  test("with the keyboard alone a person signs in, finds a user and reads the timeline", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [{ external_id: "grace", plan: "gold" }],
      events: [
        {
          external_id: "ada",
          name: "signed_up",
          time: "2026-01-01T12:00:00Z",
          properties: { source: "newsletter" },
        },
      ],
    });
    const { page, complaints } = await dashboard.openSignedOut(`/w/${workspace.name}/users`);
    await isLoaded(page);
    await tabTo(page, /Admin token/);
    await page.keyboard.type(server.adminToken);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Users", exact: true }).waitFor();
    await page.getByRole("link", { name: "grace" }).waitFor();
    // The field of the search has the focus.
    await page.keyboard.type("ad");
    await page.getByRole("link", { name: "grace" }).waitFor({ state: "detached" });
    await tabTo(page, /^ ada/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "ada", exact: true }).waitFor();
    await page.getByRole("button", { name: /signed_up/ }).waitFor();
    await tabTo(page, /signed_up/);
    await page.keyboard.press("Enter");
    await page.locator("pre", { hasText: '"source": "newsletter"' }).waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test("an attribute and a subscription state that are changed in the dashboard are stored", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [{ external_id: "ada", email: "ada@example.com", plan: "free", seats: 3 }],
    });
    const id = await platformIdOf(workspace, "ada");
    const path = `/w/${workspace.name}/users/${id}`;
    const { page, complaints } = await dashboard.open(`${path}?tab=attributes`);
    await page.getByRole("button", { name: "Edit seats" }).click();
    await page.getByLabel("Value").fill("4");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit dob" }).click();
    await page.getByLabel("Value").fill("yesterday");
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("alert")
      .getByText(/'dob' is not valid/)
      .waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Cancel" }).click();
    await show(page, `${path}?tab=subscriptions`);
    await page.getByRole("combobox", { name: "State of Newsletter" }).click();
    await page.getByRole("option", { name: "Unsubscribed" }).click();
    await page
      .getByRole("table", { name: "History of states" })
      .getByText("Unsubscribed")
      .waitFor();
    const profile = await workspace.profile({ external_ids: ["ada"] });
    assert.equal(profile.custom_attributes.seats, 4);
    const { body } = await server.admin(
      "GET",
      `/admin/v1/workspaces/${workspace.name}/users/${id}`,
    );
    assert.deepEqual(
      body.subscriptions.groups.map((each: any) => [each.subscription_group_id, each.state]),
      [[NEWSLETTER, "unsubscribed"]],
    );
    assert.deepEqual(complaints, []);
  });

  test("a merge is previewed field by field and changes nothing before it is confirmed", async () => {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [
        { external_id: "ada", plan: "gold" },
        { external_id: "old", plan: "free", city: "Paris" },
      ],
    });
    const [ada, old] = [await platformIdOf(workspace, "ada"), await platformIdOf(workspace, "old")];
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/users/${old}`);
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: /Merge/ }).click();
    await page.getByRole("button", { name: /^ada/ }).click();
    const effects = page.getByRole("table", { name: "Effects of the merge" });
    await effects.getByText("plan").waitFor();
    await effects.getByText("Paris").first().waitFor();
    await assertAccessible(page);
    assert.equal((await workspace.profile({ external_ids: ["old"] })).platform_id, old);
    await page.getByRole("button", { name: "Merge", exact: true }).click();
    await page.getByRole("heading", { name: "ada", exact: true }).waitFor();
    await page.waitForURL(new RegExp(ada));
    const kept = await workspace.profile({ external_ids: ["ada"] });
    assert.deepEqual(kept.custom_attributes, { plan: "gold", city: "Paris" });
    assert.deepEqual(complaints, []);
  });

  test("a user is exported with the timeline, and erased only after the name is typed", {
    skip: inTheNight,
  }, async () => {
    const workspace = await server.workspace();
    await workspace.track({
      events: [{ external_id: "ada", name: "signed_up", time: "2026-01-01T12:00:00Z" }],
    });
    const id = await platformIdOf(workspace, "ada");
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/users/${id}`);
    await page.getByRole("button", { name: "Actions" }).click();
    const downloading = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "Export as JSON" }).click();
    const file = await (await downloading).createReadStream();
    const chunks: Buffer[] = [];
    for await (const chunk of file) chunks.push(chunk as Buffer);
    const exported = JSON.parse(Buffer.concat(chunks).toString());
    assert.deepEqual([exported.user.external_id, exported.timeline[0].name], ["ada", "signed_up"]);
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: /Erase/ }).click();
    await page.getByRole("button", { name: "Erase", exact: true }).click();
    await page.getByText("Type ada to confirm.").waitFor();
    await page.getByLabel(/Type ada to confirm/).fill("ada");
    await page.getByRole("button", { name: "Erase", exact: true }).click();
    await page.getByRole("heading", { name: "Users", exact: true }).waitFor();
    await page.getByText("No users yet").waitFor();
    assert.deepEqual(await workspace.profiles({ external_ids: ["ada"] }), []);
    assert.deepEqual(complaints, []);
  });

  test("markup in names, attributes, properties and aliases is shown as text and never runs", async () => {
    const evil = `"><img src=x onerror="attacked=1"><script>attacked=1</script>`;
    const workspace = await server.workspace();
    const answer = await workspace.track({
      attributes: [
        {
          external_id: evil,
          first_name: evil,
          [evil.slice(0, 40)]: evil,
          nested: { [evil]: [evil] },
        },
      ],
      events: [
        {
          external_id: evil,
          name: evil,
          time: "2026-01-01T12:00:00Z",
          properties: { [evil]: evil, link: "javascript:window.attacked=1" },
        },
      ],
    });
    assert.equal(answer.body.errors, undefined, JSON.stringify(answer.body));
    await workspace.call("POST", "/users/alias/new", {
      user_aliases: [{ external_id: evil, alias_name: evil, alias_label: evil }],
    });
    await server.admin("PUT", `/admin/v1/workspaces/${workspace.name}/campaigns/${NEWSLETTER}`, {
      name: evil,
    });
    const id = await platformIdOf(workspace, evil);
    const { page, complaints } = await dashboard.open("/");
    for (const path of [
      "/users",
      `/users?query=${encodeURIComponent(evil)}`,
      ...["timeline", "attributes", "identity"].map((tab) => `/users/${id}?tab=${tab}`),
      "/campaigns",
      "/settings/audit",
      `/settings/${encodeURIComponent(evil)}`,
    ]) {
      await show(page, `/w/${workspace.name}${path}`);
      assert.equal(await page.evaluate("window.attacked"), undefined, path);
      assert.equal(await page.locator("img").count(), 0, path);
    }
    // A name without an end or without a space does not make a page wider than the screen either.
    const endless = "W".repeat(250);
    await workspace.track({
      attributes: [
        {
          external_id: endless.repeat(3),
          first_name: endless,
          last_name: endless,
          [endless]: endless,
        },
      ],
    });
    await page.setViewportSize(SCREENS.phone);
    const wide = `/w/${workspace.name}/users/${await platformIdOf(workspace, endless.repeat(3))}`;
    for (const tab of ["timeline", "attributes", "identity"]) {
      await follow(page, `${wide}?tab=${tab}`);
      await assertFits(page);
    }
    await page.setViewportSize(SCREENS.wide);
    await show(page, `/w/${workspace.name}/users/${id}`);
    await page.getByRole("button", { name: /onerror/ }).click();
    await page.locator("pre", { hasText: "javascript:window.attacked" }).waitFor();
    assert.equal(await page.evaluate("window.attacked"), undefined);
    assert.deepEqual(complaints, []);
  });
});
