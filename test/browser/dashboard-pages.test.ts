/* Every page of the dashboard: it opens in both themes and on a phone, and axe finds nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../harness.ts";
import { assertAccessible } from "./accessibility.ts";
import {
  follow,
  isLoaded,
  SCREENS,
  show,
  skipWithoutBrowser as skip,
  startDashboard,
} from "./dashboard-browser.ts";
import { filledWorkspace } from "./dashboard-workspace.ts";

describe("the pages of the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const { name, paths } = await filledWorkspace(server);

  const PAGES: Readonly<Record<string, string>> = {
    Overview: "/overview",
    "The traffic of the server": "/overview?tab=server",
    "The traffic of a day": "/overview?tab=server&period=day",
    "The overview of a quarter": "/overview?period=90",
    "Live requests": "/requests",
    Users: "/users",
    "The timeline of a user": `/users/${paths.user}`,
    "The totals of a user": `/users/${paths.user}?tab=totals`,
    "The attributes of a user": `/users/${paths.user}?tab=attributes`,
    "The subscriptions of a user": `/users/${paths.user}?tab=subscriptions`,
    "The identity of a user": `/users/${paths.user}?tab=identity`,
    "The devices of a user": `/users/${paths.user}?tab=devices`,
    "The segments of a user": `/users/${paths.user}?tab=segments`,
    Groups: "/groups",
    Segments: "/segments",
    "A new segment": "/segments/new",
    Catalogue: "/catalogue",
    "The catalogue of attributes": "/catalogue?kind=attribute",
    Syncs: "/syncs",
    "An integration": `/syncs/${paths.integration}`,
    "A run": `/syncs/${paths.integration}/runs/${paths.run}`,
    Webhooks: "/webhooks",
    "A webhook": `/webhooks/${paths.webhook}`,
    Translations: "/translations",
    Locales: "/translations?tab=locales",
    Campaigns: "/campaigns",
    "Preference centers": "/preference-centers",
    "A preference center": `/preference-centers/${paths.center}`,
    "API keys": "/settings/keys",
    Apps: "/settings/apps",
    Teams: "/settings/teams",
    Brand: "/settings/brand",
    Limits: "/settings/limits",
    Manifest: "/settings/manifest",
    "Dashboard users": "/company/dashboard-users",
    "SCIM tokens": "/company/scim-tokens",
    Roles: "/company/roles",
    "The audit log": "/company/audit",
    Workspaces: "/company/workspaces",
  };

  /** Pages of the company are below no workspace. */
  const addressOf = (path: string): string =>
    path.startsWith("/company/") ? path : `/w/${name}${path}`;

  test("axe finds no violation on any page of the dashboard in either theme", async () => {
    const { page, complaints } = await dashboard.open("/");
    await isLoaded(page);
    const found: string[] = [];
    for (const [title, path] of Object.entries(PAGES)) {
      // As links do; on the phone below, TEST_THOROUGH=1 loads each page at its own address.
      await follow(page, addressOf(path));
      assert.notEqual(await page.getByRole("heading", { level: 1 }).innerText(), "Not found");
      assert.deepEqual(await page.getByRole("alert").allInnerTexts(), [], `${title} fails.`);
      await assertAccessible(page).catch((error) => found.push(`${title}: ${error.message}`));
    }
    assert.deepEqual([found, complaints], [[], []]);
  });

  test("no page of the dashboard scrolls sideways on a phone, and its navigation opens", async () => {
    const { page, complaints } = await dashboard.open("/", {
      viewport: SCREENS.phone,
      hasTouch: true,
      isMobile: true,
    });
    await isLoaded(page);
    const tooWide: string[] = [];
    const hidden: string[] = [];
    for (const [title, path] of Object.entries(PAGES)) {
      await show(page, addressOf(path));
      const width = await page.evaluate("document.documentElement.scrollWidth");
      if (width !== SCREENS.phone.width) tooWide.push(`${title}: ${width}`);
      for (const link of await page.locator(".settings > .nav a").all()) {
        const { x = 0, width: long = 0 } = (await link.boundingBox()) ?? {};
        if (x + long > SCREENS.phone.width) hidden.push(`${title}: ${await link.innerText()}`);
      }
    }
    assert.deepEqual([tooWide, hidden], [[], []]);
    await page.getByRole("button", { name: "Open the navigation" }).click();
    await assertAccessible(page);
    await page.getByRole("dialog").getByRole("link", { name: "Users" }).click();
    await page.getByRole("heading", { name: "Users", exact: true }).waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test("every column of every table has room on a small laptop", async () => {
    const { page } = await dashboard.open("/");
    await isLoaded(page);
    const narrow: string[] = [];
    await page.setViewportSize({ width: 1_024, height: 720 });
    for (const [title, path] of Object.entries(PAGES)) {
      await follow(page, addressOf(path));
      const columns = (await page.evaluate(
        `[...document.querySelectorAll(".table > thead th")].map((each) => [each.innerText, each.clientWidth])`,
      )) as [string, number][];
      narrow.push(
        ...columns
          .filter(([name, width]) => name !== "Actions" && width < 80)
          .map(([name, width]) => `${title}, ${name}: ${width}`),
      );
    }
    await page.setViewportSize(SCREENS.wide);
    assert.deepEqual(narrow, []);
  });

  test("the navigation marks the settings on each of their sections, and the window is named after the page", async () => {
    const { page } = await dashboard.open("/");
    await isLoaded(page);
    for (const [entry, path, title] of [
      ["Company settings", "/company/dashboard-users", "Dashboard users · Rapport"],
      ["Company settings", "/company/audit", "Audit log · Rapport"],
      ["Workspace settings", `/w/${name}/settings/limits`, `Limits · ${name} · Rapport`],
      ["Users", `/w/${name}/users`, `Users · ${name} · Rapport`],
    ] as const) {
      await follow(page, path);
      const here = page.locator(".sidebar [aria-current=page], .sidebar [aria-current=true]");
      assert.deepEqual(await here.allInnerTexts(), [entry], path);
      assert.equal(await page.title(), title);
    }
  });

  test("what does not exist is named as such below the heading of its page, without a button that tries again", async () => {
    const { page } = await dashboard.open(`/w/${name}/users/${crypto.randomUUID()}`);
    await page.getByRole("heading", { level: 1, name: "User" }).waitFor();
    await page.getByRole("alert").getByText("This does not exist").waitFor();
    assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
  });

  test("an empty workspace explains on each page what will be there, and how to get it", async () => {
    const empty = await server.workspace({ subscription_groups: [], apps: [] });
    const { page, complaints } = await dashboard.open(`/w/${empty.name}/settings/keys`);
    await isLoaded(page);
    for (const [path, text] of [
      ["/overview", "There are no users yet"],
      ["/users", "No users yet"],
      ["/groups", "No subscription groups yet"],
      ["/syncs", "No integrations yet"],
      ["/webhooks", "No webhooks yet"],
      ["/translations", "No messages yet"],
      ["/campaigns", "No campaigns yet"],
      ["/settings/apps", "No apps yet"],
    ]) {
      await follow(page, `/w/${empty.name}${path}`);
      await page.getByText(text ?? "").waitFor();
    }
    await follow(page, `/w/${empty.name}/users`);
    await page.getByText("curl").waitFor();
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  test("the sign-in page has no violation in either theme and keeps the wanted address", async () => {
    const { page, complaints } = await dashboard.openSignedOut(`/w/${name}/groups`);
    await isLoaded(page);
    await assertAccessible(page);
    await page.getByLabel("Admin token").fill("wrong");
    await page.getByRole("button", { name: "Sign in with the token" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Admin token").fill(server.adminToken);
    await page.getByRole("button", { name: "Sign in with the token" }).click();
    await page.getByRole("heading", { name: "Subscription groups", exact: true }).waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
