import { TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Layers, Plus } from "lucide-react";
import { useState } from "react";
import { useAddWorkspace, useWorkspaces } from "../../api/administration.ts";
import { useSession } from "../../api/session.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { Empty, Loaded, Notice } from "../../components/states.tsx";

interface Workspace {
  readonly name: string;
  readonly allow_reset: boolean;
}

/** The workspaces of the company, and a form that adds one. */
export function Workspaces() {
  const workspaces = useWorkspaces();
  const add = useAddWorkspace();
  const { administrator } = useSession();
  const [isAdding, setAdding] = useState(false);
  return (
    <Card
      title="Workspaces"
      about="Each keeps the users of one product or brand, with keys and settings of its own."
      flush
      actions={
        <PermittedButton
          needs="add_remove_app_groups"
          size="xs"
          leftSection={<Plus size={14} />}
          onClick={() => setAdding(true)}
        >
          Add a workspace
        </PermittedButton>
      }
    >
      <Loaded from={workspaces}>
        {(body) => (
          <DataTable
            label="Workspaces"
            columns={COLUMNS}
            rows={body.workspaces as readonly Workspace[]}
            keyOf={({ name }) => name}
            opens
            empty={
              <Empty icon={Layers} title="No workspaces yet">
                A workspace keeps the users of one product or brand.
              </Empty>
            }
          />
        )}
      </Loaded>
      {isAdding && (
        <FormDialog
          title="Add a workspace"
          action="Add"
          initial={{ name: "" }}
          validate={{ name: required }}
          close={() => setAdding(false)}
          save={async ({ name }) => {
            const wanted = name.trim();
            // To write an existing one would reset its settings.
            const { data } = await workspaces.refetch();
            if (data?.workspaces.some((each) => each.name === wanted))
              throw new Error(`The workspace ${wanted} exists already.`);
            await add(wanted);
            tellDone(`Added the workspace ${wanted}.`);
          }}
        >
          {(form) => (
            <>
              {!administrator && (
                <Notice>
                  You need permissions in the workspace to open it. An admin gives them.
                </Notice>
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
        </FormDialog>
      )}
    </Card>
  );
}

const COLUMNS: readonly Column<Workspace>[] = [
  {
    id: "name",
    header: "Name",
    cell: ({ row: { original: workspace } }) => (
      <Link
        to="/w/$workspace/settings/$section"
        params={{ workspace: workspace.name, section: "keys" }}
        className="row-link"
      >
        {workspace.name}
      </Link>
    ),
  },
  {
    id: "reset",
    header: "Deleting all users at once",
    cell: ({ row }) =>
      row.original.allow_reset ? "Allowed" : <span className="dim">Not allowed</span>,
  },
];
