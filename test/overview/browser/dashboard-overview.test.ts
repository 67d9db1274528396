/* The overview in a browser: traffic as charts, what needs attention, and the first page after sign-in. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../browser/accessibility.ts";
import {
  isLoaded,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../browser/dashboard-browser.ts";
import { startServer } from "../../harness.ts";

const NOON = "2026-01-01T12:00:00Z";

describe("the overview in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  async function busyWorkspace(): Promise<string> {
    const workspace = await server.workspace();
    const events = Array.from({ length: 40 }, (_, index) => ({
      external_id: "ada",
      name: "seen",
      time: index < 10 ? "yesterday" : NOON,
    }));
    await workspace.track({ events });
    return workspace.name;
  }

  test("the overview draws charts, names what needs attention and links to the requests behind it", async () => {
    const name = await busyWorkspace();
    const { page, complaints } = await dashboard.open(`/w/${name}/overview?tab=server`);
    await isLoaded(page);
    for (const chart of ["Requests", "Items", "Response times", "Rejections by code"]) {
      const region = page.getByRole("region", { name: chart, exact: true });
      await region.locator("canvas").waitFor();
      await region.getByRole("img").waitFor();
    }
    await page.getByText("10 (25 %)").waitFor();
    await page.locator(".tile", { hasText: /^Users1$/ }).waitFor();
    await assertAccessible(page);
    // With only the keyboard: the period, then the finding.
    await page.getByRole("radio", { name: "Last hour" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/period=day/);
    const attention = page.getByRole("region", { name: "Needs attention" });
    await attention.getByRole("link").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Live requests", exact: true }).waitFor();
    assert.match(page.url(), /code=[A-Z_]+/);
    await page.getByText("10 rejected").waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a person lands on the overview after signing in", async () => {
    await server.workspace();
    const { page } = await dashboard.open("/");
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    assert.match(page.url(), /\/overview$/);
  });
});
