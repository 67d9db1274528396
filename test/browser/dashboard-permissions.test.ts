/* The dashboard for a person who may see a page but not change its contents. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startServer } from "../harness.ts";
import { assertAccessible } from "./accessibility.ts";
import {
  follow,
  goTo,
  isLoaded,
  skipWithoutBrowser as skip,
  startDashboard,
} from "./dashboard-browser.ts";
import { filledWorkspace } from "./dashboard-workspace.ts";

describe("the dashboard and a person's permissions", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const { name, paths } = await filledWorkspace(server);

  /** What the person of the page below holds; a page that is loaded again asks for it. */
  let held: object = {};
  const page = await personsPage();

  /**
   * A page for a person with only these permissions; the server's own refusals have other tests.
   */
  async function personsPage(): Promise<Page> {
    const { page } = await dashboard.open(`/w/${name}/syncs`);
    await page.route("**/dashboard/session", async (route) => {
      const response = await route.fetch();
      const session = await response.json();
      await route.fulfill({
        json: { ...session, administrator: false, permissions: held, workspaces: [name] },
      });
    });
    return page;
  }

  let shown = "";

  /** Opens a page of the workspace with these permissions. */
  async function openWith(
    path: string,
    permissions: readonly string[],
    company: readonly string[] = [],
  ): Promise<void> {
    held = { company, workspaces: { [name]: permissions } };
    await goTo(page, `/w/${name}${path}`);
    shown = path;
  }

  /** Follows a link within the workspace, unless its page is shown already. */
  async function show(path: string): Promise<void> {
    if (path !== shown) await follow(page, `/w/${name}${path}`);
    shown = path;
  }

  const CASES = [
    ["/groups", "Add a group", "manage_subscription_groups"],
    ["/syncs", "Add an integration", "manage_external_integrations"],
    [`/syncs/${paths.integration}`, "Run now", "manage_external_integrations"],
    ["/webhooks", "Add a webhook", "admin"],
    [`/webhooks/${paths.webhook}`, "Send a test", "manage_external_integrations"],
    [`/webhooks/${paths.webhook}`, "Resume", "admin"],
    [`/webhooks/${paths.webhook}`, "Actions for CRM", "admin"],
    ["/preference-centers", "Add a center", "manage_email_settings"],
    ["/settings/apps", "Add an app", "manage_apps"],
    ["/settings/teams", "Add a team", "manage_teams"],
    ["/settings/keys", "Create an API key", "admin"],
    ["/settings/limits", "Save", "admin"],
    ["/campaigns", "Add a campaign", "send_campaigns_canvases"],
    ["/campaigns", "Add a canvas", "send_campaigns_canvases"],
    ["/campaigns", "Add a message to Welcome", "send_campaigns_canvases"],
    [`/translations?message=${paths.message}`, "Import", "send_campaigns_canvases"],
    ["/translations?tab=locales", "Add a locale", "send_campaigns_canvases"],
    [`/users/${paths.user}?tab=attributes`, "Set an attribute", "import_update_user_data"],
    [`/users/${paths.user}?tab=attributes`, "Edit plan", "import_update_user_data"],
  ] as const;

  /** Every page of the cases can be seen with these. */
  const SEEING = ["basic_access", "view_pii"];

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

  test("the permission that a button needs enables it, and no other one does", async () => {
    for (const permission of new Set(CASES.map(([, , each]) => each))) {
      const own = CASES.filter(([, , needed]) => needed === permission);
      const foreign = CASES.filter(([, , needed]) => needed !== permission).slice(0, 1);
      await openWith(own[0]?.[0] ?? "", [...SEEING, permission]);
      for (const [path, label, needed] of [...own, ...foreign]) {
        await show(path);
        const button = page.getByRole("button", { name: label, exact: true });
        const isDisabled = (await button.getAttribute("aria-disabled")) === "true";
        assert.equal(isDisabled, needed !== permission, `${label} with ${permission}`);
      }
    }
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

  test("a person lands on the first page that they may see", async () => {
    for (const [permission, path] of [
      ["basic_access", "segments"],
      ["dev_console", "requests"],
      ["view_usage_data", "overview"],
    ] as const) {
      held = { company: [], workspaces: { [name]: [permission] } };
      await page.goto(`${server.url}/dashboard/`);
      await page.waitForURL(new RegExp(`/w/${name}/${path}$`));
      await isLoaded(page);
    }
  });
});
