/* Segments in the dashboard: made with only the keyboard, counted while they are made, exported; and the catalogue. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../browser/accessibility.ts";
import {
  isLoaded,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../browser/dashboard-browser.ts";
import { tabTo } from "../../browser/tab-to.ts";
import { startServer } from "../../harness.ts";
import { inTheNight } from "../../sizes.ts";
import { declareSegment, withBuyers } from "./buyers.ts";

describe("segments in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const workspace = await server.workspace();
  await withBuyers(workspace);
  const path = `/w/${workspace.name}`;

  /** Chooses an option of the focused list by its label, as the keyboard does. */
  const choose = async (page: Page, field: RegExp, letters: string) => {
    await tabTo(page, field);
    await page.keyboard.type(letters);
  };

  test("with the keyboard alone a person makes 'bought twice in 30 days and can receive email', and exports whom it counts", {
    skip: inTheNight,
  }, async () => {
    const { page, complaints } = await dashboard.open(`${path}/segments`);
    await isLoaded(page);
    await tabTo(page, /New segment/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "New segment" }).waitFor();
    await choose(page, /Users who/, "bought");
    await choose(page, /Times/, "");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("2");
    await tabTo(page, /in the last days/);
    await page.keyboard.type("30");
    await tabTo(page, /Add a condition/);
    await page.keyboard.press("Enter");
    const second = page.getByRole("group", { name: "Condition 2" });
    await second.waitFor();
    await second.getByLabel("Users who").focus();
    await page.keyboard.type("can receive");
    await page
      .getByText(
        "Users who match: bought anything at least 2 times in the last 30 days, and can receive email.",
      )
      .waitFor();
    await page.getByText(/^2 of 5 users$/).waitFor();
    await page.getByRole("table", { name: "Parts of the filter" }).getByText("3").first().waitFor();
    await assertAccessible(page);
    await tabTo(page, /Name/);
    await page.keyboard.type("Repeat buyers");
    await tabTo(page, /Save/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Repeat buyers" }).waitFor();
    // Counted when it was saved: the chart says so, and so does the list.
    await page.getByRole("img", { name: "Size over time: Users 2" }).waitFor();
    const downloading = page.waitForEvent("download");
    await tabTo(page, /Export/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Export users" }).waitFor();
    await assertAccessible(page);
    await tabTo(page, /Download the CSV/);
    await page.keyboard.press("Enter");
    const downloaded = await downloading;
    assert.equal(downloaded.suggestedFilename(), "Repeat buyers.csv");
    const lines = (await readFile(await downloaded.path(), "utf8")).trimEnd().split("\n");
    assert.equal(lines[0], "external_id,first_name,last_name,email,country");
    assert.deepEqual(
      lines
        .slice(1)
        .map((line) => line.split(",")[0])
        .sort(),
      ["u0", "u1"],
    );
    await page.getByText("Exported 2 users.").waitFor();
    await page.getByRole("link", { name: "Segments" }).first().click();
    await page.getByRole("row", { name: /Repeat buyers.*\b2\b/s }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a person asks whether a user is in a segment and why not, and sees users of it", async () => {
    const id = await declareSegment(server, workspace, "Asked");
    const { page, complaints } = await dashboard.open(`${path}/segments/${id}`);
    await page.getByLabel("Is this user in it?").fill("u2");
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByText("No.", { exact: true }).waitFor();
    await page.getByText("✗ can receive email").waitFor();
    await page.getByRole("button", { name: "Show twenty" }).click();
    await page.getByRole("listitem").filter({ hasText: "u0 Nora Lind" }).waitFor();
    await page.getByRole("link", { name: "u0" }).click();
    await page.getByRole("tab", { name: "Segments" }).click();
    await page.getByRole("link", { name: "Asked" }).waitFor();
    assert.deepEqual(complaints, []);
  });
});
