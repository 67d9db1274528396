/* The overview of customers in a browser: figures, charts, what was most frequent, and where a click leads. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../browser/accessibility.ts";
import {
  isLoaded,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../browser/dashboard-browser.ts";
import { startServer } from "../../harness.ts";
import { inTheNight } from "../../sizes.ts";
import { withOrders } from "./orders.ts";

describe("the overview of customers in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const workspace = await withOrders(server);

  test("the overview shows first what customers did, compared with the period before, and a click leads on", async () => {
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/overview`);
    await isLoaded(page);
    for (const [name, value] of [
      ["Users", "3"],
      ["New users", "3"],
      ["Active in the last 30 days", "2"],
      ["Events", "2"],
      ["Revenue in EUR", "39.80"],
      ["Unsubscribed", "3"],
    ]) {
      await page.locator(".tile", { hasText: new RegExp(`^${name}\\D*${value}`) }).waitFor();
    }
    // Two events in this period, one in the period before.
    await page.locator(".tile", { hasText: /^Events2\+100\s?%/ }).waitFor();
    for (const chart of ["Active users", "New users", "Events", "Revenue", "Subscriptions"]) {
      await page.getByRole("region", { name: chart, exact: true }).locator("canvas").waitFor();
    }
    const newsletter = page.getByRole("table", { name: "Subscribers" }).getByRole("row", {
      name: /Newsletter/,
    });
    assert.match(await newsletter.innerText(), /Newsletter\s+Email\s+0\s+0\s.*3 none before/s);
    await assertAccessible(page);
    await page.getByRole("radio", { name: "7 days" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/period=90/);
    await page.locator(".tile", { hasText: /^Events3/ }).waitFor();
    await page
      .getByRole("table", { name: "Top events" })
      .getByRole("link", { name: "Order placed" })
      .click();
    await page.getByRole("heading", { name: "Order placed", exact: true }).waitFor();
    await page.goBack();
    await page.getByRole("tab", { name: "Server" }).click();
    await page.getByRole("region", { name: "Response times" }).waitFor();
    assert.match(page.url(), /tab=server/);
    assert.deepEqual(complaints, []);
  });

  test("a person says which event grew most this month and who did it last, and makes a segment of it, in three clicks", {
    skip: inTheNight,
  }, async () => {
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/overview`);
    const growing = page.getByRole("table", { name: "Events that grew most" });
    const first = growing.getByRole("row").nth(1);
    assert.match(await first.innerText(), /Order placed\s+2\s+\+100/);
    await first.getByRole("link", { name: "Order placed" }).click();
    await page.getByText(/^2 times in 30 days \+100/).waitFor();
    await page.getByRole("img", { name: "Sent: Times 2" }).locator("canvas").waitFor();
    const latest = page.getByRole("table", { name: "Latest occurrences" });
    // Two at the same time, and one forty days ago.
    assert.match(await latest.getByRole("row").nth(3).innerText(), /cleo/);
    await page
      .getByRole("table", { name: "Properties" })
      .getByRole("row", { name: /total.*number 1.*59\.8 \(1\)/ })
      .waitFor();
    await page.getByText(/^3 of 3 users did it at least once/).waitFor();
    await assertAccessible(page);
    await page.getByRole("radio", { name: "90 days" }).focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page.waitForURL(/period=7/);
    await page.getByRole("link", { name: "New segment" }).click();
    await page.getByText("Users who match: did Order placed at least 1 time.").waitFor();
    await page.goBack();
    await latest.getByRole("link", { name: "cleo" }).click();
    await page.getByRole("heading", { name: "cleo" }).waitFor();
    assert.deepEqual(complaints, []);
  });
});
