import { Menu } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Check, ChevronsUpDown, Layers } from "lucide-react";
import { useSession } from "../api/session.ts";
import { FIRST_ENTRY, firstEntry } from "./navigation.ts";

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
          className="sidebar-button workspace-button"
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
              const entry = firstEntry(session, name) ?? FIRST_ENTRY;
              if (entry) void navigate({ to: entry.to, params: { workspace: name } });
            }}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
