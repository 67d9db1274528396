/* Keys, groups, syncs and preference centers in the dashboard: the API then shows the effect of each click. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startServer } from "../harness.ts";
import { temporaryFolder } from "../stored-rows.ts";
import { until } from "../until.ts";
import { assertAccessible } from "./accessibility.ts";
import { goTo, skipWithoutBrowser as skip, startDashboard } from "./dashboard-browser.ts";
import { filledWorkspace } from "./dashboard-workspace.ts";

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
    await goTo(page, `/w/${name}/syncs/${paths.integration}/runs/${paths.run}`);
    const rows = page.getByRole("table", { name: "Rows that did not arrive" });
    await rows.getByText("INVALID_ATTRIBUTE").waitFor();
    await rows.getByText(/'dob' is not valid/).waitFor();
    assert.deepEqual(complaints, []);
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
});
