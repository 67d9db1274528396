/* Segments in the dashboard: made with the keyboard alone, counted while they are made, exported; and the catalogue. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startServer, type TestWorkspace } from "../harness.ts";
import { assertAccessible } from "./accessibility.ts";
import {
  goTo,
  isLoaded,
  SCREENS,
  skipWithoutBrowser as skip,
  startDashboard,
} from "./dashboard-browser.ts";
import { tabTo } from "./tab-to.ts";

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

  test("with the keyboard alone a person makes 'bought twice in 30 days and can receive email', and exports whom it counts", async () => {
    const { page, complaints } = await dashboard.open(`${path}/segments`);
    await isLoaded(page);
    await tabTo(page, /New segment/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "New segment" }).waitFor();
    await choose(page, /Subject/, "Bought");
    await choose(page, /Value/, "");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("2");
    await tabTo(page, /in the last days/);
    await page.keyboard.type("30");
    await tabTo(page, /Add a condition/);
    await page.keyboard.press("Enter");
    const second = page.getByRole("group", { name: "Condition 2" });
    await second.waitFor();
    await second.getByLabel("Subject").focus();
    await page.keyboard.type("Can receive");
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
    const downloading = page.waitForEvent("download");
    await tabTo(page, /Export/);
    await page.keyboard.press("Enter");
    const file = await (await downloading).path();
    const users = (await readFile(file, "utf8")).trimEnd().split("\n");
    assert.deepEqual(users.map((line) => JSON.parse(line).external_id).sort(), ["u0", "u1"]);
    await page.getByRole("status").getByText("Exported 2 users.").waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a person asks whether a user is in a segment and why not, and sees users of it", async () => {
    const id = await declared(workspace, "Asked");
    const { page, complaints } = await dashboard.open(`${path}/segments/${id}`);
    await page.getByLabel("Is this user in it?").fill("u2");
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByText("No.", { exact: true }).waitFor();
    await page.getByText("✗ can receive email").waitFor();
    await page.getByRole("button", { name: "Show twenty" }).click();
    await page.getByRole("link", { name: "u0" }).waitFor();
    await page.getByRole("link", { name: "u0" }).click();
    await page.getByRole("tab", { name: "Segments" }).click();
    await page.getByRole("link", { name: "Asked" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a filter that cannot be counted says why in its place", async () => {
    const { page } = await dashboard.open(`${path}/segments/new`);
    await page.getByLabel("Subject").selectOption({ label: "Did an event" });
    await page.getByText(/'filter.all\[0\].event'/).waitFor();
    await assertAccessible(page);
  });

  test("the catalogue lists events, attributes with their types, and products, and leads to a segment with one", async () => {
    const { page, complaints } = await dashboard.open(`${path}/catalogue?kind=product`);
    await page.getByRole("link", { name: "shoes" }).waitFor();
    await page.getByText("Attributes", { exact: true }).click();
    await page.getByText("string 5").waitFor();
    await assertAccessible(page);
    await goTo(page, `${path}/catalogue?kind=product`);
    await page.getByRole("link", { name: "shoes" }).click();
    await page.getByText("Users who match: bought shoes at least 1 time.").waitFor();
    assert.deepEqual(complaints, []);
  });

  test("the pages of segments fit a phone", async () => {
    const id = await declared(workspace, "On a phone");
    const { page } = await dashboard.open(`${path}/segments`, {
      viewport: SCREENS.phone,
      hasTouch: true,
      isMobile: true,
    });
    for (const each of ["/segments", `/segments/${id}`, "/segments/new", "/catalogue"]) {
      await goTo(page, `${path}${each}`);
      await isLoaded(page);
      const width = await page.evaluate("document.documentElement.scrollWidth");
      assert.equal(width, SCREENS.phone.width, each);
      await assertAccessible(page);
    }
    await page.context().close();
  });

  async function declared({ name }: TestWorkspace, title: string): Promise<string> {
    const id = randomUUID();
    const filter = {
      all: [{ purchases: "any", at_least: 2, in_last_days: 30 }, { email_available: true }],
    };
    const put = `/admin/v1/workspaces/${name}/segments/${id}`;
    assert.ok((await server.admin("PUT", put, { name: title, filter })).status < 300);
    return id;
  }
});

/** Five users with a plan; the first three bought twice, and the first two of them have an address. */
async function withBuyers(workspace: TestWorkspace): Promise<void> {
  const time = new Date().toISOString();
  const bought = { product_id: "shoes", currency: "EUR", price: 1, time };
  const ids = ["u0", "u1", "u2", "u3", "u4"];
  const { status } = await workspace.track({
    attributes: ids.map((external_id, index) => ({
      external_id,
      plan: "pro",
      ...(index < 2 && { email: `${external_id}@example.com` }),
    })),
    purchases: ids
      .slice(0, 4)
      .flatMap((external_id, index) =>
        Array.from({ length: index < 3 ? 2 : 1 }, () => ({ external_id, ...bought })),
      ),
  });
  assert.equal(status, 201);
}
