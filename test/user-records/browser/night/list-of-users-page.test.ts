/* The list of users in the dashboard: sorted, filtered, with chosen columns; and a search that is clicked away. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../../browser/accessibility.ts";
import {
  isLoaded,
  show,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../../browser/dashboard-browser.ts";
import { startServer } from "../../../harness.ts";

describe("the list of users in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  test("a person sorts the list of users, filters it and chooses its columns, which the browser keeps", async () => {
    const workspace = await server.workspace();
    for (const [external_id, country] of [
      ["ada", "DE"],
      ["bob", "FR"],
      ["cay", "DE"],
    ]) {
      await workspace.track({
        attributes: [{ external_id, country, plan: `plan of ${external_id}` }],
      });
    }
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/users`);
    await isLoaded(page);
    const ids = () => page.locator("table .row-link").allTextContents();
    await page.getByRole("button", { name: "Added", exact: true }).click();
    await page.locator("th[aria-sort]").waitFor();
    await isLoaded(page);
    if ((await ids())[0] === "ada") {
      await page.getByRole("button", { name: "Added", exact: true }).click();
      await page.locator('th[aria-sort="descending"]').waitFor();
    }
    await page.locator("tbody[data-index='0'] .row-link", { hasText: "cay" }).waitFor();
    await page.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("combobox", { name: "Columns" }).click();
    await page.getByRole("option", { name: "Country" }).click();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("columnheader", { name: "Country" }).waitFor();
    await page.getByRole("cell", { name: "FR", exact: true }).waitFor();
    const filter = encodeURIComponent(JSON.stringify({ attribute: "country", equals: "DE" }));
    await show(page, `/w/${workspace.name}/users?filter=${filter}`);
    await page.getByText(/Users who match: country .*DE/).waitFor();
    await page.getByRole("columnheader", { name: "Country" }).waitFor();
    assert.deepEqual(await ids(), ["ada", "cay"]);
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await page.getByRole("button", { name: "Apply the filter" }).waitFor();
    await assertAccessible(page);
    await page.getByRole("link", { name: "Save it as a segment" }).click();
    await page.getByRole("heading", { name: "New segment" }).waitFor();
    await page.getByText("2 of 3 users").first().waitFor();
    await page.getByRole("link", { name: "List them" }).click();
    await page.getByRole("button", { name: "Show all users" }).click();
    await page.getByRole("link", { name: "bob" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a result that is clicked while the search still waits for more letters opens and stays", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/users`);
    await page.getByRole("link", { name: "ada" }).waitFor();
    // The answer comes after the search would have followed the typing.
    await page.route(/users\/[^/?]+$/, async (route) => {
      await new Promise((done) => setTimeout(done, 600));
      await route.continue();
    });
    await page.getByRole("textbox", { name: "Find users" }).fill("ad");
    await page.getByRole("link", { name: "ada" }).click();
    await page.getByRole("heading", { name: "ada", exact: true }).waitFor();
    await isLoaded(page);
    assert.match(page.url(), /\/users\/[0-9a-f-]{36}$/);
    assert.deepEqual(complaints, []);
  });
});
