/*
 * Waits until a page of the dashboard has loaded its contents: nothing is requested, drawn or about
 * to be drawn.
 *
 * Playwright's "networkidle" waits for half a second without requests on every page. Here the page says itself when it
 * has nothing left to do.
 */
import assert from "node:assert/strict";
import type { Page, Request } from "playwright-core";

const inFlight = new WeakMap<Page, Set<Request>>();

/** Begins to watch a page's requests; call it before its first address. */
export function watchRequests(page: Page): void {
  const requests = new Set<Request>();
  inFlight.set(page, requests);
  page.on("request", (request) => {
    // A stream of events never ends.
    if (request.resourceType() !== "eventsource") requests.add(request);
  });
  for (const end of ["requestfinished", "requestfailed"] as const) {
    page.on(end as "requestfinished", (request) => void requests.delete(request));
  }
}

/** The longest that a page may take to say something. */
const LONGEST_MS = 30_000;

/**
 * Runs a script in a page. Playwright waits for its result without end.
 *
 * @param what the page does, for the error after half a minute.
 */
export async function runIn<Result>(page: Page, what: string, script: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`${page.url()} takes longer than ${LONGEST_MS} ms to ${what}.`);
    timer = setTimeout(() => reject(error), LONGEST_MS);
  });
  try {
    return await Promise.race([page.evaluate<Result>(script), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Resolves, in the page, when it has drawn; a page that draws nothing at present does not hold up
 * the test.
 */
export const DRAWN =
  "new Promise((resolve) => { requestAnimationFrame(resolve); setTimeout(resolve, 500); })";

/**
 * Two turns of drawing and then being idle: the changes of a response are drawn in the first, and
 * the requests that follow show in the second. @returns whether a placeholder is still shown in
 * place of data.
 */
const PAGE_IS_QUIET = `(async () => {
  for (let turn = 0; turn < 2; turn++) {
    await ${DRAWN};
    await new Promise((resolve) => requestIdleCallback(resolve, { timeout: 500 }));
  }
  return document.querySelector("[class*=Skeleton-root], [aria-busy=true]") === null;
})()`;

/** Waits until a page has loaded and drawn everything. */
export async function isSettled(page: Page): Promise<void> {
  const requests = inFlight.get(page);
  assert.ok(requests, "watchRequests() was not called for this page.");
  const until = Date.now() + LONGEST_MS;
  for (;;) {
    const isQuiet = await runIn<boolean>(page, "be drawn", PAGE_IS_QUIET);
    if (isQuiet && requests.size === 0) return;
    const waitsFor = [...requests].map((request) => request.url());
    assert.ok(
      Date.now() < until,
      `The page is not loaded: ${waitsFor.join(", ") || "placeholders"}`,
    );
  }
}
