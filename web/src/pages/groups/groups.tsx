import { Menu, Select, TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { Bell, Plus } from "lucide-react";
import { useState } from "react";
import { type Group, useChangeGroups, useGroups } from "../../api/groups.ts";
import { Id } from "../../components/code-block.tsx";
import { Confirm } from "../../components/confirm.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { newId } from "../../components/new-id.ts";
import { Page } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Empty, Loaded } from "../../components/states.tsx";
import { channelName } from "../../components/tag.tsx";

const route = getRouteApi("/w/$workspace/groups");

type Dialog = { readonly kind: "edit" | "remove"; readonly group: Group };

export function GroupsPage() {
  const { workspace } = route.useParams();
  const groups = useGroups(workspace);
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const create = () =>
    setDialog({
      kind: "edit",
      group: { id: newId(), name: "", channel: "email", declared: false },
    });
  const isNew = dialog?.group.name === "";
  return (
    <Page
      title="Subscription groups"
      about="What users can subscribe to, per channel. Preference centers show these."
      actions={
        <PermittedButton
          workspace={workspace}
          needs="manage_subscription_groups"
          leftSection={<Plus size={15} />}
          onClick={create}
        >
          Add a group
        </PermittedButton>
      }
    >
      <Loaded from={groups}>
        {({ subscription_groups }) => (
          <DataTable
            label="Subscription groups"
            columns={columnsOf(workspace, setDialog)}
            rows={subscription_groups}
            keyOf={({ id }) => id}
            empty={
              <Empty icon={Bell} title="No subscription groups yet">
                A group is a choice for users, such as a newsletter. Add the first one here, or
                declare it in a manifest.
              </Empty>
            }
          />
        )}
      </Loaded>
      {dialog?.kind === "edit" && (
        <EditGroup workspace={workspace} group={dialog.group} isNew={isNew} close={close} />
      )}
      {dialog?.kind === "remove" && (
        <RemoveGroup workspace={workspace} group={dialog.group} close={close} />
      )}
    </Page>
  );
}

const columnsOf = (workspace: string, open: (dialog: Dialog) => void): readonly Column<Group>[] => [
  {
    id: "name",
    header: "Name",
    cell: ({ row: { original: group } }) => (
      <>
        <DeclaredName of={group} />
        {group.description && <div className="dim">{group.description}</div>}
      </>
    ),
  },
  {
    id: "channel",
    header: "Channel",
    meta: { width: "8rem" },
    cell: ({ row }) => channelName(row.original.channel),
  },
  {
    id: "id",
    header: "Id",
    meta: { width: "38%" },
    cell: ({ row }) => <Id value={row.original.id} />,
  },
  {
    id: "actions",
    header: () => <span className="hidden">Actions</span>,
    meta: { width: "4rem", end: true },
    cell: ({ row: { original: group } }) => (
      <RowActions of={group.name} needed={{ workspace, needs: "manage_subscription_groups" }}>
        <Menu.Item onClick={() => open({ kind: "edit", group })}>Edit…</Menu.Item>
        <Menu.Item onClick={() => open({ kind: "remove", group })}>Remove…</Menu.Item>
      </RowActions>
    ),
  },
];

interface DialogProps {
  readonly workspace: string;
  readonly group: Group;
  close(): void;
}

function EditGroup({ workspace, group, isNew, close }: DialogProps & { readonly isNew: boolean }) {
  const { put } = useChangeGroups(workspace);
  return (
    <FormDialog
      title={isNew ? "Add a group" : `Edit ${group.name}`}
      initial={{
        id: group.id,
        name: group.name,
        channel: group.channel,
        description: group.description ?? "",
      }}
      validate={{ name: required, id: required }}
      close={close}
      save={async (values) => {
        await put(values);
        tellDone(`Saved ${values.name}.`);
      }}
    >
      {(form) => (
        <>
          <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />
          <TextInput
            label="Description"
            description="What subscribers get. Preference pages show it below the name."
            placeholder="Once a month, what is new."
            maxLength={500}
            {...form.getInputProps("description")}
          />
          <Select
            label="Channel"
            allowDeselect={false}
            data={["email", "sms", "whatsapp"].map((each) => ({
              value: each,
              label: channelName(each),
            }))}
            {...form.getInputProps("channel")}
          />
          <TextInput
            label="Id"
            description="The subscription_group_id that clients send."
            disabled={!isNew}
            {...form.getInputProps("id")}
          />
        </>
      )}
    </FormDialog>
  );
}

function RemoveGroup({ workspace, group, close }: DialogProps) {
  const { remove } = useChangeGroups(workspace);
  return (
    <Confirm
      title={`Remove ${group.name}`}
      action="Remove"
      close={close}
      run={async () => {
        await remove(group.id);
        tellDone(`Removed ${group.name}.`);
      }}
    >
      Preference centers no longer show it, and requests that name it are refused.
      {group.declared && " A manifest declares it: the next apply brings it back."}
    </Confirm>
  );
}
