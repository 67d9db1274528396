import { getRouteApi, Link, Navigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useSession } from "../../api/session.ts";
import { Page } from "../../components/page.tsx";
import {
  COMPANY_SECTIONS,
  companySectionsOf,
  WORKSPACE_SECTIONS,
  workspaceSectionsOf,
} from "../../shell/settings-sections.ts";
import { Workspaces } from "../company/workspaces.tsx";
import { NotFound } from "../not-found.tsx";
import { Apps } from "./apps.tsx";
import { Audit } from "./audit.tsx";
import { Brand } from "./brand.tsx";
import { Connections } from "./connections.tsx";
import { DashboardUsers } from "./dashboard-users.tsx";
import { Keys } from "./keys.tsx";
import { Limits } from "./limits.tsx";
import { Manifest } from "./manifest.tsx";
import { PermissionSets } from "./permission-sets.tsx";
import { ScimTokens } from "./scim-tokens.tsx";
import { Teams } from "./teams.tsx";

const route = getRouteApi("/w/$workspace/settings/$section");

type NameIn<Sections extends readonly { readonly name: string }[]> = Sections[number]["name"];

const OF_WORKSPACE: Readonly<
  Record<NameIn<typeof WORKSPACE_SECTIONS>, (props: { readonly workspace: string }) => ReactNode>
> = { keys: Keys, apps: Apps, teams: Teams, brand: Brand, limits: Limits, manifest: Manifest };

const OF_COMPANY: Readonly<Record<NameIn<typeof COMPANY_SECTIONS>, () => ReactNode>> = {
  "dashboard-users": DashboardUsers,
  "scim-tokens": ScimTokens,
  "permission-sets": PermissionSets,
  connections: Connections,
  audit: Audit,
  workspaces: Workspaces,
};

/**
 * The settings of a workspace. The company's settings had addresses here; bookmarks to them still
 * work.
 */
export function SettingsPage() {
  const { workspace, section } = route.useParams();
  const sections = workspaceSectionsOf(useSession(), workspace);
  const shown = WORKSPACE_SECTIONS.find(({ name }) => name === section);
  if (shown) {
    const Shown = OF_WORKSPACE[shown.name];
    return (
      <SettingsFrame
        title="Workspace settings"
        about={workspace}
        shown={shown.label}
        links={sections.map(({ name, label }) => (
          <Link
            key={name}
            to="/w/$workspace/settings/$section"
            params={{ workspace, section: name }}
            className="nav-link"
          >
            {label}
          </Link>
        ))}
      >
        <Shown workspace={workspace} />
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
  const sections = companySectionsOf(useSession());
  const shown = COMPANY_SECTIONS.find(({ name }) => name === section);
  if (!shown) return <NotFound />;
  const Shown = OF_COMPANY[shown.name];
  return (
    <SettingsFrame
      title="Company settings"
      about="They apply to all workspaces."
      shown={shown.label}
      links={sections.map(({ name, label }) => (
        <Link key={name} to="/company/$section" params={{ section: name }} className="nav-link">
          {label}
        </Link>
      ))}
    >
      <Shown />
    </SettingsFrame>
  );
}

interface FrameProps {
  readonly title: "Workspace settings" | "Company settings";
  readonly about: string;
  /** The section, for the title of the window. */
  readonly shown: string;
  readonly links: ReactNode;
  readonly children: ReactNode;
}

/** The page with the sections that the person may see beside it. */
const SettingsFrame = ({ title, about, shown, links, children }: FrameProps) => (
  <Page title={title} windowTitle={shown} about={about}>
    <div className="settings">
      <nav className="nav" aria-label={title}>
        {links}
      </nav>
      <div className="settings-body">{children}</div>
    </div>
  </Page>
);
