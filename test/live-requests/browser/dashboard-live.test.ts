/* The page of live requests in a browser: new requests appear by themselves. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  follow,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../browser/dashboard-browser.ts";
import { startServer } from "../../harness.ts";

const NOON = "2026-01-01T12:00:00Z";

describe("the page of live requests", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  test("the page of live requests shows a request as it comes in, holds still while paused, and catches up", async () => {
    const workspace = await server.workspace();
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/requests`);
    await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
    const rows = page.getByRole("button", { name: "POST /users/track" });
    const seen = () =>
      workspace.track({ events: [{ external_id: "ada", name: "seen", time: NOON }] });
    await seen();
    await rows.waitFor();
    await page.getByText("1 accepted").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("status").filter({ hasText: "Paused" }).waitFor();
    await seen();
    // A stream would have brought it within half a second.
    await page.waitForTimeout(1_000);
    assert.equal(await rows.count(), 1);
    await page.getByRole("button", { name: "Resume" }).click();
    await rows.nth(1).waitFor();
    await rows.nth(1).click();
    await page.waitForURL(/open=/);
    const open = new URL(page.url()).searchParams.get("open");
    const path = `/w/${workspace.name}/requests?user=nobody&open=`;
    // A link opens its request, even if the list no longer has it.
    await follow(page, `${path}${open}`);
    await page.getByRole("table", { name: "Items" }).getByText("Accepted").waitFor();
    // So does an item to its user, although the search would find others too.
    await workspace.track({ attributes: [{ external_id: "ada-2" }] });
    await page.getByRole("table", { name: "Items" }).getByRole("link", { name: "ada" }).click();
    await page.getByRole("heading", { level: 1, name: "ada", exact: true }).waitFor();
    await follow(page, `${path}${crypto.randomUUID()}`);
    await page.getByText("The request of this link is not kept any more").waitFor();
    assert.deepEqual(complaints, []);
  });
});
