/* The reference as its tests open it in a browser: on a wide screen and on a phone's. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { TestServer } from "../harness.ts";
import { RULES_OF, violationsIn } from "./accessibility.ts";
import { launchChromium } from "./chromium.ts";
import { DRAWN, runIn } from "./settled-page.ts";

export const SCREENS = { wide: { width: 1280, height: 800 }, phone: { width: 390, height: 780 } };

/** The width of the contents, which may be more than the screen's. */
const WIDTH = `${DRAWN}.then(() => document.documentElement.scrollWidth)`;

export interface ReferenceBrowser {
  open(path: string, viewport?: Screen): Promise<Page>;
  /** Fails if the browser complained, or a page asked another host for something. */
  assertClean(): void;
}

type Screen = (typeof SCREENS)[keyof typeof SCREENS];

export async function startReferenceBrowser(server: TestServer): Promise<ReferenceBrowser> {
  const browser = await launchChromium();
  const [complaints, foreign]: [string[], string[]] = [[], []];

  const open = async (path: string, viewport: Screen = SCREENS.wide): Promise<Page> => {
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
  return { open, assertClean: () => assert.deepEqual([complaints, foreign], [[], []]) };
}

/** Sends the example of a call with the key of a workspace. */
export async function sendExample(
  server: TestServer,
  { open, assertClean }: ReferenceBrowser,
  viewport: Screen,
): Promise<void> {
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
  assertClean();
  await page.context().close();
}

/** Looks at a page in some themes on a screen, whose width it must not exceed. */
export async function assertPageAccessible(
  { open, assertClean }: ReferenceBrowser,
  path: string,
  viewport: Screen,
  themes: readonly ("light" | "dark")[],
): Promise<void> {
  const page = await open(path, viewport);
  await page.evaluate('document.querySelectorAll("details").forEach((each) => (each.open = true))');
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    const found = await violationsIn(page, RULES_OF[colorScheme]);
    assert.deepEqual(found, [], `${colorScheme}, ${viewport.width}`);
  }
  assert.equal(await runIn(page, "fit its screen", WIDTH), viewport.width);
  await page.context().close();
  assertClean();
}
