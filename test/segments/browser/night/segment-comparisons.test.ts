/* The comparisons of an attribute, and the page of one. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../../browser/accessibility.ts";
import {
  goTo,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../../browser/dashboard-browser.ts";
import { startServer } from "../../../harness.ts";
import { withBuyers } from "../buyers.ts";

describe("comparisons and attributes in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const workspace = await server.workspace();
  await withBuyers(workspace);
  const path = `/w/${workspace.name}`;

  test("the comparisons that make sense for an attribute come first, and all others are behind 'More'", async () => {
    const { page } = await dashboard.open(`${path}/segments/new`);
    await page.getByLabel("Users who").selectOption({ label: "have the custom attribute" });
    await page.getByRole("combobox", { name: "Attribute" }).fill("visits");
    const comparison = page.getByLabel("Comparison");
    const offered = () => comparison.locator("option").allInnerTexts();
    assert.deepEqual(await offered(), [
      "is",
      "at least",
      "at most",
      "is more than",
      "is less than",
      "is one of",
      "is there",
      "More…",
    ]);
    await comparison.selectOption({ label: "More…" });
    assert.equal((await offered()).length, 20);
    await page.getByLabel("Users who").selectOption({ label: "have in their profile" });
    await page.getByLabel("Attribute").selectOption({ label: "Date of birth" });
    assert.equal((await offered())[0], "is in the last days");
    assert.ok(!(await offered()).includes("contains"), "a comparison that the server refuses");
    await page.getByLabel("Attribute").selectOption({ label: "Language" });
    await comparison.selectOption({ label: "is one of" });
    for (const language of ["German", "Danish"]) {
      await page.getByRole("combobox", { name: "Values" }).fill(language);
      await page.getByRole("option", { name: new RegExp(`^${language} \\(`) }).click();
    }
    await page.getByText('Users who match: language is one of "de", "da".').waitFor();
  });

  test("the page of an attribute has its types and its values with how many users have each, and fills in a new segment", async () => {
    const { page, complaints } = await dashboard.open(`${path}/catalogue?kind=attribute`);
    await page.getByRole("link", { name: "plan" }).click();
    await page.getByRole("heading", { name: "plan", exact: true }).waitFor();
    await page.getByText("string 5").waitFor();
    await page.getByText(/^5 of 5 users have it/).waitFor();
    await page.getByRole("row", { name: /^pro 5 100/ }).waitFor();
    await assertAccessible(page);
    await page.getByRole("link", { name: "New segment of pro" }).click();
    await page.getByText('Users who match: plan is "pro".').waitFor();
    await goTo(page, `${path}/catalogue?kind=attribute`);
    await page.getByRole("link", { name: "Country" }).click();
    await page.getByRole("row", { name: /^France \(FR\) 3 60/ }).waitFor();
    await page.getByRole("row", { name: /^Germany \(DE\) 2 40/ }).waitFor();
    await page.getByRole("link", { name: "New segment of DE" }).click();
    await page.getByText('Users who match: country is "DE".').waitFor();
    await page.getByText(/^2 of 5 users$/).waitFor();
    assert.deepEqual(complaints, []);
  });
});
