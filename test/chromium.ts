/* The browser that tests of pages use (Debian: `apt-get install chromium-headless-shell`, or `chromium`); CHROMIUM names another one. */
import { existsSync } from "node:fs";
import { after } from "node:test";
import { type Browser, chromium } from "playwright-core";

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

/** A browser that closes when the file or the test that starts it ends. */
export async function launchChromium(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: executablePath ?? "",
    // The sandbox of Chromium does not run as root, as tests in a container do.
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  after(() => browser.close());
  return browser;
}
