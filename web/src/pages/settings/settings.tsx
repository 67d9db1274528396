import { getRouteApi, Link, type LinkProps, Navigate } from "@tanstack/react-router";
import { Suspense } from "react";
import { useSession } from "../../api/session.ts";
import { Page } from "../../components/page.tsx";
import { Loading } from "../../components/states.tsx";
import type { SettingsSection } from "../../feature.ts";
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
  const links = workspaceSectionsOf(useSession(), workspace);
  const shown = WORKSPACE_SECTIONS.find(({ name }) => name === section);
  if (shown)
    return <Section title="Workspace settings" about={workspace} shown={shown} links={links} />;
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
  const links = companySectionsOf(useSession());
  const shown = COMPANY_SECTIONS.find(({ name }) => name === section);
  if (!shown) return <NotFound />;
  const about = "They apply to all workspaces.";
  return <Section title="Company settings" about={about} shown={shown} links={links} />;
}

interface SectionProps {
  readonly title: "Workspace settings" | "Company settings";
  readonly about: string;
  readonly shown: Pick<SettingsSection<string>, "label" | "component">;
  /** The sections that the person may see. */
  readonly links: readonly {
    readonly label: string;
    readonly link: Pick<LinkProps, "to" | "params">;
  }[];
}

/** A section, with links to the others beside it. */
const Section = ({ title, about, shown, links }: SectionProps) => (
  <Page title={title} windowTitle={shown.label} about={about}>
    <div className="settings">
      <nav className="nav" aria-label={title}>
        {links.map(({ label, link }) => (
          <Link key={label} {...link} className="nav-link">
            {label}
          </Link>
        ))}
      </nav>
      <div>
        <Suspense fallback={<Loading />}>
          <shown.component />
        </Suspense>
      </div>
    </div>
  </Page>
);
