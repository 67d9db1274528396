/*
 * `npm run pictures`: takes the pictures of docs/images again, from a separate server with the shop of
 * `rapport demo`, and records their sums (pictures.sha256), by which a test knows a picture that it did not take. `npm run pictures overview` takes those whose names contain `overview`.
 * Needs Chromium (test/browser/chromium.ts).
 */
import "./shifted-clock.ts";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Browser } from "playwright-core";
import { packageRoot } from "../../src/core/base/package-root.ts";
import { launchChromium, skipWithoutChromium as skip } from "../../test/browser/chromium.ts";
import { isSettled, watchRequests } from "../../test/browser/settled-page.ts";
import { signIn } from "../../test/dashboard-users/signed-in.ts";
import { startOwnServer, type TestServer } from "../../test/harness.ts";
import { fillServer } from "./fill-server.ts";
import { recordSums } from "./picture-sums.ts";
import { type Filled, PICTURES, type Picture } from "./pictures.ts";

const FOLDER = join(packageRoot(), "docs", "images");

const wanted = process.argv.slice(2);

async function take(
  { file, path, screen: [width, height], theme, locale = "en-GB", prepare }: Picture,
  { browser, server, filled, cookie }: Studio,
): Promise<void> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme ?? "light",
    reducedMotion: "reduce",
    locale,
    timezoneId: "Europe/Berlin",
  });
  const [name = "", value = ""] = cookie.split("=");
  await context.addCookies([{ name, value, url: server.url }]);
  // Pages of the company show the workspace that was looked at before.
  await context.addInitScript(`sessionStorage.setItem("rapport-workspace", "${filled.workspace}")`);
  const page = await context.newPage();
  watchRequests(page);
  const address = path(filled);
  // Preference pages run no scripts, not even those that say whether the page is quiet.
  const settle = () =>
    address.startsWith("/preferences/") ? page.waitForLoadState("networkidle") : isSettled(page);
  await page.goto(server.url + address);
  await settle();
  await prepare?.(page, filled);
  await settle();
  await page.screenshot({ path: join(FOLDER, `${file}.png`) });
  await context.close();
}

interface Studio {
  readonly browser: Browser;
  readonly server: TestServer;
  readonly filled: Filled;
  readonly cookie: string;
}

test("pictures", { skip }, async (context) => {
  const server = await startOwnServer();
  after(server.stop);
  const filled = await fillServer(server);
  const { cookie } = await signIn(server);
  const studio = { browser: await launchChromium(), server, filled, cookie };
  after(() => recordSums(FOLDER));
  for (const picture of PICTURES) {
    if (wanted.length > 0 && !wanted.some((part) => picture.file.includes(part))) continue;
    await context.test(picture.file, () => take(picture, studio));
  }
});
