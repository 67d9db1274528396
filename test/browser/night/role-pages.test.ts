/* What each role sees of the pages, and the pages of a person's own sign-in on every screen. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { READY_ROLES } from "../../../src/core/base/context/dashboard-permissions.ts";
import { addColleague, inviteColleague } from "../../colleagues.ts";
import { startOwnServer } from "../../harness.ts";
import { declare } from "../../scim-client.ts";
import { assertAccessible } from "../accessibility.ts";
import {
  assertFits,
  enterWith,
  goTo,
  SCREENS,
  show,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../dashboard-browser.ts";
import { filledWorkspace } from "../dashboard-workspace.ts";

describe("roles and sign-in in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startOwnServer();
  await declare(server);
  const dashboard = await startDashboard(server);

  test("the sign-in page, one's own sign-in, the roles and the audit fit every screen, and axe finds nothing", async () => {
    const ada = await addColleague(server, { company: ["admin"] });
    const { page } = await enterWith(dashboard, server.url + (await inviteColleague(server, ada)));
    await goTo(page, "/company/audit");
    await page
      .getByRole("button", { name: /^Invited/ })
      .first()
      .click();
    await page.getByText("in the dashboard").first().waitFor();
    await assertAccessible(page);
    for (const screen of [SCREENS.wide, { width: 720, height: 450 }, SCREENS.phone]) {
      await page.setViewportSize(screen);
      for (const path of [
        "/account",
        "/company/roles",
        "/company/audit",
        `/company/dashboard-users/${ada.id}`,
      ]) {
        await show(page, path);
        await assertFits(page);
        if (screen !== SCREENS.wide) await assertAccessible(page);
      }
    }
    const { page: out } = await dashboard.openSignedOut("/");
    await out.getByRole("heading", { level: 1 }).waitFor();
    await out.setViewportSize(SCREENS.phone);
    await out.getByText("npx rapport-server sign-in").waitFor();
    await assertFits(out);
    await assertAccessible(out);
  });

  test("each role opens every page of its navigation, is refused nothing there, and is told what it lacks elsewhere", async () => {
    const { name, paths } = await filledWorkspace(server);
    const pages = [
      "/overview",
      "/requests",
      "/users",
      `/users/${paths.user}`,
      `/users/${paths.user}?tab=subscriptions`,
      "/segments",
      "/segments/new",
      "/catalogue",
      "/syncs",
      `/syncs/${paths.integration}`,
      `/syncs/${paths.integration}/runs/${paths.run}`,
      "/webhooks",
      `/webhooks/${paths.webhook}`,
      "/groups",
      "/preference-centers",
      `/preference-centers/${paths.center}`,
      "/campaigns",
      "/translations",
      `/translations?message=${paths.message}`,
      ...["keys", "apps", "teams", "brand", "limits", "manifest"].map(
        (each) => `/settings/${each}`,
      ),
    ];
    const wrong: string[] = [];
    for (const role of Object.keys(READY_ROLES)) {
      const person = await addColleague(server, { roles: { [name]: role } });
      const { page, complaints } = await enterWith(
        dashboard,
        server.url + (await inviteColleague(server, person)),
      );
      await goTo(page, `/w/${name}/groups`);
      const links = await page
        .getByRole("complementary", { name: "Navigation" })
        .getByRole("link")
        .evaluateAll((all) => all.map((each) => each.getAttribute("href") ?? ""));
      const refused: string[] = [];
      page.on("response", (response) => {
        if (response.status() === 403) refused.push(`${role} at ${page.url()}: ${response.url()}`);
      });
      for (const path of pages) {
        const address = `/dashboard/w/${name}${path}`;
        const isLinked = links.some(
          (link) =>
            link.includes("/w/") && /^$|^[/?]/.test(address.split(link)[1] ?? "not below it"),
        );
        refused.length = 0;
        await show(page, `/w/${name}${path}`);
        const hidden = page.getByRole("alert").filter({ hasText: "You may not see this" });
        const isHidden = (await hidden.count()) > 0;
        if (isLinked) {
          if (isHidden) wrong.push(`${role} may not see ${path}`);
          wrong.push(...refused);
        } else if (refused.length > 0) {
          const isTold = isHidden || (await page.getByText(/You lack the permission/).count()) > 0;
          if (!isTold) wrong.push(`${role} is told nothing at ${path}`);
        }
      }
      wrong.push(...complaints);
    }
    assert.deepEqual(wrong, []);
  });
});
