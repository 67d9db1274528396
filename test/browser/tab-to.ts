import assert from "node:assert/strict";
import type { Page } from "playwright-core";

/** Presses Tab until the element with this name has the focus. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    const focused: string = await page.evaluate(
      "(document.activeElement.getAttribute('aria-label') ?? '') + ' ' + document.activeElement.textContent + ' ' + (document.activeElement.labels?.[0]?.textContent ?? '')",
    );
    if (name.test(focused)) return;
  }
  assert.fail(`Tab does not lead to ${name}.`);
}
