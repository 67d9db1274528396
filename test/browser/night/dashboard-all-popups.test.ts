/* Every menu, dialog and list on the pages of the dashboard is opened and checked in both themes. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startServer } from "../../harness.ts";
import { BOTH_THEMES } from "../accessibility.ts";
import {
  follow,
  isLoaded,
  skipWithoutBrowser as skip,
  startDashboard,
} from "../dashboard-browser.ts";
import { filledWorkspace } from "../dashboard-workspace.ts";
import { checkPopups } from "../popups.ts";

describe("menus, dialogs and lists of the dashboard", { skip }, async () => {
  if (skip) return;
  const server = await startServer();
  const dashboard = await startDashboard(server);
  const { name, paths } = await filledWorkspace(server);
  const { body } = await server.admin("POST", "/admin/v1/dashboard-users", {
    user_name: `${crypto.randomUUID()}@acme.example`,
    given_name: "Grace",
    family_name: "Hopper",
    department: "engineering",
    permissions: { appGroup: [{ appGroupName: name, appGroupPermissions: ["basic_access"] }] },
  });

  const PAGES = [
    ...[
      "requests",
      "users",
      `users/${paths.user}`,
      `users/${paths.user}?tab=attributes`,
      `users/${paths.user}?tab=subscriptions`,
      "groups",
      "syncs",
      `syncs/${paths.integration}`,
      "webhooks",
      `webhooks/${paths.webhook}`,
      `translations?message=${paths.message}`,
      "translations?tab=locales",
      "campaigns",
      "preference-centers",
      `preference-centers/${paths.center}`,
      "settings/keys",
      "settings/apps",
      "settings/teams",
      "settings/limits",
    ].map((page) => `/w/${name}/${page}`),
    "/company/dashboard-users",
    `/company/dashboard-users/${body.person.id}`,
    "/company/scim-tokens",
    "/company/roles",
    "/company/audit",
    "/company/workspaces",
  ];

  test("axe finds no violation in any open menu, dialog or list of the dashboard in either theme", async () => {
    const { page, complaints } = await dashboard.open("/");
    await isLoaded(page);
    const seen = new Set<string>();
    const found: string[] = [];
    for (const path of PAGES) {
      await follow(page, path);
      const findings = await checkPopups(page, path, { seen, themes: BOTH_THEMES });
      found.push(...findings.map((each) => `${path}: ${each}`));
    }
    assert.deepEqual([found, complaints], [[], []]);
    assert.ok(seen.size > 40, [...seen].join("; "));
  });
});
