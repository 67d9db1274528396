/*
 * The reference in a real browser, on a wide screen and on a phone's: it is drawn without any other host, within its
 * Content-Security-Policy, and its console sends a request with the key.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readViewer } from "../../src/server/reference/viewer.ts";
import { startServer } from "../harness.ts";
import { launchChromium, skipWithoutChromium as skip } from "./chromium.ts";
import { DRAWN, runIn } from "./settled-page.ts";

const SCREENS = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 780 } };

/**
 * The width of the visible content, in the page, once it fits: a response may be wider while it is
 * being drawn.
 */
const FITTING_WIDTH = `(async () => {
  const page = document.documentElement;
  const until = performance.now() + 20_000;
  while (page.scrollWidth > innerWidth && performance.now() < until) await ${DRAWN};
  return page.scrollWidth;
})()`;

describe("the reference in a browser", { skip }, async () => {
  if (skip) return;
  // Built with `npm run build`.
  assert.ok(readViewer(), "The viewer is missing: npm run build.");
  const server = await startServer();
  // One window for both: its cache keeps the viewer, compiled.
  const context = await (await launchChromium()).newContext();

  for (const [screen, viewport] of Object.entries(SCREENS)) {
    test(`the reference shows an operation and sends its example with the key on a ${screen} screen, without another host`, async () => {
      const { key, profile } = await server.workspace();
      const page = await context.newPage();
      await page.setViewportSize(viewport);
      page.setDefaultTimeout(60_000);
      const [complaints, foreign]: string[][] = [[], []];
      page.on("console", (message) => {
        if (message.type() === "error") complaints?.push(message.text());
      });
      page.on("request", (request) => {
        const url = request.url();
        if (!/^(data|blob):/.test(url) && !url.startsWith(server.url)) foreign?.push(url);
      });
      await page.goto(`${server.url}/docs`);
      await page.getByText("Verdicts.").waitFor();
      await page.getByPlaceholder("Token").first().fill(key);
      await page.goto(`${server.url}/docs#tag/tracking/POST/users/track`);
      await page
        .getByRole("button", { name: /Test Request/ })
        .first()
        .click();
      const answered = page.waitForResponse((each) => each.url().endsWith("/users/track"));
      await page.getByRole("button", { name: /^Send/ }).first().click();
      assert.equal((await answered).status(), 201);
      const ada = await profile({ external_ids: ["ada"] });
      assert.equal(ada.custom_attributes.plan, "gold");
      assert.equal(await runIn(page, "fit its screen", FITTING_WIDTH), viewport.width);
      assert.deepEqual([complaints, foreign], [[], []]);
      await page.close();
    });
  }
});
