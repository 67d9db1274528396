/* More of the editor of preference centers: taking out of service, failures and the keyboard. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { skipWithoutBrowser, startDashboard } from "../../../browser/dashboard-browser.ts";
import { startServer } from "../../../harness.ts";
import { addressOf, begin, code, ID, PAGE, shown, stored, write } from "../center-editor.ts";

describe("the editor of preference centers", { skip: skipWithoutBrowser }, async () => {
  if (skipWithoutBrowser) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);

  test("a center is taken out of service only after a question, and a preview link to it needs no session", async () => {
    const workspace = await begin(server, { state: "active" });
    const { page } = await dashboard.open(addressOf(workspace));
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Actions for main" }).click();
    await page.getByRole("menuitem", { name: "Copy a preview link" }).click();
    await page.getByText("Copied a link to the saved page.").waitFor();
    const link = (await page.evaluate("navigator.clipboard.readText()")) as string;
    const opened = await server.send("GET", new URL(link).pathname);
    assert.equal(opened.status, 200);
    await page.getByRole("button", { name: "Make it a draft" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Users who open their links").waitFor();
    assert.equal((await stored(server, workspace)).state, "active");
    await dialog.getByRole("button", { name: "Make it a draft" }).click();
    await page.getByText("Draft", { exact: true }).waitFor();
    assert.equal((await stored(server, workspace)).state, "draft");
  });

  test("an editor whose file cannot be loaded shows an error in its place, and the rest of the page stays", async () => {
    const workspace = await begin(server);
    const { page } = await dashboard.open("/", {});
    let asked = 0;
    await page.route(/code-editor-/, (route) => {
      asked += 1;
      return route.abort();
    });
    await page.goto(`${server.url}/dashboard${addressOf(workspace)}`);
    await page.getByRole("alert").getByText("This could not be loaded").waitFor();
    assert.equal(asked, 2, "Once more, automatically.");
    await shown(page).getByRole("heading", { name: "Hello Sam", exact: true }).waitFor();
    await page.unroute(/code-editor-/);
    await page.getByRole("button", { name: "Try again" }).click();
    await code(page).waitFor();
    await page.context().close();
  });

  test("the keyboard leaves the editor with Escape and Tab, and unsaved changes are not lost by leaving the page", async () => {
    const workspace = await begin(server);
    const { page } = await dashboard.open(addressOf(workspace));
    await shown(page).getByRole("heading").waitFor();
    await write(page, "<p>changed</p>");
    await page.getByText("Unsaved changes").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    assert.equal(await code(page).evaluate((element) => element.matches(":focus")), false);
    const users = page.getByRole("link", { name: "Users" });
    await users.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.match(page.url(), new RegExp(ID));
    await users.click();
    await dialog.getByRole("button", { name: "Discard changes" }).click();
    await page.getByRole("heading", { name: "Users", exact: true }).waitFor();
    assert.equal((await stored(server, workspace)).page_html, PAGE);
  });
});
