/* Pages of the dashboard while the server fails or is slow, and the keyboard focus after a dialog. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startServer } from "../../harness.ts";
import { isLoaded, skipWithoutBrowser as skip, startDashboard } from "../dashboard-browser.ts";

/** More than a page of the list. */
const USERS = 130;

describe("the dashboard while the server fails", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const workspace = await server.workspace();
  for (let from = 0; from < USERS; from += 50) {
    const attributes = Array.from({ length: Math.min(50, USERS - from) }, (_, index) => ({
      external_id: `user-${from + index}`,
    }));
    await workspace.track({ attributes });
  }

  /** Fails all requests until the returned function is called. @returns how often that was. */
  async function failing(page: Page, path: string): Promise<() => Promise<number>> {
    let count = 0;
    await page.route(path, (route) => {
      count += 1;
      return route.fulfill({ status: 503, json: { message: "The server is overloaded." } });
    });
    return async () => {
      await page.unroute(path);
      return count;
    };
  }

  test("a page of a list that fails is asked for again by the person, not without end", async () => {
    const { page } = await dashboard.open(`/w/${workspace.name}/users`);
    await isLoaded(page);
    const stop = await failing(page, "**/users?*cursor=*");
    await page.mouse.move(700, 500);
    await page.mouse.wheel(0, 100_000);
    const foot = page.getByRole("status").filter({ hasText: "could not be loaded" });
    await foot.waitFor();
    // A list that scrolls on does not retry automatically.
    for (const distance of [-2_000, 100_000, -2_000, 100_000]) {
      await page.mouse.wheel(0, distance);
      await page.evaluate("new Promise(requestAnimationFrame)");
    }
    await page.getByRole("button", { name: "Try again" }).waitFor();
    assert.equal(
      await stop(),
      3,
      "One try, and two retries for failures that an overload may have caused.",
    );
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText(`${USERS} in total`).waitFor();

    // Without a connection a page that was never open says so in its place, and comes once the server is back.
    await page.context().setOffline(true);
    await page.getByRole("link", { name: "Campaigns", exact: true }).click();
    await page.getByRole("alert").getByText("The server could not be reached").waitFor();
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { level: 1, name: "Campaigns and canvases" }).waitFor();
  });

  test("loaded data stays while a refresh fails, with a note that it may be out of date", async () => {
    const { page } = await dashboard.open(`/w/${workspace.name}/settings/teams`);
    await isLoaded(page);
    await page.route("**/teams", (route) => route.fulfill({ status: 503, json: {} }));
    await page.getByRole("button", { name: "Add a team" }).click();
    await page.getByLabel("Name").fill("Support");
    await page.getByRole("button", { name: "Save" }).click();
    const notice = page.getByRole("status").filter({ hasText: "may be out of date" });
    await notice.waitFor();
    await page.unroute("**/teams");
    await notice.getByRole("button", { name: "Try again" }).click();
    await notice.waitFor({ state: "detached" });
    await page.getByText("Support", { exact: true }).waitFor();
  });
});
