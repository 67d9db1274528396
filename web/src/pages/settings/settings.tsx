import { getRouteApi, Link, Navigate } from "@tanstack/react-router";
import { type ReactNode, Suspense } from "react";
import { useSession } from "../../api/session.ts";
import { Page } from "../../components/page.tsx";
import { Loading } from "../../components/states.tsx";
import {
  COMPANY_SECTIONS,
  companySectionsOf,
  WORKSPACE_SECTIONS,
  workspaceSectionsOf,
} from "../../shell/settings-sections.ts";
import { NotFound } from "../not-found.tsx";

const settings = getRouteApi("/w/$workspace/settings/$section");
const company = getRouteApi("/company/$section");

/**
 * The settings of a workspace. The company's settings had addresses here; bookmarks to them still
 * work.
 */
export function SettingsPage() {
  const { workspace, section } = settings.useParams();
  const sections = workspaceSectionsOf(useSession(), workspace);
  const shown = WORKSPACE_SECTIONS.find(({ name }) => name === section);
  if (shown) {
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
        <shown.component />
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

/** The settings of the company; a person without a workspace sees them too. */
export function CompanyPage() {
  const { section } = company.useParams();
  const sections = companySectionsOf(useSession());
  const shown = COMPANY_SECTIONS.find(({ name }) => name === section);
  if (!shown) return <NotFound />;
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
      <shown.component />
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
      <div className="settings-body">
        <Suspense fallback={<Loading />}>{children}</Suspense>
      </div>
    </div>
  </Page>
);
