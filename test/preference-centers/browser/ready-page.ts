/* The ready page of a preference center, as the tests in a browser open it: with scripts switched off. */
import assert from "node:assert/strict";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { violationsIn } from "../../browser/accessibility.ts";
import { NEWSLETTER, type TestServer, type TestWorkspace } from "../../harness.ts";
import { emptyWorkspace, pageOf, stateOf } from "../../preference-center-calls.ts";

export const CENTER = "6f0ae4ac-64a1-4d0f-9b38-8e3a1c4d5e61";
const PRODUCTS = "9b7e2f7c-9d77-4f34-8a6c-2a8b5c1d4e70";

export const WIDE = { width: 1280, height: 800 };
export const PHONE = { width: 360, height: 640 };

/** A workspace where Ada gets the newsletter and no product news. */
export async function withAda(server: TestServer) {
  const workspace = await emptyWorkspace(server, {
    subscription_groups: [
      { id: NEWSLETTER, name: "Newsletter", channel: "email" },
      { id: PRODUCTS, name: "Product news", channel: "email" },
    ],
    preference_centers: [{ id: CENTER, name: "main" }],
  });
  const subscribed = { subscription_group_id: NEWSLETTER, subscription_state: "subscribed" };
  await workspace.track({
    attributes: [
      { external_id: "ada", email: "ada@example.com", subscription_groups: [subscribed] },
    ],
  });
  return { workspace, url: server.url + (await pageOf(workspace, CENTER)) };
}

export const statesOf = async (workspace: TestWorkspace) => [
  await stateOf(workspace, NEWSLETTER),
  await stateOf(workspace, PRODUCTS),
];

/** Opens a page; the browser's refusals and failed loads go to `complaints`. */
export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: WIDE,
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    // The header is for secure origins, which a test has none of.
    if (!message.text().includes("Cross-Origin-Opener-Policy")) complaints.push(message.text());
  });
  await page.goto(url);
  return { page, complaints };
}

export const widthOf = (page: Page) => page.locator("html").evaluate((root) => root.scrollWidth);

/**
 * Looks for violations in a page's HTML, in a separate page: axe is a script, and pages allow
 * none.
 */
async function openForAxe(browser: Browser, options: BrowserContextOptions) {
  const page = await (await browser.newContext({ viewport: WIDE, ...options })).newPage();
  return async (html: string): Promise<string[]> => {
    await page.setContent(html);
    return violationsIn(page);
  };
}

/** Uses the page and its confirmation in an appearance: neither has a violation, and each choice is stored. */
export async function assertReadyPageAccessible(
  server: TestServer,
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<void> {
  const { workspace, url } = await withAda(server);
  const brand = { company: "Acme", color: "#ffd400", color_dark: "#1a1a80" };
  const path = `/admin/v1/workspaces/${workspace.name}/settings`;
  await server.admin("PUT", path, { brand });
  const { page, complaints } = await open(browser, url, options);
  const violationsOf = await openForAxe(browser, options);
  assert.deepEqual(await violationsOf(await page.content()), []);
  assert.ok((await widthOf(page)) <= (options.viewport ?? WIDE).width);
  await page.getByRole("switch").first().click();
  await page.locator("form button").first().click();
  await page.locator("h2").waitFor();
  assert.deepEqual(await violationsOf(await page.content()), []);
  assert.equal(await stateOf(workspace, NEWSLETTER), "Unsubscribed");
  await page.locator("form button").click();
  await page.locator(".on").waitFor();
  assert.equal(await stateOf(workspace, NEWSLETTER), "Subscribed");
  await page.goto(`${server.url}/preferences/none`);
  assert.deepEqual(await violationsOf(await page.content()), []);
  assert.deepEqual(
    // The page is sandboxed: a browser complains of the scripts of this test.
    complaints.filter((each) => !/404|^Blocked script execution/.test(each)),
    [],
  );
}
