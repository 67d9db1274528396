/* More forms of the dashboard: groups, integrations, connections and the preview of a preference center. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { temporaryFolder } from "../../stored-rows.ts";
import { until } from "../../until.ts";
import { assertAccessible } from "../accessibility.ts";
import { goTo, skipWithoutBrowser as skip, startDashboard } from "../dashboard-browser.ts";
import { filledWorkspace } from "../dashboard-workspace.ts";

describe("forms of the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const { name, paths } = await filledWorkspace(server);
  const read = async (path: string) =>
    (await server.admin("GET", `/admin/v1/workspaces/${name}${path}`)).body;

  test("a group that is renamed in the dashboard keeps its description, which the dashboard sets too", async () => {
    const path = `/admin/v1/workspaces/${name}/subscription-groups/described`;
    const group = { name: "Tips", channel: "email", description: "Once a month." };
    await server.admin("PUT", path, group);
    const { page } = await dashboard.open(`/w/${name}/groups`);
    const edit = async (label: string, text: string) => {
      await page.getByRole("button", { name: "Actions for Tips" }).click();
      await page.getByRole("menuitem", { name: "Edit…" }).click();
      await page.getByRole("dialog").getByLabel(label).fill(text);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      return (await server.admin("GET", path)).body;
    };
    assert.equal((await edit("Name", "Tips and tricks")).description, "Once a month.");
    assert.equal((await edit("Description", "Twice a month.")).description, "Twice a month.");
  });

  test("an integration that is changed in the dashboard keeps how often it is tried", async () => {
    const retry = { attempts: 2, delay_seconds: 1 };
    const body = {
      name: "Nightly",
      type: "attributes",
      warehouse: { type: "files", url: "/nowhere.csv" },
      retry,
    };
    const id = crypto.randomUUID();
    const put = await server.admin("PUT", `/admin/v1/workspaces/${name}/integrations/${id}`, body);
    assert.equal(put.status, 200, JSON.stringify(put.body));
    const { page } = await dashboard.open(`/w/${name}/syncs/${id}`);
    await page.getByRole("button", { name: "Actions for Nightly" }).click();
    await page.getByRole("menuitem", { name: "Edit…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Contacts").fill("data@acme.example");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const stored = await read(`/integrations/${id}`);
    assert.deepEqual([stored.contact_emails, stored.retry], ["data@acme.example", retry]);
  });

  test("a row that is tested says in words which purchase, event or attributes it becomes", async () => {
    const url = join(await temporaryFolder(), "orders.csv");
    const row = (payload: object) => JSON.stringify(payload).replaceAll('"', '""');
    const order = { product_id: "mug", currency: "EUR", price: 9.5, quantity: 2 };
    const lines = [
      `2026-01-01,ada,"${row({ ...order, properties: { size: "L" } })}"`,
      `2026-01-02,bob,"${row({ name: "opened", properties: { page: "home" } })}"`,
      `2026-01-03,cleo,"${row({ plan: null })}"`,
    ];
    await writeFile(url, ["UPDATED_AT,EXTERNAL_ID,PAYLOAD", ...lines].join("\n"));
    const id = crypto.randomUUID();
    const path = `/admin/v1/workspaces/${name}/integrations/${id}`;
    const warehouse = { type: "files", url };
    await server.admin("PUT", path, { name: "In words", type: "purchases", warehouse });
    const { page, complaints } = await dashboard.open(`/w/${name}/syncs/${id}`);
    await page.getByRole("button", { name: "Actions for In words" }).click();
    await page.getByRole("menuitem", { name: "Edit…" }).click();
    const dialog = page.getByRole("dialog");
    const cases: [brings: string, rule: RegExp][] = [
      ["Purchases", /A purchase of mug, 2 × €9\.50, .*2026.*\nsize → L/s],
      ["Attributes", /product_id → mug\n.*\nplan is removed/s],
      ["Events", /The event opened, .*2026.*\npage → home/s],
    ];
    for (const [brings, rule] of cases) {
      await dialog.getByLabel("Brings").first().click();
      await page.getByRole("option", { name: brings, exact: true }).click();
      await dialog.getByRole("button", { name: "Test" }).click();
      await until(async () => rule.test(await dialog.getByRole("table").innerText()));
    }
    assert.deepEqual(complaints, []);
  });

  test("a connection that is added in the dashboard is offered for an integration, and each form asks for what its kind needs", async () => {
    const { page, complaints } = await dashboard.open("/company/connections");
    const dialog = page.getByRole("dialog");
    const choose = async (label: string, option: string) => {
      await dialog.getByLabel(label).first().click();
      await page.getByRole("option", { name: option, exact: true }).click();
    };
    const connection = `drops-${crypto.randomUUID().slice(0, 8)}`;
    await page.getByRole("button", { name: "Add a connection" }).click();
    await dialog.getByLabel("Name").fill(connection);
    await choose("Kind", "Google BigQuery");
    await dialog.getByRole("button", { name: "Save" }).click();
    // The project and the credentials, which this kind cannot do without.
    await dialog.getByText("'project', 'credentials' are required").waitFor();
    await choose("Kind", "Files in a folder");
    await dialog.getByLabel("Root").fill("/nowhere");
    await choose("Workspaces", name);
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByText(connection).first().waitFor();

    await goTo(page, `/w/${name}/syncs`);
    await page.getByRole("button", { name: "Add an integration" }).click();
    await dialog.getByLabel("Name").fill("From drops");
    await choose("From", `${connection} (Files in a folder)`);
    await dialog.getByLabel("Url").first().fill("users.csv");
    // Its list fails, which stops nothing.
    await dialog.getByText(/connection '.*' cannot be used/).waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const { integrations } = await read("/integrations");
    const added = integrations.find((each: { name: string }) => each.name === "From drops");
    assert.deepEqual(added.warehouse, { type: "files", place: "users.csv" });
    assert.deepEqual(complaints, []);
    const gone = await server.admin("DELETE", `/admin/v1/connections/${connection}`);
    assert.equal(gone.status, 200);
  });

  test("a preference center is previewed while it is written, and its faults are marked in their place", async () => {
    const { page, complaints } = await dashboard.open(
      `/w/${name}/preference-centers/${paths.center}`,
    );
    const frame = page.frameLocator("iframe");
    await frame.getByText("sam.sample@example.com").first().waitFor();
    const code = page.getByRole("textbox", { name: "HTML of the page" });
    await code.fill(`<h1>Bonjour</h1>\n<p style="color: red">{{ \${first_name} }}</p>`);
    await frame.getByRole("heading", { name: "Bonjour", exact: true }).waitFor();
    const colour = await frame
      .getByText("Sam")
      .evaluate((element) => (globalThis as any).getComputedStyle(element).color);
    assert.equal(colour, "rgb(255, 0, 0)");
    await page.getByLabel("External id of the user to preview").fill("ada");
    await frame.getByText("Ada", { exact: true }).waitFor();
    await code.fill("<h1>Bonjour</h1>\n{% if %}");
    await page
      .getByRole("alert")
      .getByText(/'page_html'.*line 2/)
      .waitFor();
    await code.fill("<h1>Salut</h1>\n<script>alert(1)</script>");
    await frame.getByRole("heading", { name: "Salut", exact: true }).waitFor();
    await page.getByText(/'page_html', line 2/).waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved main.").waitFor();
    assert.match((await read(`/preference-centers/${paths.center}`)).page_html, /Salut/);
    // The browser says that the frame runs no script; nothing else is wrong.
    assert.deepEqual(
      complaints.filter((each) => !/script/i.test(each)),
      [],
    );
  });

  test("a sync is set to nine o'clock in Berlin without a word of cron, and what words do not say stays as it was written", async () => {
    const id = crypto.randomUUID();
    const path = `/admin/v1/workspaces/${name}/integrations/${id}`;
    const warehouse = { type: "files", url: "/nowhere.csv" };
    await server.admin("PUT", path, { name: "Morning", type: "attributes", warehouse });
    const { page, complaints } = await dashboard.open(`/w/${name}/syncs/${id}`);
    const dialog = page.getByRole("dialog");
    const edit = async () => {
      await page.getByRole("button", { name: "Actions for Morning" }).click();
      await page.getByRole("menuitem", { name: "Edit…" }).click();
    };
    const choose = async (label: string, option: string) => {
      await dialog.getByLabel(label).first().click();
      await page.getByRole("option", { name: option, exact: true }).click();
    };
    const saved = async () => {
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.waitFor({ state: "detached" });
      const { schedule, schedule_time_zone } = await read(`/integrations/${id}`);
      return [schedule, schedule_time_zone];
    };
    await edit();
    await choose("Runs", "Every day");
    await dialog.getByLabel("At", { exact: true }).fill("09:00");
    await choose("Time zone", "Europe/Berlin");
    await dialog.getByText("The next runs, in your time:").waitFor();
    await assertAccessible(page);
    assert.deepEqual(await saved(), ["0 9 * * *", "Europe/Berlin"]);
    await page.getByText("Every day at 09:00, Europe/Berlin").waitFor();

    await edit();
    await choose("Runs", "Every week");
    await choose("On", "Friday");
    assert.deepEqual(await saved(), ["0 9 * * 5", "Europe/Berlin"]);
    await page.getByText("Every Friday at 09:00, Europe/Berlin").waitFor();

    await server.admin("PATCH", path, { schedule: "*/20 6-9 * * 1,3" });
    await page.reload();
    await page.getByText("*/20 6-9 * * 1,3, Europe/Berlin").waitFor();
    await edit();
    await dialog.getByLabel("Cron").fill("*/30 6-9 * * 1,3");
    assert.deepEqual(await saved(), ["*/30 6-9 * * 1,3", "Europe/Berlin"]);
    await edit();
    await choose("Runs", "Only by hand");
    assert.deepEqual(await saved(), [null, "UTC"]);
    assert.deepEqual(complaints, []);
  });
});
