/* Which button each permission enables, and where a person lands. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { isLoaded, skipWithoutBrowser as skip, startDashboard } from "../dashboard-browser.ts";
import { filledWorkspace } from "../dashboard-workspace.ts";
import { changingButtons, openAsPerson, SEEING } from "../person-with-permissions.ts";

describe("what a permission enables in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const filled = await filledWorkspace(server);
  const { name, paths } = filled;
  const { page, hold, openWith, show } = await openAsPerson(dashboard, filled);
  const CASES = changingButtons(paths);

  test("the permission that a button needs enables it, and no other one does", async () => {
    for (const permission of new Set(CASES.map(([, , each]) => each))) {
      const own = CASES.filter(([, , needed]) => needed === permission);
      const foreign = CASES.filter(([, , needed]) => needed !== permission).slice(0, 1);
      await openWith(own[0]?.[0] ?? "", [...SEEING, permission]);
      for (const [path, label, needed] of [...own, ...foreign]) {
        await show(path);
        const button = page.getByRole("button", { name: label, exact: true });
        const isDisabled = (await button.getAttribute("aria-disabled")) === "true";
        assert.equal(isDisabled, needed !== permission, `${label} with ${permission}`);
      }
    }
  });

  test("a person lands on the first page that they may see", async () => {
    for (const [permission, path] of [
      ["basic_access", "segments"],
      ["dev_console", "requests"],
      ["view_usage_data", "overview"],
    ] as const) {
      hold([permission]);
      await page.goto(`${server.url}/dashboard/`);
      await page.waitForURL(new RegExp(`/w/${name}/${path}$`));
      await isLoaded(page);
    }
  });
});
