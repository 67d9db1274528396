/* Every page of the dashboard: it opens, and axe finds nothing (one page in six for each change). On a phone and a small laptop: `night/`. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../harness.ts";
import { oneIn } from "../sizes.ts";
import { assertAccessible, BOTH_THEMES } from "./accessibility.ts";
import {
  follow,
  isLoaded,
  skipWithoutBrowser as skip,
  startDashboard,
} from "./dashboard-browser.ts";
import { addressesOf, filledWorkspace } from "./dashboard-workspace.ts";

describe("the pages of the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const filled = await filledWorkspace(server);
  const { name } = filled;

  test("axe finds no violation on any page of the dashboard", async () => {
    const { page, complaints } = await dashboard.open("/");
    await isLoaded(page);
    const found: string[] = [];
    const isTried = oneIn(6);
    for (const [title, path] of Object.entries(addressesOf(filled))) {
      // As links do; on a phone (`night/dashboard-widths`), TEST_THOROUGH=1 loads each page at its own address.
      await follow(page, path);
      assert.notEqual(await page.getByRole("heading", { level: 1 }).innerText(), "Not found");
      assert.deepEqual(await page.getByRole("alert").allInnerTexts(), [], `${title} fails.`);
      if (!isTried()) continue;
      await assertAccessible(page).catch((error) => found.push(`${title}: ${error.message}`));
    }
    assert.deepEqual([found, complaints], [[], []]);
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
    await assertAccessible(page, { themes: BOTH_THEMES });
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
