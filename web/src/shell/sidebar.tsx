import { Link } from "@tanstack/react-router";
import { useSession } from "../api/session.ts";
import { Logo } from "./logo.tsx";
import { type Entry, NAVIGATION } from "./navigation.ts";
import { PersonMenu } from "./person-menu.tsx";
import { WorkspaceMenu } from "./workspace-menu.tsx";

export function Sidebar({ workspace }: { readonly workspace: string | undefined }) {
  const { administrator, permissions } = useSession();
  const own = permissions.workspaces[workspace ?? ""] ?? [];
  const isSeen = (entry: Entry) => administrator || entry.for.some((each) => own.includes(each));
  return (
    <aside className="sidebar" aria-label="Navigation">
      <Link to="/" className="brand">
        <Logo />
        Rapport
      </Link>
      <WorkspaceMenu workspace={workspace} />
      {workspace &&
        NAVIGATION.map(({ title, entries }) => (
          <nav key={title} className="nav" aria-label={title} hidden={!entries.some(isSeen)}>
            <div className="nav-title">{title}</div>
            {entries.filter(isSeen).map(({ to, section = "", label, icon: Icon }) => (
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
