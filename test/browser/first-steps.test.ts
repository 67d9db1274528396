/* The first steps with a new workspace, which the overview shows until they are taken. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { addColleague } from "../colleagues.ts";
import { startOwnServer } from "../harness.ts";
import { inTheNight } from "../sizes.ts";
import { skipWithoutCurl } from "../system/curl.ts";
import { assertAccessible } from "./accessibility.ts";
import { skipWithoutBrowser, startDashboard } from "./dashboard-browser.ts";

const skip = skipWithoutBrowser || skipWithoutCurl;

const inShell = promisify(execFile);

describe("the first steps with a workspace", { skip }, async () => {
  if (skip) return;
  const server = await startOwnServer();
  const workspace = await server.workspace();
  const dashboard = await startDashboard(server);

  test("a step says what to do while it is the next one, is ticked when it is taken, and all are gone after the last", async () => {
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/overview`);
    const steps = page.locator(".first-steps > li");
    const assertTaken = async (taken: number) => {
      await page.locator(`.first-steps > li[data-done="true"] >> nth=${taken - 1}`).waitFor();
      const done = await steps.evaluateAll((all) =>
        all.map((each) => each.getAttribute("data-done")),
      );
      assert.deepEqual(
        done,
        [0, 1, 2, 3].map((index) => String(index < taken)),
      );
      // Only the next one explains itself.
      assert.equal(await steps.locator("p").count(), 1);
    };

    await page.getByRole("button", { name: "Show the command" }).click();
    const command = (await steps.locator("pre").textContent()) ?? "";
    assert.ok(command.includes(server.url), command);
    await assertAccessible(page);
    assert.match((await inShell("bash", ["-c", command])).stdout, /"message":"success"/);

    // Without a reload.
    await assertTaken(1);
    await page.getByRole("link", { name: "Look at the request and its verdict" }).click();
    await page.getByRole("button", { name: "201 POST /users/track" }).waitFor();
    await page.goBack();
    await assertTaken(2);

    const filter = { custom_attribute: "vip", equals: true };
    const path = `/admin/v1/workspaces/${workspace.name}/segments/${randomUUID()}`;
    assert.equal((await server.admin("PUT", path, { name: "VIP", filter })).status, 200);
    await page.reload();
    await assertTaken(3);

    await addColleague(server);
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.waitForLoadState("networkidle");
    assert.equal(await steps.count(), 0);
    assert.deepEqual(complaints, []);
  });

  test("steps that are hidden stay hidden in this browser", { skip: inTheNight }, async () => {
    const other = await server.workspace();
    const { page } = await dashboard.open(`/w/${other.name}/overview`);
    await page.getByRole("button", { name: "Hide" }).click();
    assert.equal(await page.locator(".first-steps").count(), 0);
    await page.reload();
    await page.waitForLoadState("networkidle");
    assert.equal(await page.locator(".first-steps").count(), 0);
  });
});
