/* The ready page in other appearances, with the keyboard and on a phone, in a browser without scripts. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BrowserContextOptions } from "playwright-core";
import { launchChromium, skipWithoutChromium as skip } from "../../../browser/chromium.ts";
import { startServer } from "../../../harness.ts";
import { pageOf } from "../../../preference-center-calls.ts";
import {
  assertReadyPageAccessible,
  CENTER,
  open,
  PHONE,
  statesOf,
  widthOf,
  withAda,
} from "../ready-page.ts";

describe("the ready page in other appearances", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const browser = await launchChromium();

  test("the ready page can be used with the keyboard alone and shows the focus", async () => {
    const { workspace, url } = await withAda(server);
    const { page } = await open(browser, url);
    await page.keyboard.press("Tab");
    const outline = await page
      .getByLabel("Newsletter")
      .evaluate((element) => (globalThis as any).getComputedStyle(element).outlineStyle);
    assert.equal(outline, "solid");
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByText("Your choices are saved").waitFor();
    assert.deepEqual(await statesOf(workspace), ["Unsubscribed", "Subscribed"]);
  });

  test("the ready page fits a phone without horizontal scrolling and has large touch targets", async () => {
    const { workspace, url } = await withAda(server);
    const { page } = await open(browser, url, { viewport: PHONE, hasTouch: true, isMobile: true });
    assert.ok((await widthOf(page)) <= PHONE.width);
    for (const button of await page.locator("label, button").all()) {
      assert.ok(((await button.boundingBox())?.height ?? 0) >= 44);
    }
    await page.getByText("Product news").tap();
    await page.getByRole("button", { name: "Save my choices" }).tap();
    await page.getByText("Your choices are saved").waitFor();
    assert.ok((await widthOf(page)) <= PHONE.width);
    assert.deepEqual(await statesOf(workspace), ["Subscribed", "Subscribed"]);
  });

  const APPEARANCES: Record<string, BrowserContextOptions> = {
    "wide and dark": { colorScheme: "dark" },
    "a phone's, from right to left": { viewport: PHONE, locale: "ar" },
  };

  for (const [name, options] of Object.entries(APPEARANCES)) {
    test(`the ready page and its confirmation have no accessibility violations (${name})`, () =>
      assertReadyPageAccessible(server, browser, options));
  }

  test("saving the form redirects to the redirect URL of the preference center", async () => {
    const { workspace } = await withAda(server);
    const path = `/admin/v1/workspaces/${workspace.name}/preference-centers/${CENTER}`;
    // Another origin, which a browser asks the policy of the page for.
    const redirect_url = `${server.url.replace("127.0.0.1", "localhost")}/docs`;
    await server.admin("PUT", path, { name: "main", redirect_url });
    const { page } = await open(browser, server.url + (await pageOf(workspace, CENTER)));
    await page.getByRole("button", { name: "Save my choices" }).click();
    await page.waitForURL(redirect_url);
  });
});
