/* Keys, groups, syncs and preference centers in the dashboard: the API then shows the effect of each click. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { assertAccessible } from "../accessibility.ts";
import { show, skipWithoutBrowser as skip, startDashboard } from "../dashboard-browser.ts";
import { filledWorkspace } from "../dashboard-workspace.ts";

describe("administration in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const { workspace, name, paths } = await filledWorkspace(server);
  const read = async (path: string) =>
    (await server.admin("GET", `/admin/v1/workspaces/${name}${path}`)).body;

  test("an API key is shown once, works with its permissions, and is refused once it is revoked", async () => {
    const { page, complaints } = await dashboard.open(`/w/${name}/settings/keys`);
    await page.getByRole("button", { name: "Create an API key" }).click();
    await page.getByLabel("Name").fill("checkout");
    await page.getByRole("dialog").getByLabel("Permissions").first().click();
    await page.getByRole("option", { name: "users.track", exact: true }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
    const secret = await page
      .getByRole("dialog", { name: "Your API key" })
      .locator("pre")
      .innerText();
    const track = { attributes: [{ external_id: "ada", plan: "silver" }] };
    assert.equal((await workspace.track(track, { key: secret })).status, 201);
    const denied = await workspace.call("POST", "/users/export/ids", {}, { key: secret });
    assert.equal(denied.status, 403);
    await page.getByRole("button", { name: "I have copied it" }).click();
    assert.ok(!(await page.content()).includes(secret));
    await page.getByRole("button", { name: "Actions for checkout" }).click();
    await page.getByRole("menuitem", { name: "Revoke…" }).click();
    await page.getByLabel(/Type checkout/).fill("checkout");
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("Revoked", { exact: true }).waitFor();
    assert.equal((await workspace.track(track, { key: secret })).status, 401);
    assert.deepEqual(complaints, []);
  });

  test("a subscription group that is added, renamed or removed in the dashboard has changed in the API", async () => {
    const { page, complaints } = await dashboard.open(`/w/${name}/groups`);
    const names = async () =>
      (await read("/subscription-groups")).subscription_groups.map((group: any) => group.name);
    await page.getByRole("button", { name: "Add a group" }).click();
    await page.getByLabel("Name").fill("Offers");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("cell", { name: "Offers", exact: true }).waitFor();
    assert.ok((await names()).includes("Offers"));
    await page.getByRole("button", { name: "Actions for Offers" }).click();
    await page.getByRole("menuitem", { name: "Edit…" }).click();
    await page.getByLabel("Name").fill("Sales");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("cell", { name: "Sales", exact: true }).waitFor();
    await page.getByRole("button", { name: "Actions for Sales" }).click();
    await page.getByRole("menuitem", { name: "Remove…" }).click();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("cell", { name: "Sales", exact: true }).waitFor({ state: "detached" });
    assert.ok(!(await names()).includes("Sales"));
    assert.deepEqual(complaints, []);
  });

  test("a sync is tested before it is saved, and a corrected table keeps the login", async () => {
    const folder = await temporaryFolder();
    const url = join(folder, "users.csv");
    await writeFile(url, 'UPDATED_AT,EXTERNAL_ID,PAYLOAD\n2026-01-01,ada,"{""plan"":""gold""}"\n');
    const id = crypto.randomUUID();
    const path = `/admin/v1/workspaces/${name}/integrations/${id}`;
    const wrong = { type: "files", url: join(folder, "usres.csv") };
    await server.admin("PUT", path, { name: "Corrected", type: "attributes", warehouse: wrong });
    const { page, complaints } = await dashboard.open(`/w/${name}/syncs/${id}`);
    await page.getByRole("button", { name: "Actions for Corrected" }).click();
    await page.getByRole("menuitem", { name: "Edit…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText("A sync would fail").waitFor();
    // Another name can be typed, and what the source has is offered.
    await dialog.getByLabel("Url").first().fill("sers");
    await page.getByRole("option", { name: url, exact: true }).click();
    await dialog.getByRole("button", { name: "Test" }).click();
    await dialog.getByText("A sync would read 1 row. The first ones:").waitFor();
    const rows = dialog.getByRole("table", { name: "The first rows" });
    const payload = rows.getByText('{"plan":"gold"}');
    assert.match(await rows.innerText(), /ada.*plan → gold.*Would be synced/s);
    assert.equal(await payload.isVisible(), false);
    await assertAccessible(page);
    await rows.getByText("Payload").click();
    await payload.waitFor();
    assert.equal((await read(`/integrations/${id}`)).warehouse.place, wrong.url);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal((await read(`/integrations/${id}`)).warehouse.place, url);
    assert.deepEqual(complaints, []);
  });

  test("the brand that is set in the dashboard is shown on preference pages, and other settings stay", async () => {
    const { page, complaints } = await dashboard.open(`/w/${name}/settings/brand`);
    const before = (await read("/settings")).settings;
    await page.getByLabel("Company").fill("Acme");
    await page.getByLabel("Color", { exact: true }).fill("#0b6e4f");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved the brand.").waitFor();
    const brand = { company: "Acme", color: "#0b6e4f" };
    assert.deepEqual((await read("/settings")).settings, { ...before, brand });
    await page.getByLabel("Logo").fill("http://acme.example/logo.png");
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("alert")
      .getByText(/logo_url/)
      .waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a sync that is started in the dashboard shows its run, and each row that failed with the reason", async () => {
    const { page, complaints } = await dashboard.open(`/w/${name}/syncs`);
    await page.getByRole("link", { name: "Users from files" }).click();
    const runs = page.getByRole("table", { name: "Runs" }).getByRole("link");
    await runs.first().waitFor();
    const before = await runs.count();
    await page.getByRole("button", { name: "Run now" }).click();
    await runs.nth(before).waitFor();
    await show(page, `/w/${name}/syncs/${paths.integration}/runs/${paths.run}`);
    const rows = page.getByRole("table", { name: "Rows that did not arrive" });
    await rows.getByText("INVALID_ATTRIBUTE").waitFor();
    await rows.getByText(/'dob' is not valid/).waitFor();
    assert.deepEqual(complaints, []);
  });
});
