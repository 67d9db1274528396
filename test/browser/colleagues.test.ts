/*
 * Colleagues in a real browser: an administrator invites a marketer, who signs in elsewhere, chooses a password, makes a segment,
 * and is out once an identity provider deactivates them. Passkeys with the virtual authenticator of the browser.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { READY_ROLES } from "../../src/core/base/context/dashboard-permissions.ts";
import { addColleague, inviteColleague, PASSWORD } from "../colleagues.ts";
import { startOwnServer } from "../harness.ts";
import { declare, scimClient } from "../scim-client.ts";
import { assertAccessible } from "./accessibility.ts";
import {
  assertFits,
  goTo,
  isLoaded,
  type OpenPage,
  SCREENS,
  show,
  skipWithoutBrowser as skip,
  startDashboard,
} from "./dashboard-browser.ts";
import { filledWorkspace } from "./dashboard-workspace.ts";

describe("colleagues in the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startOwnServer();
  await declare(server);
  const scim = scimClient(server);
  const dashboard = await startDashboard(server);
  const localhost = server.url.replace("127.0.0.1", "localhost");

  /** Opens a link in a separate browser, and presses its button. */
  async function enterWith(link: string): Promise<OpenPage> {
    const opened = await dashboard.openSignedOut("/");
    await opened.page.goto(link);
    await opened.page.getByRole("button", { name: "Sign in", exact: true }).click();
    await isLoaded(opened.page);
    return opened;
  }

  const signInWithPassword = async (page: Page, userName: string, password: string) => {
    await page.getByLabel("Email address").fill(userName);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
  };

  test("an administrator invites a marketer, who chooses a password, makes a segment, sees no keys, and is out once SCIM deactivates them", async () => {
    const { page: admin, complaints } = await dashboard.open("/company/dashboard-users");
    await admin.getByRole("button", { name: "Add a colleague" }).click();
    const form = admin.getByRole("dialog");
    await assertAccessible(admin);
    await form.getByLabel("Email address").fill("grace@acme.example");
    await form.getByLabel("Given name").fill("Grace");
    await form.getByLabel("Family name").fill("Hopper");
    await form.getByText("Makes and changes segments").waitFor();
    await form.getByRole("button", { name: "Add, and make a link" }).click();
    const shown = admin.getByRole("dialog", { name: "The link for Grace Hopper" });
    const link = (await shown.locator("pre").textContent()) ?? "";
    assert.match(link, /sign-in\?token=link_/);
    await assertAccessible(admin);
    await shown.getByRole("button", { name: "I have copied it" }).click();
    await admin.getByRole("heading", { level: 1, name: "Grace Hopper" }).waitFor();
    await isLoaded(admin);
    await assertAccessible(admin);

    const { page, complaints: theirs } = await enterWith(link);
    await page.getByRole("heading", { level: 1, name: "Welcome, Grace Hopper" }).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Set a password" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("New password").fill("short");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("At least 12 characters.").waitFor();
    await dialog.getByLabel("New password").fill(PASSWORD);
    await dialog.getByLabel("The same again").fill(PASSWORD);
    await assertAccessible(page);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Change the password" }).waitFor();

    await goTo(page, "/w/demo/segments/new?event=signed_up");
    await page.getByLabel("Name", { exact: true }).fill("Newcomers");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Newcomers is saved.").waitFor();
    await goTo(page, "/w/demo/segments");
    await page.getByText("Newcomers").first().waitFor();
    assert.equal(await page.getByRole("link", { name: "Live requests" }).count(), 0);
    assert.equal(await page.getByRole("link", { name: "Company settings" }).count(), 0);
    await goTo(page, "/w/demo/settings/keys");
    await page.getByText("You may not see this").waitFor();

    // Elsewhere, with the password, by keyboard alone.
    const { page: other } = await dashboard.openSignedOut("/w/demo/segments");
    await other.getByLabel("Email address").focus();
    await other.keyboard.type("grace@acme.example");
    await other.keyboard.press("Tab");
    await other.keyboard.type(PASSWORD);
    await other.keyboard.press("Enter");
    await other.getByRole("heading", { level: 1, name: "Segments" }).waitFor();

    const { body } = await scim.list({ filter: 'userName eq "grace@acme.example"' });
    const begun = performance.now();
    await scim.patch(body.Resources[0].id, { op: "replace", path: "active", value: false });
    for (const out of [page, other]) {
      await out.getByRole("link", { name: "Subscription groups" }).click();
      await out.getByRole("heading", { level: 1, name: "Sign in to Rapport" }).waitFor();
    }
    assert.ok(performance.now() - begun < 10_000);
    await signInWithPassword(other, "grace@acme.example", PASSWORD);
    await other.getByText("The email address or the password is wrong.").waitFor();
    await assertAccessible(other);
    assert.deepEqual([...complaints, ...theirs], []);
  });

  test("a colleague adds a passkey and signs in with it, without a name and a password", async () => {
    const ada = await addColleague(server, { roles: { demo: "viewer" } });
    const path = await inviteColleague(server, ada);
    const { page } = await enterWith(localhost + path);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "internal",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.getByRole("button", { name: "Add a passkey" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Laptop");
    await dialog.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("table", { name: "Passkeys" }).getByText("Laptop").waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: /theme and sign-out/ }).click();
    await page.getByRole("menuitem", { name: "Sign out", exact: true }).click();
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByRole("button", { name: /^Grace Hopper/ }).waitFor();
    await goTo(page, "/account");
    await page.getByRole("table", { name: "Sessions" }).getByText("Passkey").waitFor();
  });

  test("the sign-in page, one's own sign-in, the roles and the audit fit every screen, and axe finds nothing", async () => {
    const ada = await addColleague(server, { company: ["admin"] });
    const { page } = await enterWith(server.url + (await inviteColleague(server, ada)));
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
