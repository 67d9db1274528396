/* The list of dashboard users, their page on a phone, and the teams of a workspace. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startOwnServer } from "../../harness.ts";
import { assertAccessible, BOTH_THEMES } from "../accessibility.ts";
import {
  assertFits,
  goTo,
  isLoaded,
  SCREENS,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../dashboard-browser.ts";

describe("the list of dashboard users", { skip }, async () => {
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
  test("the page of dashboard users states its purpose while there are none", async () => {
    const { page, complaints } = await dashboard.open(LIST);
    await page.getByText("No dashboard users yet").waitFor();
    await assertAccessible(page, { themes: BOTH_THEMES });
    assert.deepEqual(complaints, []);
  });

  test("the list finds a person by a part of the name, keeps the search in its address, and loads the next pages", async () => {
    for (let each = 0; each < 105; each += 1) await create({ family_name: "Byron" });
    await create({ family_name: "Noether" });
    const { page, complaints } = await dashboard.open(LIST);
    await page.getByLabel("Find dashboard users").fill("noeth");
    await page.getByRole("link", { name: "Ada Noether" }).waitFor();
    await page.getByText("1 in total").waitFor();
    assert.equal(new URL(page.url()).searchParams.get("query"), "noeth");
    await goTo(page, `${LIST}?query=byron`);
    assert.equal(await page.getByLabel("Find dashboard users").inputValue(), "byron");
    await page.keyboard.press("End");
    await page.getByText("105 in total").waitFor();
    await goTo(page, `${LIST}?query=unknown`);
    await page.getByText("No dashboard user matches").waitFor();
    assert.deepEqual(complaints, []);
  });

  test("teams are added and removed in the settings of a workspace", async () => {
    const { page, complaints } = await dashboard.open(`/w/${name}/settings/teams`);
    await page.getByRole("button", { name: "Add a team" }).click();
    await page.getByLabel("Name").fill("Blue");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Actions for Blue" }).click();
    await page.getByRole("menuitem", { name: "Remove…" }).click();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("button", { name: "Actions for Blue" }).waitFor({ state: "detached" });
    const { body } = await server.admin("GET", `/admin/v1/workspaces/${name}/teams`);
    assert.deepEqual(
      body.teams.map((team: any) => team.name),
      ["Red"],
    );
    assert.deepEqual(complaints, []);
  });

  test("the page of a person has no violation in either theme, fits on a phone, and says when it fails", async () => {
    const { id } = await create({
      active: false,
      permissions: {
        companyPermissions: ["admin"],
        appGroup: [{ appGroupName: name, appGroupPermissions: ["basic_access"] }],
      },
    });
    const { page, complaints } = await dashboard.open(`${LIST}/${id}`, { viewport: SCREENS.phone });
    await isLoaded(page);
    await assertFits(page);
    await assertAccessible(page, { themes: BOTH_THEMES });
    await goTo(page, LIST);
    await assertFits(page);
    await assertAccessible(page, { themes: BOTH_THEMES });
    await page.goto(`${server.url}/dashboard${LIST}/9f1c0a52-6a0e-4a3e-9d55-0c9b1f3c2d11`);
    await page.getByRole("alert").getByText("User not found").waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
