import { Menu, TextInput } from "@mantine/core";
import { Plus, UsersRound } from "lucide-react";
import { useState } from "react";
import { useChangeTeams, useTeams } from "../../api/people.ts";
import { Id } from "../../components/code-block.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Empty, Loaded } from "../../components/states.tsx";

interface Team {
  readonly name: string;
  readonly id?: string;
  readonly declared: boolean;
}

type Dialog = { readonly kind: "add" } | { readonly kind: "remove"; readonly team: Team };

export function Teams({ workspace }: { readonly workspace: string }) {
  const teams = useTeams(workspace);
  const { add, remove } = useChangeTeams(workspace);
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <Card
      title="Teams"
      about="Names that identity providers use in the permissions of dashboard users."
      flush
      actions={
        <PermittedButton
          workspace={workspace}
          needs="manage_teams"
          size="xs"
          leftSection={<Plus size={14} />}
          onClick={() => setDialog({ kind: "add" })}
        >
          Add a team
        </PermittedButton>
      }
    >
      <Loaded from={teams}>
        {(body) => (
          <DataTable
            label="Teams"
            columns={columnsOf(workspace, setDialog)}
            rows={body.teams as readonly Team[]}
            keyOf={({ name }) => name}
            empty={
              <Empty icon={UsersRound} title="No teams yet">
                Identity providers may give dashboard users permissions in teams, by their names.
              </Empty>
            }
          />
        )}
      </Loaded>
      {dialog?.kind === "add" && (
        <FormDialog
          title="Add a team"
          initial={{ name: "" }}
          validate={{ name: required }}
          close={close}
          save={({ name }) => add(name.trim())}
        >
          {(form) => <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />}
        </FormDialog>
      )}
      {dialog?.kind === "remove" && (
        <Confirm
          title={`Remove ${dialog.team.name}`}
          action="Remove"
          close={close}
          run={() => remove(dialog.team.name)}
        >
          Dashboard users no longer show it. Their other permissions stay.
        </Confirm>
      )}
    </Card>
  );
}

const columnsOf = (workspace: string, open: (dialog: Dialog) => void): readonly Column<Team>[] => [
  { id: "name", header: "Name", cell: ({ row }) => <DeclaredName of={row.original} /> },
  {
    id: "id",
    header: "Id",
    meta: { width: "50%" },
    cell: ({ row: { original: team } }) => team.id && <Id value={team.id} />,
  },
  {
    id: "actions",
    header: () => <span className="hidden">Actions</span>,
    meta: { width: "4rem", end: true },
    cell: ({ row: { original: team } }) => (
      <RowActions of={team.name} needed={{ workspace, needs: "manage_teams" }}>
        <Menu.Item onClick={() => open({ kind: "remove", team })}>Remove…</Menu.Item>
      </RowActions>
    ),
  },
];
