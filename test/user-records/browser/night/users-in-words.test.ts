/* Users as a marketer sees them: found by name, with what they spent and how they are reached, in words. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../../browser/accessibility.ts";
import {
  assertFits,
  isLoaded,
  SCREENS,
  show,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../../browser/dashboard-browser.ts";
import { ALERTS, startServer, type TestWorkspace, WEB_APP } from "../../../harness.ts";

describe("users in words in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  const platformIdOf = async (workspace: TestWorkspace, externalId: string): Promise<string> =>
    (await workspace.profile({ external_ids: [externalId] })).platform_id;

  test("a user is found by words of the name in any order, and the page says what they spent", async () => {
    const workspace = await server.workspace();
    const bought = { product_id: "desk", currency: "EUR", price: 89.9 };
    await workspace.track({
      attributes: [
        { external_id: "c-1", first_name: "Ida", last_name: "Özdemir" },
        { external_id: "c-2", first_name: "Ida", last_name: "Nguyen" },
        { external_id: "ida-3" },
      ],
      purchases: [{ external_id: "c-1", ...bought, time: "2026-01-01T12:00:00Z" }],
    });
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/users`);
    await isLoaded(page);
    const rows = page.getByRole("table", { name: "Users" }).getByRole("link");
    await page.keyboard.type("ida");
    await page.waitForURL(/query=ida/);
    await rows.nth(2).waitFor();
    await page.keyboard.type(" ozd");
    await rows.nth(1).waitFor({ state: "detached" });
    await page.getByText("Özdemir").waitFor();
    await rows.first().click();
    await page.getByRole("heading", { level: 1, name: "Ida Özdemir", exact: true }).waitFor();
    await page.locator(".summary").getByText("€89.90").waitFor();
    await show(page, `/w/${workspace.name}/users?query=ida&identifier=name`);
    assert.deepEqual(await rows.allInnerTexts(), ["c-2", "c-1"]);
    assert.deepEqual(complaints, []);
  });

  test("the page of a user begins with name, place, time, money and channels in the reader's locale, and says who changed what in words", async () => {
    const workspace = await server.workspace();
    const at = { external_id: "c-7", time: "2026-03-05T22:30:09Z" };
    await workspace.track({
      attributes: [
        {
          external_id: "c-7",
          first_name: "Ida",
          last_name: "Özdemir",
          email: "ida@example.com",
          phone: "+14155552671",
          home_city: "Berlin",
          country: "DE",
          dob: "1990-12-24",
          subscription_groups: [
            { subscription_group_id: ALERTS, subscription_state: "unsubscribed" },
          ],
          push_tokens: [{ app_id: WEB_APP, token: "token-1" }],
        },
        { external_id: "bare", plan: "free" },
      ],
      events: [{ ...at, name: "opened" }],
      purchases: [
        { ...at, product_id: "chair", currency: "EUR", price: 44.95, quantity: 2 },
        { ...at, product_id: "desk", currency: "JPY", price: 1234567.5 },
      ],
    });
    const path = `/w/${workspace.name}/users/${await platformIdOf(workspace, "c-7")}`;
    const german = { locale: "de-DE", timezoneId: "Europe/Berlin" };
    const { page, complaints } = await dashboard.open(path, german);
    await page.getByRole("heading", { level: 1, name: "Ida Özdemir", exact: true }).waitFor();
    await page.getByText("c-7", { exact: true }).waitFor();
    const tiles = page.locator(".summary");
    const shown = async () => (await tiles.innerText()).replaceAll(/\s+/g, " ");
    const text = await shown();
    for (const part of [
      /Place Berlin, Deutschland Since \d\d?\. \S+ \d{4} Last seen .*ago/,
      /Spent 1\.234\.568 ¥ 89,90 € /,
      /Reachable by Email: subscribed Push: 1 device SMS: unsubscribed$/,
    ]) {
      assert.match(text, part);
    }
    await page.getByText("chair · 2 × 44,95 €").waitFor();
    await page
      .getByText(/5\. März.*23:30:09/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: /Unsubscribed: Alerts/ }).waitFor();
    await page.getByText("The key test", { exact: true }).waitFor();
    await page.getByRole("tab", { name: "Totals" }).click();
    await page.getByText(/^Spent 1\.234\.568\s¥, 89,90\s€\.$/).waitFor();
    await page.getByRole("tab", { name: "Attributes" }).click();
    await page.getByText("24. Dez. 1990").waitFor();
    await page.getByRole("tab", { name: "Subscriptions" }).click();
    await page.getByRole("combobox", { name: "State of All email" }).click();
    await page.getByRole("option", { name: "Unsubscribed" }).click();
    await page.getByText("Administrator, in the dashboard").waitFor();
    await page.getByText("Email: unsubscribed").waitFor();
    await assertAccessible(page);
    await page.setViewportSize(SCREENS.phone);
    await assertFits(page);
    // Without any of it a dash is in each place.
    await show(page, `/w/${workspace.name}/users/${await platformIdOf(workspace, "bare")}`);
    await page.getByRole("heading", { level: 1, name: "bare", exact: true }).waitFor();
    assert.match(
      await shown(),
      /^Place – Since .* Last seen Never Spent – Reachable by Email: no address Push: no device Phone: no number$/,
    );
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
