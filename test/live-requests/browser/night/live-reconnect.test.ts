/* The page of live requests without its stream, and where they are off. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { skipWithoutBrowser as skip, startDashboard } from "../../../browser/dashboard-browser.ts";
import { startServer } from "../../../harness.ts";

const NOON = "2026-01-01T12:00:00Z";

describe("the page of live requests without a stream", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  test("the page of live requests says when it reconnects, and asks for the list where a stream is refused", async () => {
    const workspace = await server.workspace();
    const { page } = await dashboard.open("/");
    const stream = "**/requests/stream**";
    await page.route(stream, (route) => route.abort());
    await page.goto(`${server.url}/dashboard/w/${workspace.name}/requests`);
    await page.getByRole("status").filter({ hasText: "Reconnecting" }).waitFor();
    await page.unroute(stream);
    await page.getByRole("status").filter({ hasText: "Live" }).waitFor();
    await page.route(stream, (route) => route.fulfill({ status: 429, body: "{}" }));
    await page.reload();
    await page.getByRole("status").filter({ hasText: "Every 5 seconds" }).waitFor();
    await workspace.track({ events: [{ external_id: "ada", name: "seen", time: NOON }] });
    await page.getByRole("button", { name: "POST /users/track" }).waitFor();
  });

  test("the page of live requests says how to switch them on if they are off", async () => {
    const workspace = await server.workspace();
    const { page } = await dashboard.open("/");
    await page.route("**/requests?**", (route) =>
      route.fulfill({ json: { requests: [], kept: 0, message: "success" } }),
    );
    await page.goto(`${server.url}/dashboard/w/${workspace.name}/requests`);
    await page.getByText("LIVE_REQUESTS").waitFor();
    assert.ok(await page.getByRole("button", { name: "Pause" }).isDisabled());
  });
});
