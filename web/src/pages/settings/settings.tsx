import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Page } from "../../components/page.tsx";
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

const OF_COMPANY: readonly Section[] = [
  {
    name: "dashboard-users",
    label: "Dashboard users",
    show: (workspace) => <DashboardUsers workspace={workspace} />,
  },
  { name: "scim-tokens", label: "SCIM tokens", show: () => <ScimTokens /> },
  { name: "permission-sets", label: "Permission sets", show: () => <PermissionSets /> },
  { name: "audit", label: "Audit log", show: () => <Audit /> },
];

export function SettingsPage() {
  const { workspace, section } = route.useParams();
  const shown = [...OF_WORKSPACE, ...OF_COMPANY].find(({ name }) => name === section);
  if (!shown) return <NotFound />;
  return (
    <Page
      title="Settings"
      about={`${shown.label} of ${ofCompany(shown) ? "the company" : workspace}`}
    >
      <div className="settings">
        <div>
          <Sections title="Workspace" of={OF_WORKSPACE} workspace={workspace} />
          <Sections title="Company" of={OF_COMPANY} workspace={workspace} />
        </div>
        <div className="settings-body">{shown.show(workspace)}</div>
      </div>
    </Page>
  );
}

const ofCompany = (section: Section): boolean => OF_COMPANY.includes(section);

interface SectionsProps {
  readonly title: string;
  readonly of: readonly Section[];
  readonly workspace: string;
}

const Sections = ({ title, of: sections, workspace }: SectionsProps) => (
  <nav className="nav" aria-label={`${title} settings`}>
    <div className="nav-title">{title}</div>
    {sections.map(({ name, label }) => (
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
);
