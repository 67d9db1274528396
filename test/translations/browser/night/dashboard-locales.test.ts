/* Locales, messages, refused and many translations in the dashboard, and on a phone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../../../browser/accessibility.ts";
import {
  assertFits,
  SCREENS,
  skipWithoutBrowser,
  startDashboard,
} from "../../../browser/dashboard-browser.ts";
import { startServer, type TestWorkspace } from "../../../harness.ts";
import {
  SOURCE,
  translatedWorkspace,
  WELCOME,
  WELCOME_MAIL,
} from "../../../translated-workspace.ts";

describe("locales and messages in the dashboard", { skip: skipWithoutBrowser }, async () => {
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

  test("a refused translation keeps its text and shows the reason in its cell", async () => {
    const workspace = await begin();
    const { page } = await dashboard.open(gridOf(workspace));
    await cell(page, "0:1").click();
    await page.keyboard.type("{{ broken");
    await page.getByRole("heading", { name: "Translations", exact: true }).click();
    await cell(page, "0:1")
      .getByRole("alert")
      .filter({ hasText: "translation_map.id_0" })
      .waitFor();
    assert.equal(await cell(page, "0:1").getAttribute("aria-invalid"), "true");
    await assertAccessible(page);
    await cell(page, "0:1").click();
    assert.equal(await page.getByLabel("id_0 in French").inputValue(), "{{ broken");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Bonjour");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("status").filter({ hasText: "Saved id_0 in French." }).waitFor();
    assert.deepEqual(await stored(workspace, "fr-FR"), { id_0: "Bonjour" });
  });

  test("a message of 10,000 strings draws only the rows on the screen, and the keyboard reaches the last one", async () => {
    const workspace = await begin();
    const id = "33333333-0000-4000-8000-0000000000aa";
    const source = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`key_${10_000 + index}`, `Text ${index}`]),
    );
    const { campaign_id } = (
      await server.admin("GET", `/admin/v1/workspaces/${workspace.name}/messages/${WELCOME_MAIL}`)
    ).body;
    const path = `/admin/v1/workspaces/${workspace.name}/messages/${id}`;
    const body = { campaign_id, channel: "email", multi_language: true, source };
    assert.equal((await server.admin("PUT", path, body)).status, 200);
    const { page } = await dashboard.open(gridOf(workspace, id));
    await cell(page, "0:0").click();
    await page.keyboard.press("Escape");
    assert.ok((await page.getByRole("gridcell").count()) < 200);
    await page.keyboard.press("Control+End");
    await page.locator('[data-cell="9999:1"]:focus').waitFor();
    assert.ok((await page.getByRole("gridcell").count()) < 200);
    await page.keyboard.type("Dernier");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("status").filter({ hasText: "Saved key_19999 in French." }).waitFor();
    const read = await server.admin("GET", path);
    assert.deepEqual(read.body.translations["fr-FR"], { key_19999: "Dernier" });
  });

  test("locales are added and removed on a separate tab, and the page asks for the first one", async () => {
    const message = { id: WELCOME_MAIL, channel: "email", multi_language: true, source: SOURCE };
    const workspace = await server.workspace({
      settings: { multi_language: true },
      campaigns: [{ id: WELCOME, name: "Welcome", messages: [message] }],
    });
    const { page } = await dashboard.open(`/w/${workspace.name}/translations`);
    await page.getByText("No locales yet").waitFor();
    await page.getByRole("button", { name: "Add a locale" }).click();
    await page.waitForURL(/tab=locales/);
    await page.getByRole("button", { name: "Add a locale" }).click();
    const dialog = page.getByRole("dialog");
    for (const [label, text] of [
      ["Name", "German"],
      ["Language", "German"],
      ["Country", "Germany"],
      ["Locale key", "de-DE"],
    ] as const) {
      await dialog.getByLabel(label, { exact: true }).fill(text);
    }
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("cell", { name: "de-DE" }).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Actions for German" }).click();
    await page.getByRole("menuitem", { name: "Remove…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No locales yet").waitFor();
  });

  test("campaigns and canvases link to the grids of their messages, and messages can be added there", async () => {
    const workspace = await begin();
    const { page, complaints } = await dashboard.open(`/w/${workspace.name}/campaigns`);
    await page.getByRole("row", { name: /^Welcome/ }).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Add a campaign" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Spring sale");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Add a message to Spring sale" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    const spring = page.getByRole("row", { name: /^Spring sale/ });
    await spring.getByRole("link", { name: "Email" }).click();
    await page.getByRole("rowheader", { name: "hello" }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test("the pages of messages fit a phone, where the grid shows one locale at a time", async () => {
    const workspace = await begin();
    const options = { viewport: SCREENS.phone, hasTouch: true, isMobile: true };
    const { page } = await dashboard.open(gridOf(workspace), options);
    await cell(page, "0:0").waitFor();
    assert.equal(await page.getByRole("gridcell").count(), 2);
    await assertFits(page);
    await assertAccessible(page);
    await page.goto(`${server.url}/dashboard/w/${workspace.name}/campaigns`);
    await page.getByRole("row", { name: /^Welcome/ }).waitFor();
    await assertFits(page);
  });
});
