/* Whether axe finds violations in what a page shows. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Waits, in the page, until it shows a theme, at once: what still moves between two colours has no contrast of its own. */
const settle = (colorScheme: string) => `(async () => {
  const still = new CSSStyleSheet();
  still.replaceSync("*, ::before, ::after { transition: none !important; animation: none !important; }");
  document.adoptedStyleSheets = [still];
  while (document.documentElement.dataset.mantineColorScheme !== "${colorScheme}") {
    await new Promise(requestAnimationFrame);
  }
  await new Promise(requestAnimationFrame);
})()`;

/**
 * The rules that a theme is checked with. The themes differ in colours, so `npm test` checks the dark one with the two
 * rules that look at colours; with TEST_THOROUGH=1, as `.ci/run` sets it, each theme is checked with every rule.
 */
const RULES_OF = {
  light: {},
  dark: process.env.TEST_THOROUGH ? {} : { runOnly: ["color-contrast", "link-in-text-block"] },
} as const;

/** What axe finds on a page with these rules, or with all. */
export async function violationsIn(page: Page, rules: object = {}): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  // What else axe could report is not read: the nodes without a violation, and what it would load for other rules.
  const options = { ...rules, resultTypes: ["violations"], elementRef: false, preload: false };
  return page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`,
  );
}

/** Checks what is shown for accessibility in the light and in the dark theme. */
export async function assertAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(settle(colorScheme));
    const found = await violationsIn(page, RULES_OF[colorScheme]);
    assert.deepEqual(found, [], `${colorScheme} theme`);
  }
  await page.emulateMedia({ colorScheme: "light" });
}
