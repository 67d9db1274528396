/* The page of a webhook in the dashboard, as tests open it and choose from its menu. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../browser/accessibility.ts";
import { type Dashboard, isLoaded } from "../../browser/dashboard-browser.ts";
import type { TestServer } from "../../harness.ts";
import { startReceiver, webhooksOf } from "../../receiver.ts";

interface Opened {
  readonly server: TestServer;
  readonly dashboard: Dashboard;
}

/** A separate workspace with a receiver and a webhook to it, whose page is open. */
export async function withWebhook({ server, dashboard }: Opened, members: object = {}) {
  const workspace = await server.workspace();
  const receiver = await startReceiver();
  const webhooks = webhooksOf(server, workspace);
  const id = await webhooks.put(receiver.url, members);
  const path = `/w/${workspace.name}/webhooks/${id}`;
  const { page, complaints } = await dashboard.open(path);
  await isLoaded(page);
  return { workspace, receiver, webhooks, id, path, page, complaints };
}

export const choose = async (page: Page, entry: string): Promise<void> => {
  await page.getByRole("button", { name: "Actions for CRM" }).click();
  await page.getByRole("menuitem", { name: entry }).click();
};

/** The secret that is shown once, and not on the page any more once it was copied. */
export const secretOf = async (page: Page): Promise<string> => {
  const shown = page.getByRole("dialog", { name: "The secret of the webhook" });
  const secret = await shown.locator("pre").innerText();
  await assertAccessible(page, { within: "[role=dialog]" });
  await page.getByRole("button", { name: "I have copied it" }).click();
  await shown.waitFor({ state: "detached" });
  assert.ok(!(await page.content()).includes(secret));
  return secret;
};
