/* The quick search of the dashboard: Ctrl K, a few letters, Enter. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { assertAccessible } from "../accessibility.ts";
import { isLoaded, skipWithoutBrowser as skip, startDashboard } from "../dashboard-browser.ts";

describe("the quick search of the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const workspace = await server.workspace();
  const other = await server.workspace();
  await workspace.track({
    attributes: [
      { external_id: "ada", email: "lovelace@example.com", first_name: "Ada", last_name: "King" },
      { external_id: "apiarist" },
    ],
  });

  test("with the keyboard alone a person goes to any page, user or workspace by a part of its name", async () => {
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/groups`);
    await isLoaded(page);
    const field = page.getByRole("combobox", { name: "Go to a page, a workspace or a user" });
    const options = page.getByRole("option");
    const search = async (text: string) => {
      // Once it is loaded, it has the focus before the next letter comes.
      await page.keyboard.press("Control+k");
      await page.keyboard.type(text);
      assert.equal(await field.inputValue(), text);
    };
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await field.waitFor();
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
    await search("comp aud");
    await options.filter({ hasText: "Audit log" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL("**/company/audit");

    // A page of the company still searches the users of the workspace that was shown before it.
    await search("LOVELACE@");
    await options.filter({ hasText: "ada" }).filter({ hasText: "Ada King" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "ada" }).waitFor();
    assert.match(page.url(), new RegExp(`/w/${workspace.name}/users/`));

    await search("kín AD");
    await options.filter({ hasText: "ada" }).filter({ hasText: "Ada King" }).waitFor();
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });

    // Pages come first, and the arrows lead on.
    await search("api");
    await options.filter({ hasText: "apiarist" }).waitFor();
    assert.equal(await page.getByRole("option", { selected: true }).count(), 1);
    await page.getByRole("option", { name: /API keys/, selected: true }).waitFor();
    await assertAccessible(page, { within: "[role=dialog]" });
    await page.keyboard.press("ArrowDown");
    await page.getByRole("option", { name: "apiarist", selected: true }).waitFor();
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });

    await search(other.name);
    await options.filter({ hasText: other.name }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/w/${other.name}/overview`);
    assert.deepEqual(complaints, []);
  });
});
