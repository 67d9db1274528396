/* The overview on screens of any width, in another time zone, and without requests. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  assertFits,
  isLoaded,
  SCREENS,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../../browser/dashboard-browser.ts";
import { startServer } from "../../../harness.ts";

const NOON = "2026-01-01T12:00:00Z";

describe("the overview of the server on other screens", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  async function busyWorkspace(): Promise<string> {
    const workspace = await server.workspace();
    const events = Array.from({ length: 40 }, (_, index) => ({
      external_id: "ada",
      name: "seen",
      time: index < 10 ? "yesterday" : NOON,
    }));
    await workspace.track({ events });
    return workspace.name;
  }

  test("what needs attention tells its time in the reader's zone and locale, as the rest of the page", async () => {
    const workspace = await server.workspace();
    const path = `/admin/v1/workspaces/${workspace.name}/api-keys`;
    await server.admin("POST", path, { name: "rotated", permissions: ["all"] });
    await server.admin("POST", `${path}/rotated/rotate`, { overlap_seconds: 7_200 });
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/overview?tab=server`, {
      timezoneId: "Asia/Tokyo",
      locale: "de-DE",
    });
    const finding = page.getByRole("region", { name: "Needs attention" }).getByRole("listitem");
    const until = await finding.getByRole("time").getAttribute("datetime");
    const format = { dateStyle: "medium", timeZone: "Asia/Tokyo" } as const;
    const day = new Date(until ?? "").toLocaleDateString("de-DE", format);
    const text = await finding.innerText();
    assert.match(text, /rotated: The previous secret .* Until .*GMT\+9\.$/);
    assert.ok(text.includes(day.slice(0, 2).replace(".", "")), `${text} ${day}`);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test("the overview fits a phone, and without requests says how to send the first", async () => {
    const { page, complaints } = await dashboard.open(
      `/w/${await busyWorkspace()}/overview?tab=server`,
      {
        viewport: SCREENS.phone,
      },
    );
    await page.locator("canvas").first().waitFor();
    await assertFits(page);
    const empty = await server.workspace();
    await page.goto(`${server.url}/dashboard/w/${empty.name}/overview?tab=server`);
    await page.getByText("No requests in this time").waitFor();
    await page.getByText("Nothing needs attention.").waitFor();
    await page.getByText("curl").waitFor();
    await page.route("**/admin/v1/**/overview?**", (route) =>
      route.fulfill({ status: 500, body: "{}" }),
    );
    await page.reload();
    await page.getByRole("alert").waitFor();
    assert.deepEqual(
      complaints.filter((each) => !each.includes("status of 500")),
      [],
    );
    await page.context().close();
  });

  test("the tiles of the overview fill rows of the same length on a screen of any width", async () => {
    const name = await busyWorkspace();
    for (const width of [390, 768, 1024, 1280, 1440, 1920]) {
      const { page } = await dashboard.open(`/w/${name}/overview?tab=server`, {
        viewport: { width, height: 800 },
      });
      await isLoaded(page);
      const tops = await page
        .locator(".tile")
        .evaluateAll((tiles) => tiles.map((tile) => Math.round(tile.getBoundingClientRect().top)));
      const rows = new Set(tops);
      assert.equal(tops.length, 6);
      for (const top of rows) {
        assert.equal(tops.filter((each) => each === top).length, 6 / rows.size, `${width} px`);
      }
      await page.context().close();
    }
  });
});
