/*
 * `npm run scroll`: fills a database of PostgreSQL with 1,000,000 users (`npm run scroll 50000`:
 * with fewer), scrolls their list in Chromium and prints the times of the frames, beside those of
 * the same page at rest, which depend only on the machine. Needs TEST_DATABASE_URL and Chromium
 * (test/browser/chromium.ts). docs/dashboard.md has the figures.
 */
import { test } from "node:test";
import type { CDPSession, Page } from "playwright-core";
import postgres from "postgres";
import { launchChromium, skipWithoutChromium } from "../../test/browser/chromium.ts";
import { SCREENS } from "../../test/browser/dashboard-browser.ts";
import { isSettled, watchRequests } from "../../test/browser/settled-page.ts";
import { signIn } from "../../test/dashboard-users/signed-in.ts";
import { startOwnServer, type TestServer } from "../../test/harness.ts";
import { seedStatements } from "../bench/engines/seed.ts";

const skip =
  skipWithoutChromium || (process.env.TEST_DATABASE_URL ? false : "TEST_DATABASE_URL is not set");

const USERS = Number(process.argv[2] ?? 1_000_000);

const SECONDS = 15;

/** The height of a row is 41 pixels: about 24, 98 and 490 rows a second, the last being five pages of the server. */
const SPEEDS = [0, 1_000, 4_000, 20_000] as const;

/** A frame at 60 a second takes 16.7 ms. */
const LATE_MS = 50;

interface Scrolled {
  readonly frames: readonly number[];
  readonly pixels: number;
}

/** Scrolls in the page, by this many pixels a second. @returns the times between frames in ms. */
const scrolling = (pixelsPerSecond: number) => `(async () => {
  const frames = [];
  const begin = scrollY;
  let last = await new Promise(requestAnimationFrame);
  const end = last + ${SECONDS * 1_000};
  while (last < end) {
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    scrollBy(0, ${pixelsPerSecond} * (now - last) / 1_000);
    last = now;
  }
  return { frames, pixels: scrollY - begin };
})()`;

async function fill({ config: { databaseUrl = "" } }: TestServer): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  const statements = seedStatements({
    users: USERS,
    statistics: true,
    addresses: true,
    eventsPerUser: 1,
  });
  // The server has a key for links already.
  for (const statement of statements.filter((each) => !each.includes("link_keys")))
    await sql.unsafe(statement);
  await sql.end();
}

/** Milliseconds of processor time that the page's thread has taken, without waits for a core. */
async function worked(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0);
}

async function measure(page: Page, session: CDPSession, speed: number): Promise<string> {
  const before = await worked(session);
  const { frames, pixels } = (await page.evaluate(scrolling(speed))) as Scrolled;
  const work = (await worked(session)) - before;
  const sorted = [...frames].sort((one, other) => one - other);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  const late = frames.filter((each) => each > LATE_MS).length;
  const rows = Math.round(pixels / 41);
  return `| ${rows.toLocaleString("en")} rows | ${frames.length} | ${at(0.5)} | ${at(0.95)} | ${at(0.99)} | ${at(1)} | ${late} | ${(work / frames.length).toFixed(1)} |`;
}

test("scroll", { skip }, async () => {
  const server = await startOwnServer();
  await fill(server);
  const { cookie } = await signIn(server);
  const [name = "", value = ""] = cookie.split("=");
  const context = await (await launchChromium()).newContext({ viewport: SCREENS.wide });
  await context.addCookies([{ name, value, url: server.url }]);
  const page = await context.newPage();
  watchRequests(page);
  await page.goto(`${server.url}/dashboard/w/demo/users`);
  await isSettled(page);
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const lines = [
    `${USERS.toLocaleString("en")} users, ${SECONDS} seconds each`,
    "| scrolled | frames | median ms | p95 | p99 | longest | over 50 ms | processor ms a frame |",
    "|---|---|---|---|---|---|---|---|",
  ];
  for (const speed of SPEEDS) lines.push(await measure(page, session, speed));
  const elements = await page.evaluate("document.querySelectorAll('*').length");
  lines.push(`Elements of the document at the end: ${elements}`);
  process.stdout.write(`${lines.join("\n")}\n`);
});
