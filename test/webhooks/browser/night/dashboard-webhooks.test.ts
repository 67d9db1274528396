/* Webhooks in the dashboard: the receiver then gets, and the API then shows, the effect of each click. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../../browser/accessibility.ts";
import {
  assertFits,
  goTo,
  SCREENS,
  show,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../../browser/dashboard-browser.ts";
import { tabTo } from "../../../browser/tab-to.ts";
import { startOwnServer } from "../../../harness.ts";
import { respondWith, startReceiver, users, verify, webhooksOf } from "../../../receiver.ts";
import { until } from "../../../until.ts";
import { secretOf, withWebhook } from "../webhook-page.ts";

describe("webhooks in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });
  const dashboard = await startDashboard(server);

  test("a webhook that is added in the dashboard delivers the chosen changes, signed with the secret shown once", async () => {
    const workspace = await server.workspace();
    const receiver = await startReceiver();
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/webhooks`);
    await page.getByText("No webhooks yet").waitFor();
    await page.getByRole("button", { name: "Add a webhook" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("CRM");
    await dialog.getByLabel("URL").fill("http://10.0.0.1/hook");
    await dialog.getByLabel("Types of changes").first().click();
    await page.getByRole("option", { name: "user.created", exact: true }).click();
    await page.keyboard.press("Escape");
    await dialog.getByLabel("Contacts").fill("ops@example.com");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/'url' of the webhook.*'10\.0\.0\.1' is not a host/).waitFor();
    await dialog.getByLabel("URL").fill(receiver.url);
    await dialog.getByRole("button", { name: "Save" }).click();
    const secret = await secretOf(page);
    await page.getByRole("link", { name: "CRM" }).click();
    await page.getByRole("heading", { level: 1, name: "CRM" }).waitFor();
    await page.getByText("ops@example.com").waitFor();
    await page.getByText("Nothing sent yet").waitFor();
    const time = new Date().toISOString();
    await workspace.track({
      ...users(1),
      events: [{ external_id: "u0", name: "signed_up", time }],
    });
    await until(() => receiver.received.length > 0);
    const [first] = receiver.received;
    assert.ok(first);
    verify(first, secret);
    assert.deepEqual(
      first.changes.map(({ type }) => type),
      ["user.created"],
    );
    const webhooks = webhooksOf(server, workspace);
    const id = page.url().split("/").at(-1) ?? "";
    await until(async () => (await webhooks.deliveries(id)).length > 0);
    await page.getByRole("button", { name: "Refresh" }).click();
    const deliveries = page.getByRole("table", { name: "Deliveries" });
    await deliveries.getByRole("cell", { name: "Live", exact: true }).waitFor();
    await assertAccessible(page);
    assert.deepEqual(complaints, []);
  });

  test("a test that is sent from the dashboard reaches the receiver, and its response and duration are shown", async () => {
    const { receiver, page, path, complaints } = await withWebhook({ server, dashboard });
    await page.getByText("Nothing sent yet").waitFor();
    receiver.respond = (response) => void response.writeHead(200).end("مرحبا <b>hello</b>");
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/The receiver accepted it with 200 in \d+ ms/).waitFor();
    const [sent] = receiver.received;
    assert.ok(sent);
    assert.deepEqual(verify(sent), { changes: [], test: true });
    const row = page.getByRole("table", { name: "Deliveries" }).getByRole("row").nth(1);
    assert.match(await row.innerText(), /Delivered\s+200\s+Test\s+0\s+\d+ ms\s+None/);
    // With only the keyboard; the open row is part of the address.
    await tabTo(page, /\d\d:\d\d:\d\d/);
    await page.keyboard.press("Enter");
    await page.getByText("مرحبا <b>hello</b>").waitFor();
    await page.getByText(sent.id).waitFor();
    await assertAccessible(page);
    await page.reload();
    await page.getByText(sent.id).waitFor();
    await page.setViewportSize(SCREENS.phone);
    await show(page, path);
    await assertFits(page);
    await page.setViewportSize(SCREENS.wide);
    receiver.respond = (response) => void response.writeHead(503).end("busy");
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("The receiver answered 503: busy").waitFor();
    await page.getByRole("cell", { name: "Failed", exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("a change that the receiver refused is sent again or discarded in the dashboard", async () => {
    const { workspace, receiver, webhooks, id, page, path, complaints } = await withWebhook({
      server,
      dashboard,
    });
    receiver.respond = (response) => void response.writeHead(422).end("no email");
    await workspace.track(users(2));
    await until(async () => (await webhooks.deadLetters(id)).length === 2);
    const [{ change_id: newer }, { change_id: older }] = (await webhooks.deadLetters(id)) as any;
    await goTo(page, path);
    const letters = page.getByRole("table", { name: "Dead letters" });
    await letters.getByRole("cell", { name: newer, exact: true }).waitFor();
    await assertAccessible(page);
    const act = async (change: string, entry: string) => {
      // With the keyboard: what a click said before may lie above the button.
      await page.getByRole("button", { name: `Actions for ${change}` }).press("Enter");
      await page.getByRole("menuitem", { name: entry }).press("Enter");
    };
    await act(newer, "Send again");
    await page.getByText("The receiver answered 422: no email").waitFor();
    receiver.respond = respondWith(204);
    await act(newer, "Send again");
    await letters.getByRole("cell", { name: newer, exact: true }).waitFor({ state: "detached" });
    assert.deepEqual(
      receiver.accepted.map((change) => change.id),
      [newer],
    );
    await act(older, "Discard…");
    await page.getByRole("button", { name: "Discard", exact: true }).click();
    await page.getByText("The receiver has refused nothing").waitFor();
    assert.deepEqual(await webhooks.deadLetters(id), []);
    assert.deepEqual(complaints, []);
  });
});
