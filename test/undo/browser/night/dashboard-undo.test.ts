/* The undo of a merge in the dashboard: from the notice after a merge, and from the timeline. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../../browser/accessibility.ts";
import { skipWithoutBrowser as skip, startDashboard } from "../../../browser/dashboard-browser.ts";
import { startServer, type TestWorkspace } from "../../../harness.ts";

describe("the undo of a merge in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  async function twoUsers(): Promise<{ workspace: TestWorkspace; ids: Record<string, string> }> {
    const workspace = await server.workspace();
    await workspace.track({
      attributes: [
        { external_id: "ada", plan: "gold" },
        { external_id: "eve", plan: "free", city: "Paris" },
      ],
    });
    const found = await workspace.profiles({ external_ids: ["ada", "eve"] });
    const ids = Object.fromEntries(found.map((user) => [user.external_id, user.platform_id]));
    return { workspace, ids };
  }

  test("the notice after a merge leads to a preview, which undoes it", async () => {
    const { workspace, ids } = await twoUsers();
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/users/${ids.eve}`);
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: /Merge/ }).click();
    await page.getByRole("button", { name: /^ada/ }).click();
    await page.getByRole("table", { name: "Effects of the merge" }).waitFor();
    await page.getByRole("button", { name: "Merge", exact: true }).click();
    await page.getByRole("heading", { name: "ada", exact: true }).waitFor();
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    const effects = page.getByRole("table", { name: "Effects of the undo" });
    await effects.getByText("Paris").first().waitFor();
    await assertAccessible(page);
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Undo", exact: true }).click();
    await page.getByRole("heading", { name: "eve", exact: true }).waitFor();
    const of = async (externalId: string) =>
      (await workspace.profile({ external_ids: [externalId] })).custom_attributes;
    assert.deepEqual(await of("ada"), { plan: "gold" });
    assert.deepEqual(await of("eve"), { plan: "free", city: "Paris" });
    assert.deepEqual(complaints, []);
  });

  test("the timeline of the kept user has the undo, and says why it is refused", async () => {
    const { workspace, ids } = await twoUsers();
    await workspace.call("POST", "/users/merge", {
      merge_updates: [
        { identifier_to_merge: { external_id: "eve" }, identifier_to_keep: { external_id: "ada" } },
      ],
    });
    await workspace.track({ attributes: [{ external_id: "eve" }] });
    const { page } = await dashboard.open(`/w/${workspace.name}/users/${ids.ada}`);
    await page.getByRole("button", { name: /Merge/ }).click();
    await page.getByRole("button", { name: /Undo the merge/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/external_id 'eve' is another user's now/).waitFor();
    await dialog.getByRole("button", { name: "Undo", exact: true, disabled: true }).waitFor();
  });
});
