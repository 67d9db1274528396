/* The dashboard for people who have permissions of the company, or none, but no workspace. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startProvider, visit } from "../../dashboard-users/identity-provider.ts";
import { continueSession } from "../../dashboard-users/signed-in.ts";
import { freePort } from "../../free-port.ts";
import { startOwnServer } from "../../harness.ts";
import { declare, scimClient } from "../../scim-client.ts";
import { assertAccessible } from "../accessibility.ts";
import {
  isLoaded,
  type OpenPage,
  show,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../dashboard-browser.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({ port, oidc: provider.settings });
await declare(server);
const scim = scimClient(server);

/** Signs in as a new person with these permissions. @returns the browser's cookie. */
async function cookieOf(company: readonly string[], demo: readonly string[] = []) {
  const { userName } = await scim.user({
    permissions: {
      companyPermissions: company,
      appGroup: demo.length > 0 ? [{ appGroupName: "demo", appGroupPermissions: demo }] : [],
    },
  });
  provider.signsIn({ email: userName as string, email_verified: true });
  return (await visit(server, "/dashboard/sign-in/oidc")).cookie;
}

// Before any test: those below sign in other people at the same time, and the provider signs in one
// after the other.
const managerCookie = await cookieOf(["manage_company_settings"]);

test("a person with only company permissions has a session without a workspace, and reads what they permit", async () => {
  const browser = await continueSession(server, managerCookie);
  const { body } = await browser.call("GET", "/dashboard/session");
  assert.deepEqual(
    [body.administrator, body.workspaces, body.permissions],
    [false, [], { company: ["manage_company_settings"], workspaces: {} }],
  );
  for (const [path, status] of [
    ["dashboard-users", 200],
    ["scim-tokens", 200],
    ["permission-sets", 200],
    ["audit", 200],
    ["workspaces", 403],
    ["workspaces/demo/apps", 403],
  ] as const) {
    assert.equal((await browser.call("GET", `/admin/v1/${path}`)).status, status, path);
  }
});

describe("the dashboard of a person without a workspace", { skip }, async () => {
  if (skip) return;
  const dashboard = await startDashboard(server);

  /** Opens the dashboard after sign-in, in a window of the person's own. */
  async function openAs(cookie: string): Promise<OpenPage> {
    const window = await dashboard.openAs(cookie, "/");
    await isLoaded(window.page);
    return window;
  }

  const sections = (page: OpenPage["page"]) =>
    page.getByRole("navigation", { name: "Company settings" }).getByRole("link").allInnerTexts();

  test("a person who manages the company lands on its dashboard users, and every offered page opens", async () => {
    const { page, complaints } = await openAs(await cookieOf(["manage_company_settings"]));
    assert.match(page.url(), /\/company\/dashboard-users$/);
    const offered = ["Dashboard users", "SCIM tokens", "Roles", "Connections", "Audit log"];
    assert.deepEqual(await sections(page), offered);
    assert.equal(await page.getByRole("navigation", { name: "Workspace settings" }).count(), 0);
    for (const name of ["dashboard-users", "scim-tokens", "roles", "connections", "audit"]) {
      await show(page, `/company/${name}`);
      assert.deepEqual(await page.getByRole("alert").allInnerTexts(), [], name);
      await assertAccessible(page);
    }
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test("a person who may add workspaces lands on their list and adds one", async () => {
    const { page, complaints } = await openAs(await cookieOf(["add_remove_app_groups"]));
    assert.match(page.url(), /\/company\/workspaces$/);
    assert.deepEqual(await sections(page), ["Workspaces"]);
    await page.getByRole("button", { name: "Add a workspace" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("demo");
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await dialog.getByText("The workspace demo exists already.").waitFor();
    await dialog.getByLabel("Name").fill("second");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("cell", { name: "second" }).waitFor();
    assert.equal((await server.admin("GET", "/admin/v1/workspaces/second")).status, 200);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  for (const [title, cookie, held] of [
    ["a person without any permission", await cookieOf([]), "You have none so far."],
    [
      "a person whose only permission opens no page",
      await cookieOf([], ["view_pii"]),
      "So far you have view_pii in demo.",
    ],
  ] as const) {
    test(`${title} sees which permission opens which page`, async () => {
      const { page, complaints } = await openAs(cookie);
      await page.getByText("Your permissions open no page yet").waitFor();
      await page.getByText(held).waitFor();
      for (const permission of ["view_usage_data", "dev_console", "manage_company_settings"])
        await page.getByText(permission, { exact: true }).waitFor();
      await assertAccessible(page);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }

  test("a person lands in the first workspace with a page for them, not in one that shows nothing", async () => {
    await server.admin("PUT", "/admin/v1/workspaces/a-first", {});
    const { userName } = await scim.user({
      permissions: {
        companyPermissions: [],
        appGroup: [
          { appGroupName: "a-first", appGroupPermissions: ["view_pii"] },
          { appGroupName: "demo", appGroupPermissions: ["basic_access"] },
        ],
      },
    });
    provider.signsIn({ email: userName as string, email_verified: true });
    const { page } = await openAs((await visit(server, "/dashboard/sign-in/oidc")).cookie);
    assert.match(page.url(), /\/w\/demo\/segments$/);
    await page.context().close();
  });
});
