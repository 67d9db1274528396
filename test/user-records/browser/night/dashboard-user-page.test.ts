/* The search and the filters of the pages of users, and where the focus goes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../../browser/accessibility.ts";
import {
  isLoaded,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../../browser/dashboard-browser.ts";
import { NEWSLETTER, startServer, type TestWorkspace } from "../../../harness.ts";

describe("searching and filtering users in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  const platformIdOf = async (workspace: TestWorkspace, externalId: string): Promise<string> =>
    (await workspace.profile({ external_ids: [externalId] })).platform_id;

  test("the search follows the address: a link to all users empties it, and Slash leads back into it", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ external_id: "ada" }, { external_id: "grace" }] });
    const { page } = await dashboard.open(`/w/${workspace.name}/users?query=ad`);
    const [field, grace] = [
      page.getByRole("textbox", { name: "Find users" }),
      page.getByRole("link", { name: "grace" }),
    ];
    await page.getByRole("link", { name: "ada" }).waitFor();
    assert.deepEqual([await field.inputValue(), await grace.count()], ["ad", 0]);
    await page
      .getByRole("navigation", { name: "Data" })
      .getByRole("link", { name: "Users" })
      .click();
    await grace.waitFor();
    assert.equal(await field.inputValue(), "");
    await page.getByRole("heading", { name: "Users", exact: true }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("gr");
    await page.getByRole("link", { name: "ada" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByRole("link", { name: "ada" }).waitFor();
  });

  test("the timeline can be filtered by event and day, and attributes can be searched by name or value", async () => {
    const workspace = await server.workspace();
    const event = (name: string, time: string) => ({ external_id: "أمل", name, time });
    await workspace.track({
      attributes: [
        {
          external_id: "أمل",
          first_name: "أمل",
          ...Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`a${index}`, index])),
          plan: "gold",
        },
      ],
      events: [
        event("opened", "2026-01-01T12:00:00Z"),
        event("opened", "2026-02-01T12:00:00Z"),
        event("closed", "2026-03-01T12:00:00Z"),
      ],
    });
    const path = `/w/${workspace.name}/users/${await platformIdOf(workspace, "أمل")}`;
    const { page, complaints } = await dashboard.open(`${path}?tab=totals`);
    const total = page.getByRole("row").filter({ hasText: "opened" });
    await total.getByRole("cell", { name: "2", exact: true }).waitFor();
    await total.getByRole("link", { name: "opened" }).click();
    const rows = page.getByRole("table", { name: "Timeline" }).getByRole("button");
    await rows.nth(1).waitFor();
    assert.deepEqual(await rows.allInnerTexts(), ["Event opened", "Event opened"]);
    await page.getByLabel("Until the end of").fill("2026-01-15");
    await rows.nth(1).waitFor({ state: "detached" });
    assert.match(page.url(), /\?event=opened&until=2026-01-15$/);
    await page.getByLabel("From").fill("2026-01-02");
    await page.getByText("Nothing like this").waitFor();
    await page.getByLabel("From").fill("2026-01-01");
    await rows.first().waitFor();
    await page.reload();
    await rows.first().waitFor();
    assert.equal(await rows.count(), 1);
    await page.getByRole("tab", { name: "Attributes" }).click();
    await page.getByRole("textbox", { name: "Find an attribute" }).fill("GOL");
    await page.getByText("a29", { exact: true }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit plan" }).click();
    // A dialog gives the focus back to what opened it.
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page
      .locator(":focus")
      .and(page.getByRole("button", { name: "Edit plan" }))
      .waitFor();
    await page.getByRole("button", { name: "Actions", exact: true }).click();
    await page.getByRole("menuitem", { name: /Erase/ }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page
      .locator(":focus")
      .and(page.getByRole("button", { name: "Actions" }))
      .waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a dialog whose file loads after the focus has moved gives it back to the button of the menu that opened it", async () => {
    const workspace = await server.workspace();
    await workspace.track({ attributes: [{ external_id: "ada" }] });
    const path = `/w/${workspace.name}/users/${await platformIdOf(workspace, "ada")}`;
    const { page, complaints } = await dashboard.open(path);
    const actions = page.getByRole("button", { name: "Actions", exact: true });
    await page.route("**/erase-user-*.js", async (route) => {
      await page.locator(":focus").and(actions).waitFor();
      await actions.blur();
      await route.continue();
    });
    await actions.click();
    await page.getByRole("menuitem", { name: /Erase/ }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.locator(":focus").and(actions).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a subscription state that was changed by mistake is brought back with one click", async () => {
    const workspace = await server.workspace();
    const subscribed = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
    await workspace.track({
      attributes: [
        { external_id: "ada", email: "ada@example.com", subscription_groups: [subscribed] },
      ],
    });
    const id = await platformIdOf(workspace, "ada");
    const { page } = await dashboard.open(`/w/${workspace.name}/users/${id}?tab=subscriptions`);
    const state = page.getByRole("combobox", { name: "State of Newsletter" });
    await state.click();
    await page.getByRole("option", { name: "Unsubscribed" }).click();
    await page.getByText("Newsletter is set to Unsubscribed.").waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Undo" }).click();
    const history = page.getByRole("table", { name: "History of states" });
    await history.getByRole("row").nth(3).waitFor();
    await isLoaded(page);
    assert.equal(await state.inputValue(), "Subscribed");
  });
});
