/*
 * Nine tasks of a marketer, done with the dashboard alone and without a word of an API. Each says in how many clicks (also choices
 * from lists) and on how many screens; what is typed does not count.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { NEWSLETTER, startOwnServer } from "../harness.ts";
import { until } from "../until.ts";
import { isLoaded, skipWithoutBrowser as skip, startDashboard } from "./dashboard-browser.ts";

const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

/** A person at a page: every click is counted, and every screen that they come to. */
class Person {
  clicks = 0;
  readonly screens = new Set<string>();
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
    const path = () => this.screens.add(new URL(page.url()).pathname);
    path();
    page.on("framenavigated", path);
  }

  async click(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.click();
  }

  async choose(list: Locator, label: string): Promise<void> {
    this.clicks += 1;
    await list.selectOption({ label });
  }

  go(name: string): Promise<void> {
    const navigation = this.page.getByRole("navigation");
    return this.click(navigation.getByRole("link", { name, exact: true }).first());
  }

  assertTook(clicks: number, screens: number): void {
    assert.deepEqual([this.clicks, this.screens.size], [clicks, screens]);
  }
}

describe("nine tasks of a marketer", { skip }, async () => {
  if (skip) return;
  const server = await startOwnServer();
  const workspace = await server.workspace();
  const dashboard = await startDashboard(server);
  const home = `/w/${workspace.name}/overview`;

  const names = ["Ida Özdemir", "Jonas Nguyen", "Mia Weber", "Leo Rossi"];
  const sent = await workspace.track({
    attributes: names.map((name, index) => {
      const [first_name, last_name] = name.split(" ");
      const group = {
        subscription_group_id: NEWSLETTER,
        subscription_state: index < 2 ? "unsubscribed" : "subscribed",
      };
      return {
        external_id: `c-${index}`,
        first_name,
        last_name,
        email: `${first_name?.toLowerCase()}@example.com`,
        country: index === 3 ? "IT" : "DE",
        plan: index === 0 ? "gold" : "free",
        subscription_groups: [group],
      };
    }),
    events: [
      ...[1, 2, 3].map((days) => ({ external_id: "c-1", name: "Shared", time: daysAgo(days) })),
      { external_id: "c-2", name: "Shared", time: daysAgo(0.01) },
      { external_id: "c-3", name: "Opened", time: daysAgo(2) },
      { external_id: "c-3", name: "Opened", time: daysAgo(40) },
      { external_id: "c-3", name: "Shared", time: daysAgo(40) },
    ],
    purchases: [
      { external_id: "c-0", product_id: "lamp", currency: "EUR", price: 44.95, time: daysAgo(3) },
      { external_id: "c-0", product_id: "lamp", currency: "EUR", price: 44.95, time: daysAgo(2) },
      { external_id: "c-1", product_id: "lamp", currency: "EUR", price: 44.95, time: daysAgo(50) },
      { external_id: "c-3", product_id: "lamp", currency: "EUR", price: 44.95, time: daysAgo(2) },
    ],
  });
  assert.equal(sent.status, 201);
  await workspace.track({ events: [{ external_id: "c-9", name: "Shared", time: "yesterday" }] });
  const integration = `/admin/v1/workspaces/${workspace.name}/integrations/${randomUUID()}`;
  const warehouse = { type: "files", url: "/nowhere.csv" };
  await server.admin("PUT", integration, { name: "CRM", type: "attributes", warehouse });
  await until(async () => {
    const { body } = await server.admin(
      "GET",
      `/admin/v1/workspaces/${workspace.name}/customers?days=7`,
    );
    const latest = await server.admin(
      "GET",
      `/admin/v1/workspaces/${workspace.name}/catalogue/occurrences?event=Shared`,
    );
    return (
      body.groups.some(({ unsubscribed }: any) => unsubscribed === 2) &&
      latest.body.occurrences.length > 0
    );
  });

  const start = async (): Promise<Person> => {
    const { page } = await dashboard.open(home);
    await isLoaded(page);
    return new Person(page);
  };

  test("1. they find a user by name and say what she spent: 2 clicks, 3 screens", async () => {
    const person = await start();
    const { page } = person;
    await person.go("Users");
    await page.getByLabel("Find users").fill("ozdemir ida");
    await page.getByText("1 in total").waitFor();
    await person.click(page.getByRole("link", { name: "c-0" }));
    await page.getByRole("heading", { level: 1, name: "Ida Özdemir" }).waitFor();
    assert.match(await page.locator(".summary").innerText(), /Spent\s+€89\.90/);
    person.assertTook(2, 3);
  });

  test("2. they say why a request was refused: 2 clicks, 2 screens", async () => {
    const person = await start();
    const { page } = person;
    await person.go("Live requests");
    await person.click(page.getByRole("button", { name: /POST \/users\/track/ }).first());
    await page
      .getByRole("table", { name: "Items" })
      .getByText(/INVALID_TIME/)
      .waitFor();
    person.assertTook(2, 2);
  });

  test("3. they make 'bought in the last 30 days, lives in Germany': 8 clicks, 4 screens", async () => {
    const person = await start();
    const { page } = person;
    await person.go("Segments");
    await person.click(page.getByRole("link", { name: "New segment" }).first());
    await page.getByLabel("Name").fill("German buyers");
    const condition = (number: number) => page.getByRole("group", { name: `Condition ${number}` });
    await person.choose(condition(1).getByLabel("Users who"), "bought");
    await condition(1).getByLabel("in the last days").fill("30");
    await person.click(page.getByRole("button", { name: "Add a condition" }));
    await person.choose(condition(2).getByLabel("Users who"), "live in");
    await person.click(condition(2).getByRole("combobox", { name: "Value" }));
    await condition(2).getByRole("combobox", { name: "Value" }).fill("german");
    await person.click(page.getByRole("option", { name: "Germany (DE)" }));
    await page.getByText(/^1 of 4 users$/).waitFor();
    await person.click(page.getByRole("button", { name: "Save", exact: true }));
    await page.getByRole("heading", { level: 1, name: "German buyers" }).waitFor();
    person.assertTook(8, 4);
  });

  test("4. they read its size now and a week ago: 2 clicks, 3 screens", async () => {
    await server.database.query(
      `insert into segment_sizes (workspace_id, segment_id, day, size)
       select workspace_id, segment_id, (now() at time zone 'UTC')::date - 7, 37 from segments where name = 'German buyers'`,
    );
    const person = await start();
    const { page } = person;
    await person.go("Segments");
    await person.click(page.getByRole("link", { name: "German buyers" }));
    await page.getByRole("img", { name: "Size over time: Users 1" }).waitFor();
    const chart = page.getByRole("img", { name: /^Size over time/ });
    const plot = await chart.locator(".u-over").boundingBox();
    assert.ok(plot);
    // Eight days from the right end of thirty.
    await page.mouse.move(plot.x + (plot.width * 22) / 29, plot.y + plot.height / 2);
    await chart.locator(".u-legend").getByText("37", { exact: true }).waitFor();
    person.assertTook(2, 3);
  });

  test("5. they export it as CSV: 4 clicks, 3 screens", async () => {
    const person = await start();
    const { page } = person;
    await person.go("Segments");
    await person.click(page.getByRole("link", { name: "German buyers" }));
    await person.click(page.getByRole("button", { name: /^Export/ }));
    const downloading = page.waitForEvent("download");
    await person.click(page.getByRole("button", { name: "Download the CSV" }));
    const downloaded = await downloading;
    assert.equal(downloaded.suggestedFilename(), "German buyers.csv");
    const text = await readFile(await downloaded.path(), "utf8");
    assert.match(text, /^external_id,.*\r?\nc-0,Ida,Özdemir,/);
    person.assertTook(4, 3);
  });

  test("6. they say which event grew most this month and who did it last: 1 click, 2 screens", async () => {
    const person = await start();
    const { page } = person;
    const growing = page.getByRole("table", { name: "Events that grew most" });
    const first = growing.getByRole("row").nth(1);
    assert.match(await first.innerText(), /Shared\s+4/);
    await person.click(first.getByRole("link", { name: "Shared" }));
    const latest = page.getByRole("table", { name: "Latest occurrences" }).getByRole("row").nth(1);
    await latest.getByRole("link", { name: "Mia Weber" }).waitFor();
    person.assertTook(1, 2);
  });

  test("7. they say how many unsubscribed from the newsletter this week: 1 click, 1 screen", async () => {
    const person = await start();
    const { page } = person;
    await person.click(page.getByRole("radiogroup", { name: "Period" }).getByText("7 days"));
    await page.waitForURL(/period=7/);
    await page
      .getByRole("table", { name: "Subscribers" })
      .getByRole("row", { name: /Newsletter.*\b2\b.*none before/s })
      .waitFor();
    person.assertTook(1, 1);
  });

  test("8. they see which attribute has which values: 3 clicks, 3 screens", async () => {
    const person = await start();
    const { page } = person;
    await person.go("Catalogue");
    await person.click(
      page.getByRole("radiogroup", { name: "What to list" }).getByText("Attributes"),
    );
    await person.click(page.getByRole("link", { name: "plan", exact: true }));
    const values = page.getByRole("table", { name: /Values/ });
    assert.match(await values.getByRole("row").nth(1).innerText(), /free\s+3/);
    assert.match(await values.getByRole("row").nth(2).innerText(), /gold\s+1/);
    person.assertTook(3, 3);
  });

  test("9. they set a sync to nine o'clock in Berlin: 9 clicks, 3 screens", async () => {
    const person = await start();
    const { page } = person;
    await person.go("Syncs");
    await person.click(page.getByRole("link", { name: "CRM" }));
    await person.click(page.getByRole("button", { name: "Actions for CRM" }));
    await person.click(page.getByRole("menuitem", { name: "Edit…" }));
    const dialog = page.getByRole("dialog");
    for (const [list, option] of [
      ["Runs", "Every day"],
      ["Time zone", "Europe/Berlin"],
    ] as const) {
      await person.click(dialog.getByLabel(list).first());
      await person.click(page.getByRole("option", { name: option, exact: true }));
    }
    assert.equal(await dialog.getByLabel("At", { exact: true }).inputValue(), "09:00");
    await person.click(dialog.getByRole("button", { name: "Save" }));
    await page.getByText("Every day at 09:00, Europe/Berlin").waitFor();
    person.assertTook(9, 3);
  });
});
