/* The overview of customers and the page of an event on a phone, in both themes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible, BOTH_THEMES } from "../../../browser/accessibility.ts";
import {
  assertFits,
  SCREENS,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../../browser/dashboard-browser.ts";
import { startServer } from "../../../harness.ts";
import { withOrders } from "../orders.ts";

describe("the overview of customers on a phone", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const workspace = await withOrders(server);

  test("the page of an event fits a phone and has no violation in the dark", async () => {
    const { page, complaints } = await dashboard.open(
      `/w/${workspace.name}/catalogue/event?name=Order%20placed`,
      { viewport: SCREENS.phone, colorScheme: "dark" },
    );
    await page.locator("canvas").first().waitFor();
    await page.getByRole("table", { name: "Properties" }).waitFor();
    await assertFits(page);
    await assertAccessible(page, { themes: BOTH_THEMES });
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test("the overview of customers fits a phone and has no violation in the dark", async () => {
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/overview`, {
      viewport: SCREENS.phone,
      colorScheme: "dark",
    });
    await page.locator("canvas").first().waitFor();
    await assertFits(page);
    await assertAccessible(page, { themes: BOTH_THEMES });
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
