import type {
  CompanyPermission,
  WorkspacePermission,
} from "../../../src/core/base/context/dashboard-permissions.ts";
import type { Session } from "../api/session.ts";

interface Section<Permission> {
  /** The last part of its address. */
  readonly name: string;
  readonly label: string;
  /** The permission that shows it; the company's admin sees all of them. docs/dashboard.md */
  readonly needs: Permission;
}

/** The pages below /w/…/settings, in the order of their navigation. */
export const WORKSPACE_SECTIONS = [
  { name: "keys", label: "API keys", needs: "dev_console" },
  { name: "apps", label: "Apps", needs: "basic_access" },
  { name: "teams", label: "Teams", needs: "basic_access" },
  { name: "brand", label: "Brand", needs: "basic_access" },
  { name: "limits", label: "Limits", needs: "basic_access" },
  { name: "manifest", label: "Manifest", needs: "admin" },
] as const satisfies readonly Section<WorkspacePermission>[];

/** The pages below /company. */
export const COMPANY_SECTIONS = [
  { name: "dashboard-users", label: "Dashboard users", needs: "manage_company_settings" },
  { name: "scim-tokens", label: "SCIM tokens", needs: "manage_company_settings" },
  { name: "permission-sets", label: "Permission sets", needs: "manage_company_settings" },
  { name: "connections", label: "Connections", needs: "manage_company_settings" },
  { name: "audit", label: "Audit log", needs: "manage_company_settings" },
  { name: "workspaces", label: "Workspaces", needs: "add_remove_app_groups" },
] as const satisfies readonly Section<CompanyPermission>[];

/** The settings of a workspace that a person may see. */
export const workspaceSectionsOf = (
  { administrator, permissions }: Session,
  workspace: string,
): readonly (typeof WORKSPACE_SECTIONS)[number][] =>
  WORKSPACE_SECTIONS.filter(
    ({ needs }) => administrator || permissions.workspaces[workspace]?.includes(needs),
  );

/** The pages of the company that a person may see. */
export const companySectionsOf = ({
  administrator,
  permissions,
}: Session): readonly (typeof COMPANY_SECTIONS)[number][] =>
  COMPANY_SECTIONS.filter(({ needs }) => administrator || permissions.company.includes(needs));
