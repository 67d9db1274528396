/* Every page of the dashboard on a phone and on a small laptop. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { assertAccessible } from "../accessibility.ts";
import {
  follow,
  isLoaded,
  SCREENS,
  show,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../dashboard-browser.ts";
import { addressesOf, filledWorkspace } from "../dashboard-workspace.ts";

describe("the pages of the dashboard on small screens", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  const PAGES = addressesOf(await filledWorkspace(server));

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
      await show(page, path);
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
      await follow(page, path);
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
});
