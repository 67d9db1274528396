/* The dashboard for a person who may see a page but not change its contents. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { assertAccessible } from "../accessibility.ts";
import { skipWithoutBrowser as skip, startDashboard } from "../dashboard-browser.ts";
import { filledWorkspace } from "../dashboard-workspace.ts";
import { changingButtons, openAsPerson, SEEING } from "../person-with-permissions.ts";

describe("the dashboard and a person's permissions", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const filled = await filledWorkspace(server);
  const { paths } = filled;
  const { page, openWith, show } = await openAsPerson(dashboard, filled);
  const CASES = changingButtons(paths);

  test("a button that changes something says which permission is missing, and does nothing", async () => {
    await openWith(CASES[0][0], SEEING);
    for (const [path, label, permission] of CASES) {
      await show(path);
      const button = page.getByRole("button", { name: label, exact: true });
      assert.equal(await button.getAttribute("aria-disabled"), "true", label);
      await button.focus();
      await page.getByRole("tooltip").filter({ hasText: permission }).waitFor();
      await page.keyboard.press("Enter");
      assert.equal(await page.getByRole("dialog").count(), 0, label);
    }
    await show("/groups");
    const actions = page.getByRole("button", { name: /^Actions for/ }).first();
    assert.equal(await actions.getAttribute("aria-disabled"), "true");
    await assertAccessible(page);
  });

  test("what needs the company's admin says so to a person who may only see it", async () => {
    await openWith("/settings/scim-tokens", SEEING, ["manage_company_settings"]);
    for (const [path, label] of [
      ["/settings/scim-tokens", "Create a SCIM token"],
      ["/settings/roles", "Add a role"],
      ["/settings/roles", "Actions for Support"],
      ["/settings/dashboard-users", "Add a colleague"],
    ] as const) {
      await show(path);
      const button = page.getByRole("button", { name: label, exact: true });
      assert.equal(await button.getAttribute("aria-disabled"), "true", label);
      const reason = await button.getAttribute("aria-description");
      assert.equal(reason, "You lack the permission admin of the company.");
    }
    await openWith("/settings/roles", SEEING, ["admin"]);
    await page.getByRole("button", { name: "Add a role" }).click();
    await page.getByRole("dialog").waitFor();
  });

  test("the deliveries of a webhook are not asked for without view_pii, and its page says so", async () => {
    await openWith(`/webhooks/${paths.webhook}`, ["manage_external_integrations"]);
    const deliveries = page.getByRole("region", { name: "Deliveries" });
    await deliveries.getByText("You lack the permission view_pii in this workspace.").waitFor();
    await page.getByText("The receiver has refused nothing").waitFor();
    await assertAccessible(page);
  });

  test("merging, exporting and erasing a user, and changing a state, name the missing permission", async () => {
    await openWith(`/users/${paths.user}?tab=subscriptions`, [...SEEING, "view_user_profile"]);
    const state = page.getByRole("combobox", { name: "State of Newsletter" });
    assert.match((await state.getAttribute("aria-description")) ?? "", /import_update_user_data/);
    await state.click();
    assert.equal(await page.getByRole("option").count(), 0);
    await page.getByRole("button", { name: "Actions", exact: true }).click();
    for (const [item, permission] of [
      ["Export as JSON", "export_user_data"],
      ["Merge into another user…", "import_update_user_data"],
      ["Erase…", "import_update_user_data"],
    ] as const) {
      const entry = page.getByRole("menuitem", { name: item });
      assert.equal(await entry.getAttribute("aria-disabled"), "true", item);
      assert.match(await entry.innerText(), new RegExp(`You lack the permission ${permission}`));
    }
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    assert.equal(await page.getByRole("dialog").count(), 0);
    await page.keyboard.press("Escape");
    await assertAccessible(page);
  });

  test("a person who may not translate reads the grid with the keyboard but edits no cell", async () => {
    await openWith(`/translations?message=${paths.message}`, SEEING);
    await page.getByText("You lack the permission send_campaigns_canvases").waitFor();
    const cell = page.getByRole("gridcell").first();
    assert.equal(await cell.getAttribute("aria-readonly"), "true");
    await cell.focus();
    for (const key of ["Enter", "F2", "a"]) await page.keyboard.press(key);
    await cell.click();
    assert.equal(await page.getByRole("gridcell").getByRole("textbox").count(), 0);
    await assertAccessible(page);
  });

  test("the quick search lists no page, workspace or user that the person may not see", async () => {
    await openWith("/groups", ["basic_access"]);
    await page.getByRole("button", { name: "Search", exact: true }).click();
    const options = page.getByRole("option");
    await options.filter({ hasText: "Syncs" }).waitFor();
    const labels = await options.allInnerTexts();
    for (const hidden of ["Users", "Live requests", "Webhooks", "Manifest", "Audit log"]) {
      assert.ok(!labels.some((label) => label.startsWith(hidden)), hidden);
    }
    await page.keyboard.type("ada");
    await page.getByText("Nothing matches “ada”").waitFor();
    assert.equal(await options.count(), 0);
    await page.keyboard.press("Escape");
  });
});
