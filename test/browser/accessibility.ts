/* Whether axe finds violations on a page. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { DRAWN, runIn } from "./settled-page.ts";

const AXE = readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/**
 * Waits in the page until it shows a theme, without transitions: a colour in transition has no
 * contrast.
 */
const settle = (colorScheme: string) => `(async () => {
  const still = new CSSStyleSheet();
  still.replaceSync("*, ::before, ::after { transition: none !important; animation: none !important; }");
  document.adoptedStyleSheets = [still];
  while (document.documentElement.dataset.mantineColorScheme !== "${colorScheme}") {
    await ${DRAWN};
  }
  await ${DRAWN};
})()`;

const isThorough = Boolean(process.env.TEST_THOROUGH);

/**
 * The rules that a theme is checked with. The themes differ in colours, so the dark one is checked with the two
 * rules that look at colours; with TEST_THOROUGH=1, as `.ci/nightly` sets it, each theme is checked with every rule.
 */
export const RULES_OF = {
  light: {},
  dark: isThorough ? {} : { runOnly: ["color-contrast", "link-in-text-block"] },
} as const;

/**
 * Axe's findings on a page with these rules, or with all.
 *
 * @param within a selector of the checked part; by default the whole page.
 */
export async function violationsIn(
  page: Page,
  rules: object = {},
  within?: string,
): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(AXE);
  // Axe's other reports are not read: the nodes without a violation, and resources for other rules.
  const options = { ...rules, resultTypes: ["violations"], elementRef: false, preload: false };
  const context = within === undefined ? "document" : JSON.stringify(within);
  return runIn(
    page,
    "be checked by axe",
    `axe.run(${context}, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`,
  );
}

export const BOTH_THEMES = ["light", "dark"] as const;

interface AccessibilityOptions {
  /** A selector of the checked part, such as a dialog; with TEST_THOROUGH=1 the page behind it is checked again. */
  readonly within?: string;
  /** By default the light one, and with TEST_THOROUGH=1 both: they differ only in colours. */
  readonly themes?: readonly ("light" | "dark")[];
}

/** Checks the shown content for accessibility. */
export async function assertAccessible(
  page: Page,
  { within, themes = isThorough ? BOTH_THEMES : ["light"] }: AccessibilityOptions = {},
): Promise<void> {
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    await runIn(page, `show the ${colorScheme} theme`, settle(colorScheme));
    const checked = isThorough ? undefined : within;
    const found = await violationsIn(page, RULES_OF[colorScheme], checked);
    assert.deepEqual(found, [], `${colorScheme} theme`);
  }
  if (themes.includes("dark")) await page.emulateMedia({ colorScheme: "light" });
}
