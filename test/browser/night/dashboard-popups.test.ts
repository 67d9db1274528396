/* The menus, dialogs and lists of one page of the dashboard; those of every page are opened in `night/`. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { isLoaded, skipWithoutBrowser as skip, startDashboard } from "../dashboard-browser.ts";
import { filledWorkspace } from "../dashboard-workspace.ts";
import { checkPopups } from "../popups.ts";

describe("menus, dialogs and lists of a page of the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const { name, paths } = await filledWorkspace(server);

  test("axe finds no violation in any open menu, dialog or list of the page of an integration", async () => {
    const path = `/w/${name}/syncs/${paths.integration}`;
    const { page, complaints } = await dashboard.open(path);
    await isLoaded(page);
    const seen = new Set<string>();
    assert.deepEqual(await checkPopups(page, path, { seen, themes: ["light"] }), []);
    assert.deepEqual(complaints, []);
    assert.ok(seen.size >= 5, [...seen].join("; "));
  });
});
