import { Link, type LinkProps, useLocation } from "@tanstack/react-router";
import { Building2, type LucideIcon, Settings } from "lucide-react";
import { useSession } from "../api/session.ts";
import { Logo } from "./logo.tsx";
import { type Entry, isSeen, NAVIGATION } from "./navigation.ts";
import { PersonMenu } from "./person-menu.tsx";
import { QuickSearchButton } from "./quick-search/open-quick-search.tsx";
import { companySectionsOf, workspaceSectionsOf } from "./settings-sections.ts";
import { WorkspaceMenu } from "./workspace-menu.tsx";

interface SidebarProps {
  readonly workspace: string | undefined;
  openSearch(): void;
}

export function Sidebar({ workspace, openSearch }: SidebarProps) {
  const session = useSession();
  const shown = (entry: Entry) => isSeen(entry, session, workspace ?? "");
  return (
    <aside className="sidebar" aria-label="Navigation">
      <Link to="/" className="brand">
        <Logo />
        Rapport
      </Link>
      {workspace && <WorkspaceMenu workspace={workspace} />}
      <QuickSearchButton open={openSearch} />
      {workspace &&
        NAVIGATION.map(({ title, entries }) => (
          <nav key={title} className="nav" aria-label={title} hidden={!entries.some(shown)}>
            <div className="nav-title">{title}</div>
            {entries.filter(shown).map(({ to, label, icon: Icon }) => (
              <Link key={to} to={to} params={{ workspace }} className="nav-link">
                <Icon size={16} aria-hidden />
                {label}
              </Link>
            ))}
          </nav>
        ))}
      <SettingsLinks workspace={workspace} />
      <div className="sidebar-foot">
        <PersonMenu />
      </div>
    </aside>
  );
}

/** The settings of the workspace and of the company, each with the first section that the person may see. */
function SettingsLinks({ workspace }: { readonly workspace: string | undefined }) {
  const session = useSession();
  const [ofWorkspace] = workspace ? workspaceSectionsOf(session, workspace) : [];
  const [ofCompany] = companySectionsOf(session);
  if (!ofWorkspace && !ofCompany) return null;
  return (
    <nav className="nav" aria-label="Settings">
      <div className="nav-title">Settings</div>
      {ofWorkspace && (
        <SectionLink
          {...ofWorkspace.link}
          covers={/\/w\/[^/]+\/settings\//}
          icon={Settings}
          label="Workspace settings"
        />
      )}
      {ofCompany && (
        <SectionLink
          {...ofCompany.link}
          covers={/\/company\//}
          icon={Building2}
          label="Company settings"
        />
      )}
    </nav>
  );
}

interface SectionLinkProps extends Pick<LinkProps, "to" | "params"> {
  /** The addresses of all its sections: it is marked on each, wherever it links. */
  readonly covers: RegExp;
  readonly icon: LucideIcon;
  readonly label: string;
}

function SectionLink({ covers, icon: Icon, label, ...link }: SectionLinkProps) {
  const { pathname } = useLocation();
  const isHere = covers.test(pathname);
  return (
    <Link {...link} className="nav-link" data-here={isHere} aria-current={isHere}>
      <Icon size={16} aria-hidden />
      {label}
    </Link>
  );
}
