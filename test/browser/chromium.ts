/* The browser that tests of pages use (Debian: `apt-get install chromium-headless-shell`, or `chromium`); CHROMIUM names another one. */
import { existsSync } from "node:fs";
import { after } from "node:test";
import type { Browser } from "playwright-core";

/** The shell has no windows, and takes a third of the processor time of the whole browser. */
const USUAL_PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

const places = process.env.CHROMIUM ? [process.env.CHROMIUM] : USUAL_PLACES;
const executablePath = places.find((path) => existsSync(path));

/** Why tests in a browser cannot run here, or false. */
export const skipWithoutChromium = executablePath ? false : "there is no Chromium on this machine";

let shared: Promise<Browser> | undefined;

/** Set where many files run in one process, which closes the browser after the last of them. */
let outlivesFiles = false;

/** Lets the files that run in this process share a browser, until `closeSharedChromium()`. */
export const shareChromium = (): void => {
  outlivesFiles = true;
};

/** Closes the browser that the files of this process shared, if one of them started it. */
export const closeSharedChromium = async (): Promise<void> => (await shared)?.close();

/**
 * The browser of this process. A start takes more than a second, so the files of a process share
 * one; each opens its own contexts, which share nothing. Those opened after this call are closed
 * when the file or the test that calls it ends.
 */
export async function launchChromium(): Promise<Browser> {
  // One that crashed fails the file that ran then, and no other.
  if (!(await shared)?.isConnected()) {
    shared = launch();
  }
  const browser = (await shared) as Browser;
  const others = new Set(browser.contexts());
  after(async () => {
    const opened = browser.contexts().filter((context) => !others.has(context));
    await Promise.all(opened.map((context) => context.close()));
    if (!outlivesFiles) await browser.close();
  });
  return browser;
}

/** Loads the library only now: that takes half a second, and most processes of the suite open no page. */
async function launch(): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  return chromium.launch({
    executablePath: executablePath ?? "",
    // The sandbox of Chromium does not run as root, as tests in a container do. Without a
    // graphics card, a separate process for graphics only costs time.
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
  });
}
