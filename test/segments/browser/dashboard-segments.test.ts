/* Segments in the dashboard: made with only the keyboard, counted while they are made, exported; and the catalogue. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { parse } from "yaml";
import { assertAccessible } from "../../browser/accessibility.ts";
import {
  goTo,
  isLoaded,
  SCREENS,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../browser/dashboard-browser.ts";
import { tabTo } from "../../browser/tab-to.ts";
import { NEWSLETTER, startServer, type TestWorkspace } from "../../harness.ts";

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
    await choose(page, /Users who/, "bought");
    await choose(page, /Value/, "");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("2");
    await tabTo(page, /in the last days/);
    await page.keyboard.type("30");
    await tabTo(page, /Add a condition/);
    await page.keyboard.press("Enter");
    const second = page.getByRole("group", { name: "Condition 2" });
    await second.waitFor();
    await second.getByLabel("Users who").focus();
    await page.keyboard.type("can receive");
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
    // Counted when it was saved: the chart says so, and so does the list.
    await page.getByRole("img", { name: "Size over time: Users 2" }).waitFor();
    const downloading = page.waitForEvent("download");
    await tabTo(page, /Export/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Export users" }).waitFor();
    await assertAccessible(page);
    await tabTo(page, /Download the CSV/);
    await page.keyboard.press("Enter");
    const downloaded = await downloading;
    assert.equal(downloaded.suggestedFilename(), "Repeat buyers.csv");
    const lines = (await readFile(await downloaded.path(), "utf8")).trimEnd().split("\n");
    assert.equal(lines[0], "external_id,first_name,last_name,email,country");
    assert.deepEqual(
      lines
        .slice(1)
        .map((line) => line.split(",")[0])
        .sort(),
      ["u0", "u1"],
    );
    await page.getByText("Exported 2 users.").waitFor();
    await page.getByRole("link", { name: "Segments" }).first().click();
    await page.getByRole("row", { name: /Repeat buyers.*\b2\b/s }).waitFor();
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

  test("a person counts exactly, sees when, and cancels a count that waits", async () => {
    const id = await declared(workspace, "Counted");
    const { page, complaints } = await dashboard.open(`${path}/segments/${id}`);
    await page.getByRole("button", { name: "Count exactly" }).click();
    await page.getByText(/^2 of 5 users, counted just now\.$/).waitFor();
    await goTo(page, `${path}/segments/${id}`);
    await page.getByText(/^2 of 5 users, counted /).waitFor();
    await withWaitingCount(workspace, id);
    await goTo(page, `${path}/segments`);
    await page.getByText("1 of about 5 users counted, 1 of them meet the filter.").waitFor();
    await goTo(page, `${path}/segments/${id}`);
    await page.getByRole("progressbar", { name: "Users counted" }).waitFor();
    await assertAccessible(page);
    await tabTo(page, /Cancel the count/);
    await page.keyboard.press("Enter");
    await page.getByText("The count was cancelled.").waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a filter of five levels, with conditions that only JSON can say, is changed in the builder", async () => {
    const id = randomUUID();
    const deep = {
      any: [
        { event: "opened", at_least: 1, where: { property: "page", equals: "home" } },
        { all: [{ not: { any: [{ all: [{ custom_attribute: "plan", equals: "free" }] }] } }] },
      ],
    };
    const put = `/admin/v1/workspaces/${workspace.name}/segments/${id}`;
    const segment = { name: "Deep", tags: ["first"], filter: deep };
    assert.equal((await server.admin("PUT", put, segment)).status, 200);
    const { page, complaints } = await dashboard.open(`${path}/segments/${id}`);
    const inmost = page.getByRole("group", { name: "Condition 2.1.1.1" });
    await inmost.getByLabel("Value").fill("pro");
    await page
      .getByRole("group", { name: "Condition 1" })
      .getByLabel("JSON")
      .fill('{"event":"opened","at_least":2,"where":{"property":"page","equals":"home"}}');
    await page.getByRole("button", { name: "Add a condition to group 2.1", exact: true }).click();
    await page
      .getByRole("group", { name: "Condition 2.1.2" })
      .getByLabel("Users who")
      .selectOption({ label: "can receive email" });
    assert.equal(
      await page.getByRole("button", { name: "Add a group to group 2.1.1" }).count(),
      0,
      "a sixth level is not offered",
    );
    await page.getByRole("combobox", { name: "Tags" }).fill("second");
    await page.keyboard.press("Enter");
    await page.getByText("For a manifest, or as JSON").click();
    await page.getByText('tags: ["first","second"]').waitFor();
    await page
      .getByText(/^Users who match: .*at least 2 times where page is "home".*"pro".*email/)
      .waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Deep is saved.").waitFor();
    const { body } = await server.admin("GET", put);
    assert.deepEqual(body.tags, ["first", "second"]);
    assert.deepEqual(body.filter, {
      any: [
        { event: "opened", at_least: 2, where: { property: "page", equals: "home" } },
        {
          all: [
            {
              not: {
                any: [
                  { all: [{ custom_attribute: "plan", equals: "pro" }] },
                  { email_available: true },
                ],
              },
            },
          ],
        },
      ],
    });
    assert.deepEqual(complaints, []);
  });

  test("what is copied for a manifest declares the same segment in another workspace", async () => {
    const id = await declared(workspace, "Copied: as it is");
    const { page } = await dashboard.open(`${path}/segments/${id}`);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByText("For a manifest, or as JSON").click();
    await page.getByRole("button", { name: "Copy: the segment for a manifest" }).click();
    const entry = (await page.evaluate("navigator.clipboard.readText()")) as string;
    const name = `${workspace.name}-copy`;
    const manifest = { company: { name: "Test" }, workspaces: [{ name, segments: parse(entry) }] };
    const applied = await server.admin("POST", "/admin/v1/apply", manifest);
    assert.equal(applied.status, 200, JSON.stringify(applied.body));
    const segmentIn = async (name: string) => {
      const { body } = await server.admin("GET", `/admin/v1/workspaces/${name}/segments/${id}`);
      return [body.name, body.tags, body.filter];
    };
    assert.deepEqual(await segmentIn(name), await segmentIn(workspace.name));
  });

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

  test("the comparisons that make sense for an attribute come first, and all others are behind 'More'", async () => {
    const { page } = await dashboard.open(`${path}/segments/new`);
    await page.getByLabel("Users who").selectOption({ label: "have the custom attribute" });
    await page.getByRole("combobox", { name: "Attribute" }).fill("visits");
    const comparison = page.getByLabel("Comparison");
    const offered = () => comparison.locator("option").allInnerTexts();
    assert.deepEqual(await offered(), [
      "is",
      "at least",
      "at most",
      "is more than",
      "is less than",
      "is one of",
      "is there",
      "More…",
    ]);
    await comparison.selectOption({ label: "More…" });
    assert.equal((await offered()).length, 20);
    await page.getByLabel("Users who").selectOption({ label: "have in their profile" });
    await page.getByLabel("Attribute").selectOption({ label: "Date of birth" });
    assert.equal((await offered())[0], "is in the last days");
    assert.ok(!(await offered()).includes("contains"), "a comparison that the server refuses");
    await page.getByLabel("Attribute").selectOption({ label: "Language" });
    await comparison.selectOption({ label: "is one of" });
    for (const language of ["German", "Danish"]) {
      await page.getByRole("combobox", { name: "Values" }).fill(language);
      await page.getByRole("option", { name: new RegExp(`^${language} \\(`) }).click();
    }
    await page.getByText('Users who match: language is one of "de", "da".').waitFor();
  });

  test("the catalogue lists events, attributes with their types, and products, and links to a segment with one", async () => {
    const { page, complaints } = await dashboard.open(`${path}/catalogue?kind=product`);
    await page.getByRole("link", { name: "shoes" }).waitFor();
    await page.getByText("Attributes", { exact: true }).click();
    await page.getByText("string 5").waitFor();
    await page.getByRole("link", { name: "Country" }).waitFor();
    await assertAccessible(page);
    await goTo(page, `${path}/catalogue?kind=product`);
    await page.getByRole("link", { name: "shoes" }).click();
    await page.getByText("Users who match: bought shoes at least 1 time.").waitFor();
    assert.deepEqual(complaints, []);
  });

  test("the page of an attribute has its types and its values with how many users have each, and fills in a new segment", async () => {
    const { page, complaints } = await dashboard.open(`${path}/catalogue?kind=attribute`);
    await page.getByRole("link", { name: "plan" }).click();
    await page.getByRole("heading", { name: "plan", exact: true }).waitFor();
    await page.getByText("string 5").waitFor();
    await page.getByText(/^5 of 5 users have it/).waitFor();
    await page.getByRole("row", { name: /^pro 5 100/ }).waitFor();
    await assertAccessible(page);
    await page.getByRole("link", { name: "New segment of pro" }).click();
    await page.getByText('Users who match: plan is "pro".').waitFor();
    await goTo(page, `${path}/catalogue?kind=attribute`);
    await page.getByRole("link", { name: "Country" }).click();
    await page.getByRole("row", { name: /^France \(FR\) 3 60/ }).waitFor();
    await page.getByRole("row", { name: /^Germany \(DE\) 2 40/ }).waitFor();
    await page.getByRole("link", { name: "New segment of DE" }).click();
    await page.getByText('Users who match: country is "DE".').waitFor();
    await page.getByText(/^2 of 5 users$/).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("the pages of segments fit a phone", async () => {
    const id = await declared(workspace, "On a phone");
    const { page } = await dashboard.open(`${path}/segments`, {
      viewport: SCREENS.phone,
      hasTouch: true,
      isMobile: true,
    });
    for (const each of ["/segments", `/segments/${id}`, "/segments/new", "/catalogue", "/catalogue/attribute?name=plan"]) {
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

/** A count that has looked at one user, and that no job continues. */
async function withWaitingCount({ name }: TestWorkspace, segmentId: string): Promise<void> {
  const { database } = await startServer();
  await database.query(
    `insert into segment_counts (workspace_id, count_id, segment_id, filter, status, after, total, matching,
       expected, started_at)
     select workspace_id, $1, segment_id, filter, 'running', $2::uuid, 1, 1, 5, now()
     from segments join workspaces using (workspace_id) where workspaces.name = $3 and segment_id = $4::uuid`,
    [randomUUID(), "00000000-0000-0000-0000-000000000000", name, segmentId],
  );
}

/** Five users with a plan, two of them in Germany; the first three bought twice, and the first two of them have an address. */
async function withBuyers(workspace: TestWorkspace): Promise<void> {
  const time = new Date().toISOString();
  const bought = { product_id: "shoes", currency: "EUR", price: 1, time };
  const ids = ["u0", "u1", "u2", "u3", "u4"];
  const { status } = await workspace.track({
    attributes: ids.map((external_id, index) => ({
      external_id,
      plan: "pro",
      visits: index,
      country: index === 1 || index === 4 ? "DE" : "FR",
      ...(index === 3 && {
        subscription_groups: [
          { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" },
        ],
      }),
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
