import { Link } from "@tanstack/react-router";
import { Building2 } from "lucide-react";
import { useSession } from "../api/session.ts";
import { companySectionsOf } from "./company-sections.ts";
import { Logo } from "./logo.tsx";
import { type Entry, isSeen, NAVIGATION } from "./navigation.ts";
import { PersonMenu } from "./person-menu.tsx";
import { WorkspaceMenu } from "./workspace-menu.tsx";

export function Sidebar({ workspace }: { readonly workspace: string | undefined }) {
  const session = useSession();
  const shown = (entry: Entry) => isSeen(entry, session, workspace ?? "");
  const [section] = companySectionsOf(session);
  return (
    <aside className="sidebar" aria-label="Navigation">
      <Link to="/" className="brand">
        <Logo />
        Rapport
      </Link>
      {workspace && <WorkspaceMenu workspace={workspace} />}
      {workspace &&
        NAVIGATION.map(({ title, entries }) => (
          <nav key={title} className="nav" aria-label={title} hidden={!entries.some(shown)}>
            <div className="nav-title">{title}</div>
            {entries.filter(shown).map(({ to, section = "", label, icon: Icon }) => (
              <Link key={to} to={to} params={{ workspace, section }} className="nav-link">
                <Icon size={16} aria-hidden />
                {label}
              </Link>
            ))}
          </nav>
        ))}
      {section && (
        <nav className="nav" aria-label="Company">
          <div className="nav-title">Company</div>
          <Link to="/company/$section" params={{ section: section.name }} className="nav-link">
            <Building2 size={16} aria-hidden />
            Company settings
          </Link>
        </nav>
      )}
      <div className="sidebar-foot">
        <PersonMenu />
      </div>
    </aside>
  );
}
