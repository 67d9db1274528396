/*
 * The permissions of dashboard users, under their names in SCIM. Each endpoint below /admin/v1 declares which
 * it needs; docs/dashboard.md has the table.
 */

export const COMPANY_PERMISSIONS = [
  "admin",
  "manage_company_settings",
  "add_remove_app_groups",
] as const;

export type CompanyPermission = (typeof COMPANY_PERMISSIONS)[number];

/** They permit nothing in Rapport: nothing in a workspace belongs to a team. */
export const TEAM_PERMISSIONS = [
  "admin",
  "basic_access",
  "approve_deny_campaigns",
  "send_campaigns_canvases",
  "publish_cards",
  "edit_segments",
  "export_user_data",
  "view_user_profile",
  "manage_dashboard_users",
  "manage_media_library",
] as const;

export const WORKSPACE_PERMISSIONS = [
  ...TEAM_PERMISSIONS,
  "view_pii",
  "view_usage_data",
  "import_update_user_data",
  "view_billing_details",
  "dev_console",
  "launch_content_blocks",
  "manage_external_integrations",
  "manage_apps",
  "manage_teams",
  "manage_events_attributes_purchases",
  "manage_tags",
  "manage_email_settings",
  "manage_subscription_groups",
  "manage_approval_settings",
  "manage_catalogs_dashboard_permission",
] as const;

export type WorkspacePermission = (typeof WORKSPACE_PERMISSIONS)[number];

/** What each permission of the company allows, as a sentence after the person's name. */
export const COMPANY_NOTES: Readonly<Record<CompanyPermission, string>> = {
  admin: "Does everything, in every workspace, and gives permissions to others.",
  manage_company_settings:
    "Sees the company's settings, colleagues, connections and the audit log; renames the company; invites colleagues who may do no more.",
  add_remove_app_groups: "Adds and deletes workspaces, and changes their settings.",
};

/** The same in a workspace. A permission without a sentence permits nothing in Rapport. */
export const WORKSPACE_NOTES: Readonly<Partial<Record<WorkspacePermission, string>>> = {
  admin: "Does everything in the workspace: settings, API keys, webhooks, manifest, reset.",
  basic_access:
    "Sees segments, subscription groups, preference centers, campaigns, translations, syncs and apps, and how many users there are.",
  view_usage_data: "Sees the overview: requests, errors and what needs attention.",
  view_pii:
    "Sees personal data on the pages that other permissions open: names, addresses, bodies of requests.",
  view_user_profile: "With view_pii, searches users and sees everything that is stored about one.",
  edit_segments: "Makes and changes segments, and counts their users.",
  export_user_data: "Downloads users, events and purchases, and lists the users of a segment.",
  import_update_user_data: "Imports and erases users; with view_pii, changes and merges them.",
  send_campaigns_canvases: "Changes campaigns, canvases, messages, locales and translations.",
  manage_email_settings: "Changes preference centers.",
  manage_subscription_groups: "Changes subscription groups.",
  manage_external_integrations: "Changes and starts syncs; sees and tests webhooks.",
  manage_apps: "Changes apps.",
  manage_teams: "Changes teams.",
  dev_console: "Sees API keys, without their secrets, and live requests.",
};

/**
 * Roles that every company has: permission sets that come with Rapport. A set of the company with such a name replaces it.
 * None of them can give permissions, see secrets, or remove users.
 */
export const READY_ROLES: Readonly<Record<string, readonly WorkspacePermission[]>> = {
  viewer: ["basic_access", "view_usage_data"],
  marketer: [
    "basic_access",
    "view_usage_data",
    "view_pii",
    "view_user_profile",
    "edit_segments",
    "export_user_data",
    "send_campaigns_canvases",
    "manage_email_settings",
    "manage_subscription_groups",
  ],
  developer: [
    "basic_access",
    "view_usage_data",
    "view_pii",
    "view_user_profile",
    "edit_segments",
    "export_user_data",
    "manage_external_integrations",
    "manage_apps",
    "dev_console",
  ],
};
