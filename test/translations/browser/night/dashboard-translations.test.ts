/* Translations, campaigns and canvases in the dashboard, in a real browser. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../../browser/accessibility.ts";
import { skipWithoutBrowser, startDashboard } from "../../../browser/dashboard-browser.ts";
import { startServer, type TestWorkspace } from "../../../harness.ts";
import { translatedWorkspace, WELCOME_MAIL } from "../../../translated-workspace.ts";

describe("translations in the dashboard", { skip: skipWithoutBrowser }, async () => {
  if (skipWithoutBrowser) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  const begin = () => server.workspace(translatedWorkspace());
  const gridOf = ({ name }: TestWorkspace, message = WELCOME_MAIL) =>
    `/w/${name}/translations?message=${message}`;
  const cell = (page: Page, place: string) => page.locator(`[data-cell="${place}"]`);
  const stored = async ({ name }: TestWorkspace, locale: string) => {
    const path = `/admin/v1/workspaces/${name}/messages/${WELCOME_MAIL}`;
    return (await server.admin("GET", path)).body.translations[locale] ?? {};
  };

  test("the grid marks missing translations and filters by them, at its own address", async () => {
    const workspace = await begin();
    const { page, complaints } = await dashboard.open(gridOf(workspace));
    await page.getByRole("columnheader", { name: /French fr-FR 2 missing/ }).waitFor();
    await page.getByRole("columnheader", { name: /Spanish \(Mexico\) es-MX Complete/ }).waitFor();
    // The columns are in the order of the locales' keys.
    assert.deepEqual(await page.getByRole("gridcell").allInnerTexts(), [
      "Hola",
      "Missing",
      "Compra ahora",
      "Missing",
    ]);
    await assertAccessible(page);
    await page.getByLabel("Find strings").fill("buy");
    await page.getByRole("row", { name: /Hello/ }).waitFor({ state: "detached" });
    assert.match(page.url(), /find=buy/);
    await page.getByLabel("Find strings").fill("");
    await page.getByRole("switch", { name: "Missing only" }).click();
    await page.waitForURL(/show=missing/);
    await page.getByRole("combobox", { name: "Locale" }).click();
    await page.getByRole("option", { name: "Spanish (Mexico)" }).click();
    await page.getByText("Every string is translated").waitFor();
    assert.match(page.url(), /locale=es-MX/);
    assert.deepEqual(complaints, []);
  });

  test("strings are translated with the keyboard alone, and each one is saved by itself", async () => {
    const workspace = await begin();
    const { page, complaints } = await dashboard.open(gridOf(workspace));
    const { keyboard } = page;
    await cell(page, "0:0").waitFor();
    await page.getByRole("switch", { name: "Missing only" }).click();
    await page.getByRole("switch", { name: "Missing only" }).click();
    // From the last control before the grid.
    await keyboard.press("Tab");
    assert.equal(await focused(page), "0:0");
    await keyboard.press("ArrowRight");
    assert.equal(await focused(page), "0:1");
    await keyboard.press("Enter");
    await keyboard.type("Bonjour");
    await keyboard.press("Control+Enter");
    assert.equal(await focused(page), "1:1");
    await page.getByRole("status").filter({ hasText: "Saved id_0 in French." }).waitFor();
    assert.deepEqual(await stored(workspace, "fr-FR"), { id_0: "Bonjour" });
    // Typing begins to edit; Escape discards, and Tab then leaves the grid.
    await keyboard.type("Achetez");
    await keyboard.press("Escape");
    assert.equal(await focused(page), "1:1");
    assert.equal(await cell(page, "1:1").innerText(), "Missing");
    await keyboard.press("Tab");
    assert.equal(await focused(page), null);
    await keyboard.press("Shift+Tab");
    assert.equal(await focused(page), "1:1");
    await keyboard.press("Control+Home");
    assert.equal(await focused(page), "0:0");
    // An empty text removes the translation.
    await keyboard.press("F2");
    await keyboard.press("Control+A");
    await keyboard.press("Delete");
    await keyboard.press("Tab");
    await page.getByRole("status").filter({ hasText: "Saved id_0 in Spanish (Mexico)." }).waitFor();
    assert.deepEqual(await stored(workspace, "es-MX"), { id_1: "Compra ahora" });
    assert.deepEqual(await stored(workspace, "fr-FR"), { id_0: "Bonjour" });
    assert.deepEqual(complaints, []);
  });

  test("translations are exported as CSV and XLIFF and imported again, and an import reports what it imported", async () => {
    const workspace = await begin();
    const { page } = await dashboard.open(gridOf(workspace));
    const save = async (kind: RegExp): Promise<string> => {
      await page.getByRole("button", { name: "Export" }).click();
      const download = page.waitForEvent("download");
      await page.getByRole("menuitem", { name: kind }).click();
      return readFile(await (await download).path(), "utf8");
    };
    const load = async (name: string, text: string) => {
      await page.getByRole("button", { name: "Import", exact: true }).click();
      const dialog = page.getByRole("dialog");
      await dialog
        .locator('input[type="file"]')
        .setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
      await dialog.getByRole("button", { name: "Import" }).click();
      return dialog;
    };
    const csv = await save(/CSV/);
    assert.match(csv, /"id_0","Hello","Hola"/);
    assert.match(await save(/XLIFF/), /<xliff/);
    let dialog = await load("fr.csv", "id,source,fr-FR\nid_0,Hello,Bonjour\nnowhere,x,y\n");
    await dialog.getByText("Imported 1 strings").waitFor();
    await dialog.getByText("1 missing").waitFor();
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByRole("gridcell", { name: "Bonjour" }).waitFor();
    dialog = await load("broken.xliff", "<xliff");
    await dialog.getByRole("alert").filter({ hasText: "Not saved" }).waitFor();
    assert.deepEqual(await stored(workspace, "fr-FR"), { id_0: "Bonjour" });
  });

  test("markup in names and texts is shown as text and never runs", async () => {
    const evil = `<img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
    const declared = translatedWorkspace();
    const [first, ...others] = declared.campaigns;
    const [mail] = first?.messages ?? [];
    const message = { ...mail, source: { id_0: evil }, translations: { "es-MX": { id_0: evil } } };
    const [spanish] = declared.locales;
    const workspace = await server.workspace({
      ...declared,
      locales: [{ ...spanish, name: evil }],
      campaigns: [{ ...first, name: evil, messages: [message] }, ...others],
      canvases: [],
    });
    const { page, complaints } = await dashboard.open(gridOf(workspace));
    assert.equal(await cell(page, "0:0").innerText(), evil);
    await page.getByRole("rowheader", { name: evil }).waitFor();
    await page.getByRole("columnheader", { name: evil }).waitFor();
    await page.goto(`${server.url}/dashboard/w/${workspace.name}/campaigns`);
    await page.getByRole("row").getByText(evil).waitFor();
    assert.equal(await page.title(), `Campaigns and canvases · ${workspace.name} · Rapport`);
    assert.equal(await page.locator("img, main script").count(), 0);
    assert.deepEqual(complaints, []);
  });
});

/** The place of the cell that has the focus, or null outside of the grid. */
const focused = (page: Page): Promise<string | null> =>
  page.evaluate("document.activeElement?.closest('[data-cell]')?.dataset.cell ?? null");
