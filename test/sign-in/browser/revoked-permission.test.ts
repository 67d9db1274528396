/* A page of a dashboard user whose permissions change meanwhile. */
import { test } from "node:test";
import { launchChromium } from "../../browser/chromium.ts";
import { skipWithoutBrowser } from "../../browser/dashboard-browser.ts";
import { startProvider, visit } from "../../dashboard-users/identity-provider.ts";
import { freePort } from "../../free-port.ts";
import { startOwnServer } from "../../harness.ts";
import { declare, scimClient } from "../../scim-client.ts";

const port = await freePort();
const provider = await startProvider(port);
const server = await startOwnServer({ port, oidc: provider.settings });
await declare(server);
const scim = scimClient(server);

const permissions = (...appGroupPermissions: readonly string[]) => ({
  companyPermissions: [],
  appGroup: [{ appGroupName: "demo", appGroupPermissions }],
});

test("a page that is open while its permission is revoked hides what it showed, and so does the navigation", {
  skip: skipWithoutBrowser,
}, async () => {
  const user: any = await scim.user({
    permissions: permissions("view_user_profile", "view_pii", "basic_access"),
  });
  provider.signsIn({ email: user.userName, email_verified: true });
  const { cookie } = await visit(server, "/dashboard/sign-in/oidc");
  const context = await (await launchChromium()).newContext();
  const [name = "", value = ""] = cookie.split("=");
  await context.addCookies([{ name, value, url: server.url }]);
  const page = await context.newPage();
  await page.goto(`${server.url}/dashboard/w/demo/users`);
  await page.getByText("No users yet").waitFor();
  const field = page.getByRole("textbox", { name: "Find users" });
  await scim.patch(user.id, {
    op: "replace",
    path: "permissions",
    value: permissions("basic_access"),
  });
  await field.fill("a");
  await page.getByRole("alert").getByText("You may not see this").waitFor();
  await page.getByRole("link", { name: "Users", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Syncs", exact: true }).waitFor();
  await context.close();
});
