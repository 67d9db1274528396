/* A webhook in the dashboard that is paused, replayed, edited or removed. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../../browser/accessibility.ts";
import {
  goTo,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../../../browser/dashboard-browser.ts";
import { startOwnServer } from "../../../harness.ts";
import { respondWith, users, verify } from "../../../receiver.ts";
import { until } from "../../../until.ts";
import { choose, secretOf, withWebhook } from "../webhook-page.ts";

describe("states of a webhook in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startOwnServer({ outboundAllow: ["127.0.0.1"] });
  const dashboard = await startDashboard(server);

  test("a webhook that is paused in the dashboard delivers nothing until it is resumed, and then the changes it missed", async () => {
    const { workspace, receiver, webhooks, id, page } = await withWebhook({ server, dashboard });
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("CRM is paused.").waitFor();
    assert.equal((await webhooks.get(id)).state, "paused");
    await workspace.track(users(3));
    // A test is sent all the same, which takes as long as a delivery would have.
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText(/The receiver accepted it with 204/).waitFor();
    assert.deepEqual(receiver.accepted, []);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("CRM resumes where it was.").waitFor();
    await until(() => receiver.accepted.length === 3);
    assert.equal((await webhooks.get(id)).state, "active");
  });

  test("a webhook that paused by itself says why in the list and on its page, where it is resumed", async () => {
    const { workspace, receiver, webhooks, id, page, path } = await withWebhook({
      server,
      dashboard,
    });
    receiver.respond = respondWith(410);
    await workspace.track(users(1));
    await until(async () => (await webhooks.get(id)).state === "paused");
    const { paused_reason: reason } = await webhooks.get(id);
    await goTo(page, `/w/${workspace.name}/webhooks`);
    await page.getByRole("cell", { name: reason }).waitFor();
    await assertAccessible(page);
    await goTo(page, path);
    await page.getByRole("status").filter({ hasText: reason }).waitFor();
    await assertAccessible(page);
    receiver.respond = respondWith(204);
    await page.getByRole("button", { name: "Resume" }).click();
    await until(() => receiver.accepted.length === 1);
    await page.getByText("It was paused automatically").waitFor({ state: "detached" });
  });

  test("a replay from the dashboard delivers the changes since a time, or all, with the same ids", async () => {
    const { workspace, receiver, page } = await withWebhook({ server, dashboard });
    await workspace.track(users(2));
    await until(() => receiver.accepted.length === 2);
    const idsOf = (from: number, until: number) =>
      receiver.accepted
        .slice(from, until)
        .map((change) => change.id)
        .sort();
    const replay = async () =>
      page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
    await choose(page, "Replay…");
    await replay();
    await page.getByRole("dialog").getByText("Required.").waitFor();
    await page.getByRole("dialog").getByLabel("Time").fill("2020-01-31T12:00");
    await replay();
    await page.getByText("The changes are sent to CRM once more.").waitFor();
    await until(() => receiver.accepted.length === 4);
    await choose(page, "Replay…");
    await page.getByRole("dialog").getByRole("combobox").click();
    await page.getByRole("option", { name: "The beginning of the change feed" }).click();
    await replay();
    await until(() => receiver.accepted.length === 6);
    assert.deepEqual([idsOf(2, 4), idsOf(4, 6)], [idsOf(0, 2), idsOf(0, 2)]);
  });

  test("an edited webhook keeps its secret in the dashboard, and a removed one disappears", async () => {
    const { workspace, receiver, webhooks, id, page } = await withWebhook(
      { server, dashboard },
      {
        types: ["user.created", "user.updated"],
        contact_emails: "ops@example.com",
      },
    );
    await choose(page, "Edit…");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("URL").fill(`${receiver.url}/v2`);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const { url, types, contact_emails: contacts } = await webhooks.get(id);
    assert.deepEqual(
      [url, types, contacts],
      [`${receiver.url}/v2`, ["user.created", "user.updated"], "ops@example.com"],
    );
    await page.getByRole("button", { name: "Send a test" }).click();
    await until(() => receiver.received.length === 1);
    for (const sent of receiver.received) verify(sent);
    await choose(page, "Remove…");
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByText("No webhooks yet").waitFor();
    assert.equal((await server.admin("GET", `${webhooks.path}/${id}`)).status, 404);
    assert.equal((await workspace.call("GET", "/changes")).status, 404);
  });

  test("a secret that is rotated in the dashboard is shown once, and signs beside the one before for the chosen time", async () => {
    const { receiver, page } = await withWebhook({ server, dashboard });
    const sendTest = async (count: number) => {
      await page.getByRole("button", { name: "Send a test" }).click();
      await until(() => receiver.received.length === count);
      const sent = receiver.received[count - 1];
      assert.ok(sent);
      return sent;
    };
    await choose(page, "Rotate the secret…");
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const next = await secretOf(page);
    const both = await sendTest(1);
    verify(both);
    verify(both, next);
    await page.getByText(/Signs as well until/).waitFor();
    await choose(page, "Rotate the secret…");
    await page.getByRole("dialog").getByRole("combobox").click();
    await page.getByRole("option", { name: "Not at all" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    const last = await secretOf(page);
    const one = await sendTest(2);
    verify(one, last);
    assert.throws(() => verify(one, next));
  });
});
