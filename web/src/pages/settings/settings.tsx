import { getRouteApi, Link, Navigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useSession } from "../../api/session.ts";
import { Page } from "../../components/page.tsx";
import { COMPANY_SECTIONS, companySectionsOf } from "../../shell/company-sections.ts";
import { isSettingsSeen } from "../../shell/navigation.ts";
import { useShownWorkspace } from "../../shell/shown-workspace.ts";
import { Workspaces } from "../company/workspaces.tsx";
import { NotFound } from "../not-found.tsx";
import { Apps } from "./apps.tsx";
import { Audit } from "./audit.tsx";
import { DashboardUsers } from "./dashboard-users.tsx";
import { Keys } from "./keys.tsx";
import { Limits } from "./limits.tsx";
import { Manifest } from "./manifest.tsx";
import { PermissionSets } from "./permission-sets.tsx";
import { ScimTokens } from "./scim-tokens.tsx";
import { Teams } from "./teams.tsx";

const route = getRouteApi("/w/$workspace/settings/$section");

interface Section {
  readonly name: string;
  readonly label: string;
  show(workspace: string): ReactNode;
}

const OF_WORKSPACE: readonly Section[] = [
  { name: "keys", label: "API keys", show: (workspace) => <Keys workspace={workspace} /> },
  { name: "apps", label: "Apps", show: (workspace) => <Apps workspace={workspace} /> },
  { name: "teams", label: "Teams", show: (workspace) => <Teams workspace={workspace} /> },
  { name: "limits", label: "Limits", show: (workspace) => <Limits workspace={workspace} /> },
  { name: "manifest", label: "Manifest", show: (workspace) => <Manifest workspace={workspace} /> },
];

type CompanySectionName = (typeof COMPANY_SECTIONS)[number]["name"];

const OF_COMPANY: Readonly<Record<CompanySectionName, () => ReactNode>> = {
  "dashboard-users": DashboardUsers,
  "scim-tokens": ScimTokens,
  "permission-sets": PermissionSets,
  audit: Audit,
  workspaces: Workspaces,
};

/** The settings of a workspace. Those of the company had addresses here; bookmarks still lead to them. */
export function SettingsPage() {
  const { workspace, section } = route.useParams();
  const shown = OF_WORKSPACE.find(({ name }) => name === section);
  if (shown) {
    return (
      <SettingsFrame about={`${shown.label} of ${workspace}`}>
        {shown.show(workspace)}
      </SettingsFrame>
    );
  }
  const isOfCompany = COMPANY_SECTIONS.some(({ name }) => name === section);
  return isOfCompany ? (
    <Navigate to="/company/$section" params={{ section }} replace />
  ) : (
    <NotFound />
  );
}

/** The settings of the company. */
export function CompanySettings({ section }: { readonly section: string }) {
  const shown = COMPANY_SECTIONS.find(({ name }) => name === section);
  if (!shown) return <NotFound />;
  const Shown = OF_COMPANY[shown.name];
  return (
    <SettingsFrame about={`${shown.label} of the company`}>
      <Shown />
    </SettingsFrame>
  );
}

interface FrameProps {
  readonly about: string;
  readonly children: ReactNode;
}

/** The page with the sections that the person may see beside it. */
function SettingsFrame({ about, children }: FrameProps) {
  const session = useSession();
  const workspace = useShownWorkspace();
  const ofCompany = companySectionsOf(session);
  return (
    <Page title="Settings" about={about}>
      <div className="settings">
        <div>
          {workspace !== undefined && isSettingsSeen(session, workspace) && (
            <nav className="nav" aria-label="Workspace settings">
              <div className="nav-title">Workspace</div>
              {OF_WORKSPACE.map(({ name, label }) => (
                <Link
                  key={name}
                  to="/w/$workspace/settings/$section"
                  params={{ workspace, section: name }}
                  className="nav-link"
                >
                  {label}
                </Link>
              ))}
            </nav>
          )}
          {ofCompany.length > 0 && (
            <nav className="nav" aria-label="Company settings">
              <div className="nav-title">Company</div>
              {ofCompany.map(({ name, label }) => (
                <Link
                  key={name}
                  to="/company/$section"
                  params={{ section: name }}
                  className="nav-link"
                >
                  {label}
                </Link>
              ))}
            </nav>
          )}
        </div>
        <div className="settings-body">{children}</div>
      </div>
    </Page>
  );
}
