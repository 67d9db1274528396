/*
 * Popups on the pages of the dashboard: menus, dialogs, and the lists of their fields. Axe sees
 * only visible content, so each is opened and checked in both themes.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { startServer } from "../harness.ts";
import { assertAccessible } from "./accessibility.ts";
import {
  follow,
  isLoaded,
  skipWithoutBrowser as skip,
  startDashboard,
} from "./dashboard-browser.ts";
import { filledWorkspace } from "./dashboard-workspace.ts";

/** The buttons that open a dialog on a page; of many alike, one. */
const DIALOGS =
  /^(Add an? .+|Create an? .+|Import|Set an attribute|Edit (plan|company permissions|the limit of users\.track))$/;

/** Entries of menus that do something at once. */
const AT_ONCE = /^(Export|CSV|XLIFF|Light|Dark|As the system|Reference|Sign out|Reactivate)/;

/** The name of a popup without its page and its subject: "Add", "Actions, Remove…, list". */
const kindOf = (what: string): string =>
  what.replace(/^\/\S+ (\w+)[^,]*/, "$1").replace(/^(Actions|Workspace)[^,]*/, "$1");

describe("menus, dialogs and lists of the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const { name, paths } = await filledWorkspace(server);
  const { body } = await server.admin("POST", "/admin/v1/dashboard-users", {
    user_name: `${crypto.randomUUID()}@acme.example`,
    given_name: "Grace",
    family_name: "Hopper",
    department: "engineering",
    permissions: { appGroup: [{ appGroupName: name, appGroupPermissions: ["basic_access"] }] },
  });

  const PAGES = [
    ...[
      "requests",
      "users",
      `users/${paths.user}`,
      `users/${paths.user}?tab=attributes`,
      `users/${paths.user}?tab=subscriptions`,
      "groups",
      "syncs",
      `syncs/${paths.integration}`,
      "webhooks",
      `webhooks/${paths.webhook}`,
      `translations?message=${paths.message}`,
      "translations?tab=locales",
      "campaigns",
      "preference-centers",
      `preference-centers/${paths.center}`,
      "settings/keys",
      "settings/apps",
      "settings/teams",
      "settings/limits",
    ].map((page) => `/w/${name}/${page}`),
    "/company/dashboard-users",
    `/company/dashboard-users/${body.person.id}`,
    "/company/scim-tokens",
    "/company/roles",
    "/company/audit",
    "/company/workspaces",
  ];

  const kinds = new Set<string>();

  /**
   * Opens everything on a page, one after the other. @returns axe's findings, with the name of the
   * popup.
   */
  async function checkPage(page: Page, path: string, seen: Set<string>): Promise<string[]> {
    const found: string[] = [];
    const check = async (what: string, within: string) => {
      seen.add(what);
      const kind = kindOf(what);
      const opened = { within, isFirstOfKind: !kinds.has(kind) };
      kinds.add(kind);
      await assertAccessible(page, opened).catch(({ message }) =>
        found.push(`${what}: ${message}`),
      );
    };
    const dialogOf = async (what: string) => {
      const dialog = page.getByRole("dialog");
      await dialog.waitFor();
      await check(what, "[role=dialog]");
      await checkLists(dialog, what);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    };
    const checkLists = async (where: Locator, what: string) => {
      for (const list of await where.getByRole("combobox").all()) {
        if (!(await list.isEnabled()) || (await list.getAttribute("aria-haspopup")) !== "listbox")
          continue;
        // The field of a multi-select is below the chosen values.
        await list.click({ force: true });
        const options = page.getByRole("listbox");
        if ((await options.count()) > 0)
          await check(`${what}, list`, "[role=listbox], [aria-expanded=true]");
        await page.keyboard.press("Escape");
        await options.waitFor({ state: "detached" });
      }
    };
    const main = page.getByRole("main");
    await checkLists(main, "page");
    for (const button of await main.getByRole("button", { name: DIALOGS }).all()) {
      const label = (await button.getAttribute("aria-label")) ?? (await button.innerText());
      const name = `${path} ${label}`;
      if (seen.has(name) || (await button.isDisabled())) continue;
      await button.click();
      await dialogOf(name);
    }
    for (const button of await page.locator("button[aria-haspopup=menu]").all()) {
      const label = (await button.getAttribute("aria-label")) ?? (await button.innerText());
      if (seen.has(label)) continue;
      const entries = page.getByRole("menuitem");
      await button.click();
      await entries.first().waitFor();
      await check(label, "[role=menu], [aria-expanded=true]");
      const names = await entries.allInnerTexts();
      await page.keyboard.press("Escape");
      await page.getByRole("menu").waitFor({ state: "detached" });
      for (const entry of names.filter((each) => each.endsWith("…") && !AT_ONCE.test(each))) {
        if (seen.has(`${label}, ${entry}`)) continue;
        await button.click();
        await entries.filter({ hasText: entry }).click();
        await dialogOf(`${label}, ${entry}`);
      }
    }
    return found;
  }

  test("axe finds no violation in any open menu, dialog or list of the dashboard in either theme", async () => {
    const { page, complaints } = await dashboard.open("/");
    await isLoaded(page);
    const seen = new Set<string>();
    const found: string[] = [];
    for (const path of PAGES) {
      await follow(page, path);
      found.push(...(await checkPage(page, path, seen)).map((each) => `${path}: ${each}`));
    }
    assert.deepEqual([found, complaints], [[], []]);
    assert.ok(seen.size > 40, [...seen].join("; "));
  });
});
