/* More pages of the reference in a browser, in both themes and on both screens. */
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

describe("the pages of the reference in a browser", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const reference = await startReferenceBrowser(server);

  test("the reference shows a call and sends its example with the key on a phone screen, without another host", () =>
    sendExample(server, reference, SCREENS.phone));

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
      for (const screen of Object.values(SCREENS)) {
        await assertPageAccessible(reference, path, screen, BOTH_THEMES);
      }
    });
  }
});
