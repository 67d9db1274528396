import { Link } from "@tanstack/react-router";
import { useSession } from "../api/session.ts";
import { Logo } from "./logo.tsx";
import { type Entry, isSeen, NAVIGATION } from "./navigation.ts";
import { PersonMenu } from "./person-menu.tsx";
import { WorkspaceMenu } from "./workspace-menu.tsx";

export function Sidebar({ workspace }: { readonly workspace: string | undefined }) {
  const session = useSession();
  const shown = (entry: Entry) => isSeen(entry, session, workspace ?? "");
  return (
    <aside className="sidebar" aria-label="Navigation">
      <Link to="/" className="brand">
        <Logo />
        Rapport
      </Link>
      <WorkspaceMenu workspace={workspace} />
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
      <div className="sidebar-foot">
        <PersonMenu />
      </div>
    </aside>
  );
}
