import { Menu } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Check, ChevronsUpDown, Layers } from "lucide-react";
import { useSession } from "../api/session.ts";
import { type Entry, firstEntry } from "./navigation.ts";

/** Says what is missing to people without any permission. */
const OVERVIEW: Pick<Entry, "to"> = { to: "/w/$workspace/overview" };

/** Which workspace is shown, and a change to another one. */
export function WorkspaceMenu({ workspace }: { readonly workspace: string }) {
  const session = useSession();
  const { workspaces } = session;
  const navigate = useNavigate();
  return (
    <Menu width="target" position="bottom-start">
      <Menu.Target>
        <button
          type="button"
          className="workspace-button"
          title={workspace}
          aria-label={`Workspace ${workspace}`}
        >
          <Layers size={16} aria-hidden />
          <span className="one-line">{workspace}</span>
          <ChevronsUpDown size={14} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown mah="60vh" style={{ overflowY: "auto" }}>
        <Menu.Label>Workspaces</Menu.Label>
        {workspaces.map((name) => (
          <Menu.Item
            key={name}
            rightSection={name === workspace ? <Check size={14} aria-label="current" /> : null}
            onClick={() => {
              const { to } = firstEntry(session, name) ?? OVERVIEW;
              void navigate({ to, params: { workspace: name } });
            }}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
