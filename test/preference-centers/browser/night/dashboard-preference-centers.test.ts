/* Preference centers in the dashboard, in a real browser. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertAccessible } from "../../../browser/accessibility.ts";
import { skipWithoutBrowser, startDashboard } from "../../../browser/dashboard-browser.ts";
import { startServer } from "../../../harness.ts";
import { addressOf, begin, code, PAGE, shown, stored, write } from "../center-editor.ts";

describe("preference centers in the dashboard", { skip: skipWithoutBrowser }, async () => {
  if (skipWithoutBrowser) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  test("a center is created as a draft, published from its editor, and removed after its name is typed", async () => {
    const workspace = await server.workspace({ preference_centers: [] });
    const list = `/w/${workspace.name}/preference-centers`;
    const { page, complaints } = await dashboard.open(list);
    await page.getByText("No preference centers yet").waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Add a center" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("two words");
    await page.keyboard.press("Enter");
    await dialog.getByRole("alert").filter({ hasText: "'name' must be" }).waitFor();
    await dialog.getByLabel("Name").fill("spring");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "spring", exact: true }).waitFor();
    const [, id = ""] = /preference-centers\/([^?]+)/.exec(page.url()) ?? [];
    assert.equal((await stored(server, workspace, id)).state, "draft");
    await page.getByRole("button", { name: "Save and publish" }).click();
    await page.getByText("Active", { exact: true }).waitFor();
    assert.equal((await stored(server, workspace, id)).state, "active");
    await page.getByRole("button", { name: "Actions for spring" }).click();
    await page.getByRole("menuitem", { name: "Remove…" }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await dialog.getByText("Type spring to confirm.").waitFor();
    await dialog.getByRole("textbox").fill("spring");
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByText("No preference centers yet").waitFor();
    assert.equal(
      (await stored(server, workspace, id)).message?.includes("no preference center"),
      true,
    );
    assert.deepEqual(complaints, []);
  });

  test("the preview follows typed text, in another language, and nothing is stored before it is saved", async () => {
    const workspace = await begin(server);
    const { page, complaints } = await dashboard.open(addressOf(workspace));
    await shown(page).getByRole("heading", { name: "Hello Sam", exact: true }).waitFor();
    await code(page).waitFor();
    await assertAccessible(page);
    await page.getByRole("combobox", { name: "Language of the preview" }).click();
    await page.getByRole("option", { name: "es" }).click();
    await shown(page).getByRole("heading", { name: "Hola Sam", exact: true }).waitFor();
    await write(page, `<h1>{% translation t %}Hi{% endtranslation %}, {{\${last_name}}}</h1>`);
    await shown(page).getByRole("heading", { name: "Hola, Sample", exact: true }).waitFor();
    assert.equal((await stored(server, workspace)).page_html, PAGE);
    await page.keyboard.press("Control+S");
    await page.getByText("Unsaved changes").waitFor({ state: "detached" });
    assert.match((await stored(server, workspace)).page_html, /Hi/);
    assert.deepEqual(complaints, []);
  });

  test("a fault is shown beside the code with its line, and a page with a fault is not saved", async () => {
    const workspace = await begin(server);
    const { page } = await dashboard.open(addressOf(workspace));
    await shown(page).getByRole("heading").waitFor();
    await write(page, "<p>fine</p>\n<p>\n{% if %}");
    await page
      .getByRole("alert")
      .filter({ hasText: /[Ll]ine 3/ })
      .waitFor();
    await page.locator(".cm-lint-marker-error").waitFor();
    await page.waitForLoadState("networkidle");
    await assertAccessible(page);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("That did not work").waitFor();
    assert.equal((await stored(server, workspace)).page_html, PAGE);
    await write(page, "<p>fine</p>\n<script>1</script>");
    await page.getByRole("status").filter({ hasText: "'page_html', line 2" }).waitFor();
    await shown(page).getByText("fine").waitFor();
  });

  test("scripts in a page and markup in a title run neither in the preview nor in the dashboard", async () => {
    const evil = `<img src=x onerror="parent.document.title='run'">`;
    const page_html = `<h1>Page</h1>${evil}<script>parent.document.title = 'run'</script>`;
    const workspace = await begin(server, { title: evil, page_html });
    const { page } = await dashboard.open(addressOf(workspace));
    await shown(page).getByRole("heading", { name: "Page", exact: true }).waitFor();
    await write(page, `${page_html}<p onclick="parent.document.title='run'">typed</p>`);
    await shown(page).getByText("typed").click();
    assert.equal(await page.title(), `main · ${workspace.name} · Rapport`);
    await page.getByRole("link", { name: "Preference centers" }).first().click();
    // Leaving asks about the changes.
    await page.getByRole("button", { name: "Discard changes" }).click();
    await page.getByRole("cell", { name: evil }).waitFor();
    assert.equal(await page.locator("main img").count(), 0);
  });
});
