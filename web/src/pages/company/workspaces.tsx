import { TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Layers } from "lucide-react";
import { useAddWorkspace, useWorkspaces } from "../../api/administration.ts";
import type { Schemas } from "../../api/client.ts";
import { useSession } from "../../api/session.ts";
import { type Column, column } from "../../components/data-table.tsx";
import { Entries } from "../../components/entries.tsx";
import { Notice } from "../../components/states.tsx";

const COLUMNS: readonly Column<Schemas["Workspace"]>[] = [
  column("Name", (workspace) => (
    <Link
      to="/w/$workspace/settings/$section"
      params={{ workspace: workspace.name, section: "keys" }}
      className="row-link"
    >
      {workspace.name}
    </Link>
  )),
  column("Deleting all users at once", ({ allow_reset }) =>
    allow_reset ? "Allowed" : <span className="dim">Not allowed</span>,
  ),
];

/** The workspaces of the company, and a form that adds one. */
export function Workspaces() {
  const workspaces = useWorkspaces();
  const add = useAddWorkspace();
  const { administrator } = useSession();
  return (
    <Entries
      title="Workspaces"
      about="Each keeps the users of one product or brand, with its own keys and settings."
      noun="workspace"
      icon={Layers}
      purpose="A workspace keeps the users of one product or brand."
      from={workspaces}
      needs={{ company: "add_remove_app_groups" }}
      opens
      columns={COLUMNS}
      rows={(body) => body.workspaces}
      initial={() => ({ name: "" })}
      action="Add"
      fields={(form) => (
        <>
          {!administrator && (
            <Notice>You need permissions in the workspace to open it. An admin gives them.</Notice>
          )}
          <TextInput
            label="Name"
            description="It cannot be changed later, and a workspace cannot be removed."
            maxLength={255}
            data-autofocus
            {...form.getInputProps("name")}
          />
        </>
      )}
      save={async ({ name }) => {
        const wanted = name.trim();
        // Writing an existing one would reset its settings.
        const { data } = await workspaces.refetch();
        if (data?.workspaces.some((each) => each.name === wanted))
          throw new Error(`The workspace ${wanted} exists already.`);
        await add(wanted);
      }}
    />
  );
}
