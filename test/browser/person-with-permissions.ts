/* A page of the dashboard for a person who holds only some permissions. */
import type { Page } from "playwright-core";
import { type Dashboard, follow, goTo } from "./dashboard-browser.ts";
import type { FilledWorkspace } from "./dashboard-workspace.ts";

/** Every page of `changingButtons()` can be seen with these. */
export const SEEING = ["basic_access", "view_pii"];

/** Buttons that change something: the page below the workspace, the button's name, and the permission that it needs. */
export const changingButtons = (paths: FilledWorkspace["paths"]) =>
  [
    ["/groups", "Add a group", "manage_subscription_groups"],
    ["/syncs", "Add an integration", "manage_external_integrations"],
    [`/syncs/${paths.integration}`, "Run now", "manage_external_integrations"],
    ["/webhooks", "Add a webhook", "admin"],
    [`/webhooks/${paths.webhook}`, "Send a test", "manage_external_integrations"],
    [`/webhooks/${paths.webhook}`, "Resume", "admin"],
    [`/webhooks/${paths.webhook}`, "Actions for CRM", "admin"],
    ["/preference-centers", "Add a center", "manage_email_settings"],
    ["/settings/apps", "Add an app", "manage_apps"],
    ["/settings/teams", "Add a team", "manage_teams"],
    ["/settings/keys", "Create an API key", "admin"],
    ["/settings/limits", "Save", "admin"],
    ["/campaigns", "Add a campaign", "send_campaigns_canvases"],
    ["/campaigns", "Add a canvas", "send_campaigns_canvases"],
    ["/campaigns", "Add a message to Welcome", "send_campaigns_canvases"],
    [`/translations?message=${paths.message}`, "Import", "send_campaigns_canvases"],
    ["/translations?tab=locales", "Add a locale", "send_campaigns_canvases"],
    [`/users/${paths.user}?tab=attributes`, "Set an attribute", "import_update_user_data"],
    [`/users/${paths.user}?tab=attributes`, "Edit plan", "import_update_user_data"],
  ] as const;

export interface PersonsPage {
  readonly page: Page;
  /** Sets what the person holds; a page that is loaded again asks for it. */
  hold(permissions: readonly string[], company?: readonly string[]): void;
  /** Opens a page of the workspace with these permissions. */
  openWith(
    path: string,
    permissions: readonly string[],
    company?: readonly string[],
  ): Promise<void>;
  /** Follows a link within the workspace, unless its page is shown already. */
  show(path: string): Promise<void>;
}

/** Opens a page for a person with only the permissions that the test gives; the server's own refusals have other tests. */
export async function openAsPerson(
  dashboard: Dashboard,
  { name }: FilledWorkspace,
): Promise<PersonsPage> {
  let held: object = {};
  let shown = "";
  const { page } = await dashboard.open(`/w/${name}/syncs`);
  await page.route("**/dashboard/session", async (route) => {
    const response = await route.fetch();
    const session = await response.json();
    await route.fulfill({
      json: { ...session, administrator: false, permissions: held, workspaces: [name] },
    });
  });
  const hold: PersonsPage["hold"] = (permissions, company = []) => {
    held = { company, workspaces: { [name]: permissions } };
  };
  return {
    page,
    hold,
    async openWith(path, permissions, company) {
      hold(permissions, company);
      await goTo(page, `/w/${name}${path}`);
      shown = path;
    },
    async show(path) {
      if (path !== shown) await follow(page, `/w/${name}${path}`);
      shown = path;
    },
  };
}
