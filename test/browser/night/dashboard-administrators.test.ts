/* Dashboard users in the dashboard: who may add them, give them permissions, deactivate and remove them. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { startOwnServer } from "../../harness.ts";
import { assertAccessible } from "../accessibility.ts";
import {
  goTo,
  isLoaded,
  show,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../dashboard-browser.ts";
import { tabTo } from "../tab-to.ts";

describe("dashboard users in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startOwnServer();
  const dashboard = await startDashboard(server);
  const { name } = await server.workspace({ teams: [{ name: "Red" }] });
  await server.admin("PUT", "/admin/v1/permission-sets/Support", {
    permissions: ["view_user_profile", "view_pii"],
  });
  const PATH = "/admin/v1/dashboard-users";
  const LIST = "/company/dashboard-users";

  const create = async (members: Record<string, unknown> = {}) => {
    const person = {
      user_name: `${crypto.randomUUID()}@acme.example`,
      given_name: "Ada",
      family_name: "Lovelace",
      department: "engineering",
      ...members,
    };
    const { status, body } = await server.admin("POST", PATH, person);
    assert.equal(status, 201, JSON.stringify(body));
    return body.person;
  };
  const read = async (id: string) => (await server.admin("GET", `${PATH}/${id}`)).body.person;

  const idIn = (page: Page): string => new URL(page.url()).pathname.split("/").at(-1) ?? "";

  /** Chooses one of several options; the list stays open for others until it is closed. */
  async function choose(page: Page, field: string, option: string): Promise<void> {
    await page.getByRole("dialog").getByLabel(field, { exact: true }).first().click();
    await page.getByRole("option", { name: option, exact: true }).click();
    await page.keyboard.press("Escape");
  }

  test("with the keyboard alone an administrator adds a colleague and gets a link", async () => {
    const { page, complaints } = await dashboard.open(LIST);
    await isLoaded(page);
    await tabTo(page, /Add a colleague/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByLabel("Email address").waitFor();
    await page.keyboard.type("grace@acme.example");
    await tabTo(page, /Given name/);
    await page.keyboard.type("Grace");
    await tabTo(page, /Family name/);
    await page.keyboard.type("Hopper");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "The link for Grace Hopper" }).waitFor();
    await tabTo(page, /I have copied it/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Grace Hopper", exact: true }).waitFor();
    const person = await read(idIn(page));
    assert.deepEqual(
      [person.user_name, person.department, person.active, person.permissions],
      [
        "grace@acme.example",
        "marketing",
        true,
        {
          companyPermissions: [],
          appGroup: [
            {
              appGroupName: person.permissions.appGroup[0].appGroupName,
              appGroupPermissions: [],
              team: [],
              appGroupPermissionSets: [{ appGroupPermissionSetName: "marketer" }],
            },
          ],
        },
      ],
    );
    assert.deepEqual(complaints, []);
  });

  test("permissions, roles and teams that are set in the dashboard are those of the person", async () => {
    const { id } = await create();
    const { page, complaints } = await dashboard.open(`${LIST}/${id}`);
    await page.getByRole("button", { name: "Add a workspace" }).click();
    await page.getByRole("dialog").getByLabel("Workspace", { exact: true }).first().click();
    await page.getByRole("option", { name, exact: true }).click();
    await choose(page, "Roles", "Support");
    await page.getByText("With view_pii, searches users").first().waitFor();
    await page.getByText("Single permissions, beside those of the roles").click();
    await page.getByRole("checkbox", { name: "dev_console" }).check();
    await choose(page, "Teams", "Red");
    await choose(page, "Permissions in the team Red", "basic_access");
    await assertAccessible(page);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("cell", { name: "Red (basic_access)" }).waitFor();
    await page.getByRole("button", { name: "Edit company permissions" }).click();
    await page.getByRole("checkbox", { name: "manage_company_settings" }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.deepEqual((await read(id)).permissions, {
      companyPermissions: ["manage_company_settings"],
      appGroup: [
        {
          appGroupName: name,
          appGroupPermissions: ["dev_console"],
          team: [{ teamName: "Red", teamPermissions: ["basic_access"] }],
          appGroupPermissionSets: [{ appGroupPermissionSetName: "Support" }],
        },
      ],
    });
    await page.getByRole("button", { name: `Actions for ${name}` }).click();
    await page.getByRole("menuitem", { name: "Remove…" }).click();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByText("No workspace yet").waitFor();
    assert.deepEqual((await read(id)).permissions.appGroup, []);
    assert.deepEqual(complaints, []);
  });

  test("a person is renamed, deactivated, reactivated, signed out and removed, and the server's refusal is shown", async () => {
    const ADMIN = { companyPermissions: ["admin"], appGroup: [] };
    const { id, user_name } = await create({ permissions: ADMIN });
    const { page, complaints } = await dashboard.open(`${LIST}/${id}`);
    const act = async (item: string) => {
      await page.getByRole("button", { name: "Actions", exact: true }).click();
      await page.getByRole("menuitem", { name: item }).click();
    };
    await act("Edit…");
    await page.getByLabel("Given name").fill("Augusta");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Augusta Lovelace", exact: true }).waitFor();
    // The only administrator stays one.
    await act("Deactivate…");
    await page.getByRole("button", { name: "Deactivate", exact: true }).click();
    await page.getByRole("alert").getByText("the last active user").waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Cancel" }).click();
    await create({ permissions: ADMIN });
    await act("Deactivate…");
    await page.getByRole("button", { name: "Deactivate", exact: true }).click();
    await page.getByText("Deactivated: cannot sign in").waitFor();
    assert.equal((await read(id)).active, false);
    await act("Reactivate");
    await page.getByText("Active", { exact: true }).waitFor();
    await act("Sign out everywhere…");
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByText("Ended 0 sessions.").waitFor();
    await act("Remove…");
    await page.getByLabel(/Type .* to confirm/).fill(user_name);
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("table", { name: "Dashboard users" }).waitFor();
    assert.equal((await server.admin("GET", `${PATH}/${id}`)).status, 404);
    assert.deepEqual(complaints, []);
  });

  test("a person who may only see dashboard users finds every change disabled, with the reason", async () => {
    const { id } = await create();
    const { page } = await dashboard.open("/");
    await page.route("**/dashboard/session", async (route) => {
      const response = await route.fetch();
      const permissions = {
        company: ["manage_company_settings"],
        workspaces: { [name]: ["basic_access"] },
      };
      const session = { ...(await response.json()), administrator: false, permissions };
      await route.fulfill({ json: session });
    });
    await goTo(page, LIST);
    const add = page.getByRole("button", { name: "Add a colleague" });
    assert.equal(await add.getAttribute("aria-disabled"), "true");
    await show(page, `${LIST}/${id}`);
    for (const label of ["Edit company permissions", "Add a workspace"]) {
      const button = page.getByRole("button", { name: label });
      assert.equal(await button.getAttribute("aria-disabled"), "true", label);
      await button.focus();
      await page
        .getByRole("tooltip")
        .getByText("You lack the permission admin of the company.")
        .waitFor();
    }
    await page.getByRole("button", { name: "Actions", exact: true }).click();
    for (const item of ["Edit…", "Deactivate…", "Sign out everywhere…", "Remove…"]) {
      const entry = page.getByRole("menuitem", { name: item });
      assert.equal(await entry.getAttribute("aria-disabled"), "true", item);
      assert.match(await entry.innerText(), /You lack the permission admin/);
      await entry.click({ force: true });
      assert.equal(await page.getByRole("dialog").count(), 0, item);
    }
    await page.keyboard.press("Escape");
    await assertAccessible(page);
  });
});
