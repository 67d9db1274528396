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
