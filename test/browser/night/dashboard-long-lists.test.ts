/* Long lists in the dashboard: scrolling reads page after page, and draws only the rows on the screen. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startServer } from "../../harness.ts";
import { until } from "../../until.ts";
import {
  goTo,
  isLoaded,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../dashboard-browser.ts";

/** Six pages of a list. */
const ENTRIES = 550;

/** A request of /users/track takes no more objects. */
const PER_REQUEST = 50;

describe("long lists in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const workspace = await server.workspace();
  const nameOf = (index: number) => `user-${String(index).padStart(4, "0")}`;
  const all = Array.from({ length: ENTRIES }, (_, index) => index);
  const start = Date.parse("2026-01-01T00:00:00Z");
  for (let from = 0; from < ENTRIES; from += PER_REQUEST) {
    const part = all.slice(from, from + PER_REQUEST);
    const attributes = part.map((index) => ({ external_id: nameOf(index), plan: "gold" }));
    const events = part.map((index) => ({
      external_id: nameOf(0),
      name: `event-${index}`,
      time: new Date(start + index * 60_000).toISOString(),
      properties: { index },
    }));
    for (const request of [{ attributes }, { events }]) {
      const answer = await workspace.track(request);
      assert.equal(answer.body.errors, undefined, JSON.stringify(answer.body));
    }
  }

  const drawnRows = (page: Page) => page.locator(".table tbody[data-index]").count();
  const elements = (page: Page): Promise<number> =>
    page.evaluate("document.querySelectorAll('*').length");

  /** Scrolls to the end again and again, until everything is loaded. @returns the most rows and elements on the way. */
  async function scrollThrough(page: Page): Promise<{ rows: number; elements: number }> {
    const most = { rows: 0, elements: 0 };
    const done = page.getByText(`${ENTRIES} in total`);
    for (let steps = 0; steps < 200 && !(await done.isVisible()); steps += 1) {
      await page.mouse.wheel(0, 3_000);
      await page.evaluate("new Promise(requestAnimationFrame)");
      most.rows = Math.max(most.rows, await drawnRows(page));
      most.elements = Math.max(most.elements, await elements(page));
    }
    await done.waitFor();
    return most;
  }

  for (const [title, path, first, last] of [
    ["users", "/users", nameOf(0), nameOf(ENTRIES - 1)],
    [
      "the events of a user",
      async () => `/users/${(await workspace.profile({ external_ids: [nameOf(0)] })).platform_id}`,
      `event-${ENTRIES - 1}`,
      "event-0",
    ],
  ] as const) {
    test(`scrolling through ${title} reads every page while the document stays as small as after the first ones`, async () => {
      const where = typeof path === "string" ? path : await path();
      const { page, complaints } = await dashboard.open(`/w/${workspace.name}${where}`);
      await isLoaded(page);
      await page.getByText(first).first().waitFor();
      const before = await elements(page);
      await page.mouse.move(700, 500);
      const most = await scrollThrough(page);
      assert.ok(most.rows < 80, `${most.rows} rows are drawn at once.`);
      assert.ok(
        most.elements < before * 2,
        `The document grew from ${before} to ${most.elements}.`,
      );
      await page.mouse.wheel(0, 1_000_000);
      await page.getByText(last).first().waitFor();
      const table = page.locator(".table[aria-rowcount]").first();
      if (title === "users") {
        // With its heading; the rows that are drawn say which they are.
        assert.equal(await table.getAttribute("aria-rowcount"), String(ENTRIES + 1));
        await table.locator(`tr[aria-rowindex="${ENTRIES + 1}"]`).waitFor();
      }
      await page.mouse.wheel(0, -1_000_000);
      await page.getByText(first).first().waitFor();
      assert.ok((await elements(page)) < before * 2);
      assert.deepEqual(complaints, []);
    });
  }

  test("a list that is loaded whole is sorted by a column with mouse or keyboard, and one that is cut off is not", async () => {
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/groups`);
    const names = () => page.locator(".table tbody strong").allTextContents();
    const sort = page.getByRole("button", { name: "Name", exact: true });
    const orders = page.locator("th[aria-sort]");
    await sort.click();
    assert.deepEqual(await names(), ["Alerts", "Newsletter"]);
    assert.equal(await orders.getAttribute("aria-sort"), "ascending");
    await sort.press("Enter");
    assert.deepEqual(await names(), ["Newsletter", "Alerts"]);
    assert.equal(await orders.getAttribute("aria-sort"), "descending");

    // Of 550 names of events the catalogue shows 250; of one attribute all. Names are written every ten seconds.
    const more = page.getByText("There are more: search by a part of the name.");
    await until(async () => {
      await goTo(page, `/w/${workspace.name}/catalogue`);
      await isLoaded(page);
      return more.isVisible();
    });
    assert.equal(await page.locator("th button").count(), 0);
    await page.getByText("Attributes", { exact: true }).click();
    await page.getByRole("button", { name: "Sent", exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });
});
