import type { CompanyPermission } from "../../../src/context/dashboard-permissions.ts";
import type { Session } from "../api/session.ts";

export interface CompanySection {
  /** The last part of its address. */
  readonly name: string;
  readonly label: string;
  /** What shows it; the company's admin sees all of them. docs/dashboard.md */
  readonly needs: CompanyPermission;
}

/** The pages below /company, in the order of the navigation. */
export const COMPANY_SECTIONS = [
  { name: "dashboard-users", label: "Dashboard users", needs: "manage_company_settings" },
  { name: "scim-tokens", label: "SCIM tokens", needs: "manage_company_settings" },
  { name: "permission-sets", label: "Permission sets", needs: "manage_company_settings" },
  { name: "audit", label: "Audit log", needs: "manage_company_settings" },
  { name: "workspaces", label: "Workspaces", needs: "add_remove_app_groups" },
] as const satisfies readonly CompanySection[];

/** The pages of the company that a person may see. */
export const companySectionsOf = ({
  administrator,
  permissions,
}: Session): readonly (typeof COMPANY_SECTIONS)[number][] =>
  COMPANY_SECTIONS.filter(({ needs }) => administrator || permissions.company.includes(needs));
