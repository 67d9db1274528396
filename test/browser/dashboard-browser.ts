/*
 * The dashboard in a real browser, signed in as the administrator: common parts of its pages'
 * tests.
 *
 * Needs Chromium (chromium.ts) and the built pages (`npm run build`); without either, these tests are skipped.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "node:test";
import type { BrowserContextOptions, Page } from "playwright-core";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { signIn } from "../dashboard-users/signed-in.ts";
import type { TestServer } from "../harness.ts";
import { launchChromium, skipWithoutChromium } from "./chromium.ts";
import { DRAWN, isSettled, runIn, watchRequests } from "./settled-page.ts";

const isBuilt = existsSync(join(packageRoot(), "dist", "web", "index.html"));

/** Why these tests cannot run here, or false. */
export const skipWithoutBrowser =
  skipWithoutChromium || (isBuilt ? false : "the dashboard is not built: npm run build");

export const SCREENS = {
  wide: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
} as const;

/**
 * A page of the dashboard, with the browser's complaints: errors, refusals of the policy, other
 * hosts.
 */
export interface OpenPage {
  readonly page: Page;
  readonly complaints: string[];
}

export interface Dashboard {
  /**
   * Loads a page below /dashboard, signed in. All tests of a file use one browser window, because a
   * cold start takes twice as long: the page, its routes and its complaints start again, cookies
   * stay. With options, such as a phone's, the test has its own window.
   */
  open(path: string, options?: BrowserContextOptions): Promise<OpenPage>;
  /** Opens it, or an address such as a link's, in a separate window without a session. */
  openSignedOut(path: string): Promise<OpenPage>;
  /** Opens it in a separate window, with the cookie of another person's session. */
  openAs(cookie: string, path: string): Promise<OpenPage>;
}

/** Opens an address in a separate browser, without a session. */
export async function openAt(address: string): Promise<OpenPage> {
  const page = await (await launchChromium()).newPage();
  page.setDefaultTimeout(30_000);
  watchRequests(page);
  const complaints = complaintsOf(page, new URL(address).origin);
  await page.goto(address);
  return { page, complaints };
}

/** Starts a browser for the tests of a file. A test that fails tells what its pages showed. */
export async function startDashboard(server: TestServer): Promise<Dashboard> {
  const browser = await launchChromium();
  const opened: OpenPage[] = [];
  // The hook's type does not know that it is given the test that ended.
  afterEach((async (test: EndedTest) => {
    if (!test.passed) for (const each of opened) test.diagnostic(await shownBy(each));
  }) as () => Promise<void>);
  const { cookie } = await signIn(server);
  const newWindow = async (options: BrowserContextOptions = {}): Promise<OpenPage> => {
    const context = await browser.newContext({
      viewport: SCREENS.wide,
      // Animations end at once: a test sees a dialog when it is there.
      reducedMotion: "reduce",
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    watchRequests(page);
    const window = { page, complaints: complaintsOf(page, server.url) };
    opened.push(window);
    page.once("close", () => opened.splice(opened.indexOf(window), 1));
    return window;
  };
  const signedIn = async (ownCookie: string, options?: BrowserContextOptions) => {
    const window = await newWindow(options);
    const [name = "", value = ""] = ownCookie.split("=");
    await window.page.context().addCookies([{ name, value, url: server.url }]);
    return window;
  };
  const load = async (window: OpenPage, path: string): Promise<OpenPage> => {
    await window.page.goto(path.startsWith("/") ? `${server.url}/dashboard${path}` : path);
    return window;
  };
  let shared: Promise<OpenPage> | undefined;
  return {
    async open(path, options) {
      if (options) return load(await signedIn(cookie, options), path);
      shared ??= signedIn(cookie);
      const { page, complaints } = await shared;
      await page.unrouteAll({ behavior: "ignoreErrors" });
      complaints.length = 0;
      return load(await shared, path);
    },
    openSignedOut: async (path) => load(await newWindow(), path),
    openAs: async (ownCookie, path) => load(await signedIn(ownCookie), path),
  };
}

/** Signs in with a link of an invitation, in a separate browser. */
export async function enterWith(dashboard: Dashboard, link: string): Promise<OpenPage> {
  const opened = await dashboard.openSignedOut(link);
  await opened.page.getByRole("button", { name: "Sign in", exact: true }).click();
  await isLoaded(opened.page);
  return opened;
}

interface EndedTest {
  readonly passed: boolean;
  diagnostic(message: string): void;
}

/** The contents of a page, and the browser's complaints. */
async function shownBy({ page, complaints }: OpenPage): Promise<string> {
  const text = await page
    .locator("body")
    .innerText()
    .catch((error: Error) => error.message);
  return [page.url(), ...complaints, text].join("\n");
}

/** A list that grows with the browser's complaints. */
function complaintsOf(page: Page, url: string): string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The header is for secure origins, which a test has none of; refusals of the API are the pages' own affair.
    const isExpected = /Cross-Origin-Opener-Policy|status of 4\d\d/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !isExpected) {
      complaints.push(message.text());
    }
  });
  page.on("request", (request) => {
    const address = request.url();
    if (!/^(data|blob|about):/.test(address) && !address.startsWith(url)) complaints.push(address);
  });
  return complaints;
}

/** Loads another page, by its address below /dashboard, and waits for its contents. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.goto(new URL(`/dashboard${path}`, page.url()).href);
  await isLoaded(page);
}

/** Waits, in the page, until its router shows the window's address; the policy of the dashboard's pages does not let Playwright poll. */
const IS_SHOWN = `(async () => {
  const until = performance.now() + 30_000;
  do await ${DRAWN};
  while (!isShown() && performance.now() < until);
  return isShown();

  function isShown() {
    const { latestLocation, state } = __TSR_ROUTER__;
    return state.status === "idle" && state.resolvedLocation?.href === latestLocation.href;
  }
})()`;

/** Goes to a page as a link in the dashboard does, without loading the dashboard again: a quarter of the processor time. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, "", ${JSON.stringify(`/dashboard${path}`)})`);
  assert.ok(await runIn<boolean>(page, "follow a link", IS_SHOWN), `${path} is not shown.`);
  await isLoaded(page);
}

/** As a link does it; where much is tried, at the address of the page. */
export const show = process.env.TEST_THOROUGH ? goTo : follow;

/** Waits until a page shows its contents. */
export async function isLoaded(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await isSettled(page);
}

/** Whether the page is wider than the screen, so that a phone scrolls it sideways. */
export const assertFits = async (page: Page): Promise<void> => {
  const [content, screen] = (await page.evaluate(
    "[document.documentElement.scrollWidth, innerWidth]",
  )) as [number, number];
  assert.ok(content <= screen, `The page is ${content} pixels wide on a screen of ${screen}.`);
};
