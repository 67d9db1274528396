/* What the dashboard offers to a person who may see a page but not change what is on it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  assertAccessible,
  goTo,
  skipWithoutBrowser as skip,
  startDashboard,
} from "./dashboard-browser.ts";
import { filledWorkspace } from "./dashboard-workspace.ts";
import { startServer } from "./harness.ts";

describe("the dashboard and a person's permissions", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const { name, paths } = await filledWorkspace(server);

  /** A page as a person sees it with these permissions alone; the server's own refusals have other tests. */
  async function openWith(permissions: readonly string[]) {
    const { page } = await dashboard.open("/");
    await page.route("**/dashboard/session", async (route) => {
      const response = await route.fetch();
      const session = await response.json();
      const held = { company: [], workspaces: { [name]: permissions } };
      await route.fulfill({
        json: { ...session, administrator: false, permissions: held, workspaces: [name] },
      });
    });
    return page;
  }

  const CASES = [
    ["/groups", "Add a group", "manage_subscription_groups"],
    ["/syncs", "Add an integration", "manage_external_integrations"],
    [`/syncs/${paths.integration}`, "Run now", "manage_external_integrations"],
    ["/preference-centers", "Add a center", "manage_email_settings"],
    ["/settings/apps", "Add an app", "manage_apps"],
  ] as const;

  test("a button that changes something says which permission is missing, and does nothing", async () => {
    const page = await openWith(["basic_access"]);
    for (const [path, label, permission] of CASES) {
      await goTo(page, `/w/${name}${path}`);
      const button = page.getByRole("button", { name: label });
      assert.equal(await button.getAttribute("aria-disabled"), "true", label);
      await button.focus();
      await page.getByRole("tooltip").filter({ hasText: permission }).waitFor();
      await page.keyboard.press("Enter");
      assert.equal(await page.getByRole("dialog").count(), 0, label);
    }
    await goTo(page, `/w/${name}/groups`);
    const actions = page.getByRole("button", { name: /^Actions for/ }).first();
    assert.equal(await actions.getAttribute("aria-disabled"), "true");
    await assertAccessible(page);
    await page.context().close();
  });

  test("the permission that a button needs enables it, and no other one does", async () => {
    for (const permission of new Set(CASES.map(([, , each]) => each))) {
      const page = await openWith(["basic_access", permission]);
      const own = CASES.filter(([, , needed]) => needed === permission);
      const [foreign] = CASES.filter(([, , needed]) => needed !== permission);
      for (const [path, label, needed] of [...own, ...(foreign ? [foreign] : [])]) {
        await goTo(page, `/w/${name}${path}`);
        const button = page.getByRole("button", { name: label });
        const isDisabled = (await button.getAttribute("aria-disabled")) === "true";
        assert.equal(isDisabled, needed !== permission, `${label} with ${permission}`);
      }
      await page.context().close();
    }
  });

  test("a person lands on the first page that they may see", async () => {
    for (const [permission, path] of [
      ["basic_access", "syncs"],
      ["dev_console", "requests"],
      ["view_usage_data", "overview"],
    ] as const) {
      const page = await openWith([permission]);
      await page.goto(`${server.url}/dashboard/`);
      await page.waitForURL(new RegExp(`/w/${name}/${path}$`));
      await page.context().close();
    }
  });
});
