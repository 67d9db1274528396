/* Counts, deep filters, manifests and phones on the pages of segments. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { assertAccessible } from "../../../browser/accessibility.ts";
import {
  goTo,
  isLoaded,
  SCREENS,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../../browser/dashboard-browser.ts";
import { tabTo } from "../../../browser/tab-to.ts";
import { startServer, type TestWorkspace } from "../../../harness.ts";
import { declareSegment, withBuyers } from "../buyers.ts";

describe("counts and filters of segments in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const workspace = await server.workspace();
  await withBuyers(workspace);
  const path = `/w/${workspace.name}`;

  test("a person counts exactly, sees when, and cancels a count that waits", async () => {
    const id = await declareSegment(server, workspace, "Counted");
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
    const id = await declareSegment(server, workspace, "Copied: as it is");
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

  test("the pages of segments fit a phone", async () => {
    const id = await declareSegment(server, workspace, "On a phone");
    const { page } = await dashboard.open(`${path}/segments`, {
      viewport: SCREENS.phone,
      hasTouch: true,
      isMobile: true,
    });
    for (const each of [
      "/segments",
      `/segments/${id}`,
      "/segments/new",
      "/catalogue",
      "/catalogue/attribute?name=plan",
    ]) {
      await goTo(page, `${path}${each}`);
      await isLoaded(page);
      const width = await page.evaluate("document.documentElement.scrollWidth");
      assert.equal(width, SCREENS.phone.width, each);
      await assertAccessible(page);
    }
    await page.context().close();
  });
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
