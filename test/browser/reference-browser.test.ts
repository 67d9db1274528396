/*
 * The reference in a real browser, on a wide screen and on a phone's: within its Content-Security-Policy and without any
 * other host, its search finds guides and calls, its console sends a request with the key, and axe finds nothing.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startServer } from "../harness.ts";
import { RULES_OF, violationsIn } from "./accessibility.ts";
import { launchChromium, skipWithoutChromium as skip } from "./chromium.ts";
import { DRAWN, runIn } from "./settled-page.ts";

const SCREENS = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 780 } };

/** The width of the contents, which may be more than the screen's. */
const WIDTH = `${DRAWN}.then(() => document.documentElement.scrollWidth)`;

describe("the reference in a browser", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const browser = await launchChromium();
  const [complaints, foreign]: [string[], string[]] = [[], []];

  const open = async (path: string, viewport = SCREENS.wide): Promise<Page> => {
    const context = await browser.newContext({ viewport });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("console", (message) => {
      const isMissing = /404 \(Not Found\)/.test(message.text());
      if (message.type() === "error" && !isMissing) complaints.push(message.text());
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!/^(data|blob):/.test(url) && !url.startsWith(server.url)) foreign.push(url);
    });
    await page.goto(server.url + path);
    return page;
  };

  for (const [screen, viewport] of Object.entries(SCREENS)) {
    test(`the reference shows a call and sends its example with the key on a ${screen} screen, without another host`, async () => {
      const { key, profile } = await server.workspace();
      const page = await open("/docs", viewport);
      await page.getByRole("link", { name: "POST /users/track", exact: true }).first().click();
      await page.waitForURL("**/docs/calls/trackUsers");
      const samples = await page.locator("figure.sample").allTextContents();
      assert.match(samples[0] ?? "", /^rapport-client/);
      assert.ok(samples.every((each) => each.includes(server.url)));
      await page.getByLabel("API key").fill(key);
      const answered = page.waitForResponse((each) => each.url().endsWith("/users/track"));
      await page.getByRole("button", { name: "Send" }).click();
      assert.equal((await answered).status(), 201);
      await page.getByText("201 Created").waitFor();
      const ada = await profile({ external_ids: ["ada"] });
      assert.equal(ada.custom_attributes.plan, "gold");
      assert.equal(await runIn(page, "fit its screen", WIDTH), viewport.width);
      assert.deepEqual([complaints, foreign], [[], []]);
      await page.context().close();
    });
  }

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
    assert.deepEqual([complaints, foreign], [[], []]);
    await page.context().close();
  });

  const PAGES = [
    "/docs",
    "/docs/guides/warehouse-sync",
    "/docs/guides/dashboard",
    "/docs/guides/operations/secure",
    "/docs/calls/trackUsers",
    "/docs/calls/putWebhook",
    "/docs/nothing",
    "/",
  ];
  for (const path of PAGES) {
    test(`axe finds nothing on ${path}, in the light and in the dark theme, on both screens, and nothing is wider than a phone`, async () => {
      for (const viewport of Object.values(SCREENS)) {
        const page = await open(path, viewport);
        await page.evaluate(
          'document.querySelectorAll("details").forEach((each) => (each.open = true))',
        );
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          const found = await violationsIn(page, RULES_OF[colorScheme]);
          assert.deepEqual(found, [], `${colorScheme}, ${viewport.width}`);
        }
        assert.equal(await runIn(page, "fit its screen", WIDTH), viewport.width);
        await page.context().close();
      }
      assert.deepEqual([complaints, foreign], [[], []]);
    });
  }
});
