/*
 * The reference in a real browser: within its Content-Security-Policy and without any
 * other host, its search finds guides and calls, its console sends a request with the key, and axe finds nothing.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { BOTH_THEMES } from "../accessibility.ts";
import { skipWithoutChromium as skip } from "../chromium.ts";
import {
  assertPageAccessible,
  SCREENS,
  sendExample,
  startReferenceBrowser,
} from "../reference-in-browser.ts";

describe("the reference in a browser", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const reference = await startReferenceBrowser(server);
  const { open, assertClean } = reference;

  test("the reference shows a call and sends its example with the key on a wide screen, without another host", () =>
    sendExample(server, reference, SCREENS.wide));

  test("the search finds guides and calls with the keyboard, tells how many, and says if there is nothing", async () => {
    const page = await open("/docs/guides/users");
    await page.keyboard.press("/");
    await page.keyboard.type("users track");
    await page.getByText(/^(?:The best 20 of )?\d+ found$/).waitFor();
    assert.ok((await page.locator("#found a").count()) <= 20);
    const first = page.locator("#found a").first();
    assert.match((await first.textContent()) ?? "", /^POST \/users\/track/);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/calls/trackUsers*");
    await page.getByRole("searchbox").fill("warehouse progress");
    await page.locator('#found a[href^="/docs/guides/warehouse-sync"]').first().waitFor();
    await page.getByRole("searchbox").fill("no such word");
    await page.getByText("Nothing found").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#results").waitFor({ state: "hidden" });
    assertClean();
    await page.context().close();
  });

  test("axe finds nothing on the first page of the reference in either theme", () =>
    assertPageAccessible(reference, "/docs", SCREENS.wide, BOTH_THEMES));

  // A guide, a call, a page that is not there, and the page of the server.
  for (const path of [
    "/docs/guides/warehouse-sync",
    "/docs/calls/trackUsers",
    "/docs/nothing",
    "/",
  ]) {
    test(`axe finds nothing on ${path} on a phone, and nothing is wider than its screen`, () =>
      assertPageAccessible(reference, path, SCREENS.phone, ["light"]));
  }
});
