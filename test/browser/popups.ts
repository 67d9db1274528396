/*
 * Popups on the pages of the dashboard: menus, dialogs, and the lists of their fields. Axe sees
 * only visible content, so each is opened and checked.
 */
import type { Locator, Page } from "playwright-core";
import { assertAccessible } from "./accessibility.ts";

/** The buttons that open a dialog on a page; of many alike, one. */
const DIALOGS =
  /^(Add an? .+|Create an? .+|Import|Set an attribute|Edit (plan|company permissions|the limit of users\.track))$/;

/** Entries of menus that do something at once. */
const AT_ONCE = /^(Export|CSV|XLIFF|Light|Dark|As the system|Reference|Sign out|Reactivate)/;

interface PopupOptions {
  /** The names of the popups that were checked, to which it adds. */
  readonly seen: Set<string>;
  readonly themes: readonly ("light" | "dark")[];
}

/**
 * Opens everything on a page, one after the other. @returns axe's findings, with the name of the
 * popup.
 */
export async function checkPopups(
  page: Page,
  path: string,
  { seen, themes }: PopupOptions,
): Promise<string[]> {
  const found: string[] = [];
  const check = async (what: string, within: string) => {
    seen.add(what);
    await assertAccessible(page, { within, themes }).catch(({ message }) =>
      found.push(`${what}: ${message}`),
    );
  };
  const dialogOf = async (what: string) => {
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await check(what, "[role=dialog]");
    await checkLists(dialog, what);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  };
  const checkLists = async (where: Locator, what: string) => {
    for (const list of await where.getByRole("combobox").all()) {
      if (!(await list.isEnabled()) || (await list.getAttribute("aria-haspopup")) !== "listbox")
        continue;
      // The field of a multi-select is below the chosen values.
      await list.click({ force: true });
      const options = page.getByRole("listbox");
      if ((await options.count()) > 0)
        await check(`${what}, list`, "[role=listbox], [aria-expanded=true]");
      await page.keyboard.press("Escape");
      await options.waitFor({ state: "detached" });
    }
  };
  const main = page.getByRole("main");
  await checkLists(main, "page");
  for (const button of await main.getByRole("button", { name: DIALOGS }).all()) {
    const label = (await button.getAttribute("aria-label")) ?? (await button.innerText());
    const name = `${path} ${label}`;
    if (seen.has(name) || (await button.isDisabled())) continue;
    await button.click();
    await dialogOf(name);
  }
  for (const button of await page.locator("button[aria-haspopup=menu]").all()) {
    const label = (await button.getAttribute("aria-label")) ?? (await button.innerText());
    if (seen.has(label)) continue;
    const entries = page.getByRole("menuitem");
    await button.click();
    await entries.first().waitFor();
    await check(label, "[role=menu], [aria-expanded=true]");
    const names = await entries.allInnerTexts();
    await page.keyboard.press("Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    for (const entry of names.filter((each) => each.endsWith("…") && !AT_ONCE.test(each))) {
      if (seen.has(`${label}, ${entry}`)) continue;
      await button.click();
      await entries.filter({ hasText: entry }).click();
      await dialogOf(`${label}, ${entry}`);
    }
  }
  return found;
}
