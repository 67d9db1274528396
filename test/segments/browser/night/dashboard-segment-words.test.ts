/* Segments in words, and the catalogue and attributes that lead to them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../../browser/accessibility.ts";
import {
  goTo,
  show,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../../browser/dashboard-browser.ts";
import { NEWSLETTER, startServer } from "../../../harness.ts";
import { withBuyers } from "../buyers.ts";

describe("segments in words in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const workspace = await server.workspace();
  await withBuyers(workspace);
  const path = `/w/${workspace.name}`;

  test("a new segment asks the server nothing before something is chosen and typed, and then says what is wrong", async () => {
    const { page, complaints } = await dashboard.open(`${path}/segments/new`);
    const counted: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/segments/count")) counted.push(request.postData() ?? "");
    });
    await page.getByText("Choose what the users of the segment did or are.").waitFor();
    await page.getByText(/^5 users$/).waitFor();
    await page.getByLabel("Name").fill("Nothing yet");
    assert.ok(await page.getByRole("button", { name: "Save" }).isDisabled());
    const users = page.getByLabel("Users who");
    for (const each of ["did", "live in", "are subscribed to", "have the custom attribute"]) {
      await users.selectOption({ label: each });
    }
    await page.getByRole("combobox", { name: "Attribute" }).fill("plan");
    // Takes longer than typing rests before users are counted.
    await assertAccessible(page);
    assert.deepEqual(counted, []);
    assert.deepEqual(complaints, []);
    await users.selectOption({ label: "bought" });
    await page.getByLabel("in the last days").fill("99");
    await page.getByText(/'filter.all\[0\].in_last_days'/).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Add a condition" }).click();
    await page.getByText("A condition is not finished.").waitFor();
    assert.ok(await page.getByRole("button", { name: "Save" }).isDisabled());
  });

  test("marketers say 'bought in the last 30 days, lives in Germany' and 'never opened the app, is subscribed to the newsletter' in their own words", async () => {
    const { page, complaints } = await dashboard.open(`${path}/segments/new`);
    let clicks = 0;
    const choosing = async (number: number, label: string) => {
      clicks += 1;
      const condition = page.getByRole("group", { name: `Condition ${number}` });
      await condition.getByLabel("Users who").selectOption({ label });
      return condition;
    };
    const bought = await choosing(1, "bought");
    await bought.getByLabel("in the last days").fill("30");
    await page.getByRole("button", { name: "Add a condition" }).click();
    const lives = await choosing(2, "live in");
    await lives.getByRole("combobox", { name: "Value" }).fill("german");
    assert.equal(await page.getByRole("option").filter({ visible: true }).count(), 1);
    await page.getByRole("option", { name: "Germany (DE)" }).click();
    clicks += 4;
    await page.getByText(/^1 of 5 users$/).waitFor();
    assert.equal(clicks, 6);
    assert.deepEqual(await saved("German buyers"), [
      { purchases: "any", at_least: 1, in_last_days: 30 },
      { attribute: "country", equals: "DE" },
    ]);

    await goTo(page, `${path}/segments/new`);
    await choosing(1, "never opened the app");
    await page.getByRole("button", { name: "Add a condition" }).click();
    const subscribed = await choosing(2, "are subscribed to");
    await subscribed.getByLabel("Group").selectOption({ label: "Newsletter" });
    await page.getByText(/^1 of 5 users$/).waitFor();
    assert.deepEqual(await saved("Asleep"), [
      { not: { sessions: "any", at_least: 1 } },
      { subscription_group: NEWSLETTER, is: "subscribed" },
    ]);
    assert.deepEqual(complaints, []);

    /** Saves the segment, opens it again, and saves it as it is shown. @returns its conditions. */
    async function saved(title: string): Promise<unknown> {
      await page.getByLabel("Name").fill(title);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("heading", { name: title }).waitFor();
      const name = { name: "Condition 2" };
      assert.equal(await page.getByRole("group", name).getByLabel("JSON").count(), 0);
      await page.getByRole("button", { name: "Save" }).click();
      const list = await server.admin("GET", `/admin/v1/workspaces/${workspace.name}/segments`);
      return list.body.segments.find((each: any) => each.name === title).filter.all;
    }
  });

  test("the catalogue lists events, attributes with their types, and products, and links to a segment with one", async () => {
    const { page, complaints } = await dashboard.open(`${path}/catalogue?kind=product`);
    await page.getByRole("link", { name: "shoes" }).waitFor();
    await page.getByText("Attributes", { exact: true }).click();
    await page.getByText("string 5").waitFor();
    await page.getByRole("link", { name: "Country" }).waitFor();
    await assertAccessible(page);
    await show(page, `${path}/catalogue?kind=product`);
    await page.getByRole("link", { name: "shoes" }).click();
    await page.getByText("Users who match: bought shoes at least 1 time.").waitFor();
    assert.deepEqual(complaints, []);
  });
});
