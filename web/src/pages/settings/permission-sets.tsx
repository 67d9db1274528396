import { Menu, MultiSelect, TextInput } from "@mantine/core";
import { Plus, ShieldCheck } from "lucide-react";
import { useState } from "react";
import { WORKSPACE_PERMISSIONS } from "../../../../src/base/context/dashboard-permissions.ts";
import { useChangePermissionSets, usePermissionSets } from "../../api/administration.ts";
import { Confirm } from "../../components/confirm.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Declared } from "../../components/declared.tsx";
import { FormDialog, required } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { RowActions } from "../../components/row-actions.tsx";
import { Empty, Loaded } from "../../components/states.tsx";

interface PermissionSet {
  readonly name: string;
  readonly permissions?: readonly string[];
  readonly declared: boolean;
}

type Dialog = { readonly kind: "edit" | "remove"; readonly set: PermissionSet };

export function PermissionSets() {
  const sets = usePermissionSets();
  const { put, remove } = useChangePermissionSets();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  return (
    <Card
      title="Permission sets"
      about="Names for permissions that several dashboard users have, such as Support."
      flush
      actions={
        <PermittedButton
          needs="admin"
          size="xs"
          leftSection={<Plus size={14} />}
          onClick={() => setDialog({ kind: "edit", set: { name: "", declared: false } })}
        >
          Add a set
        </PermittedButton>
      }
    >
      <Loaded from={sets}>
        {({ permission_sets }) => (
          <DataTable
            label="Permission sets"
            columns={columnsOf(setDialog)}
            rows={permission_sets as readonly PermissionSet[]}
            keyOf={({ name }) => name}
            empty={
              <Empty icon={ShieldCheck} title="No permission sets yet">
                A set is a name for permissions that several dashboard users have, such as Support.
              </Empty>
            }
          />
        )}
      </Loaded>
      {dialog?.kind === "edit" && (
        <FormDialog
          title={dialog.set.name ? `Edit ${dialog.set.name}` : "Add a permission set"}
          initial={{ name: dialog.set.name, permissions: [...(dialog.set.permissions ?? [])] }}
          validate={{ name: required }}
          close={close}
          save={({ name, permissions }) => put(name, permissions)}
        >
          {(form) => (
            <>
              <TextInput
                label="Name"
                disabled={dialog.set.name !== ""}
                {...form.getInputProps("name")}
              />
              <MultiSelect
                label="Permissions"
                data={[...WORKSPACE_PERMISSIONS]}
                searchable
                clearable
                {...form.getInputProps("permissions")}
              />
            </>
          )}
        </FormDialog>
      )}
      {dialog?.kind === "remove" && (
        <Confirm
          title={`Remove ${dialog.set.name}`}
          action="Remove"
          close={close}
          run={() => remove(dialog.set.name)}
        >
          Dashboard users who have it lose its permissions.
        </Confirm>
      )}
    </Card>
  );
}

const columnsOf = (open: (dialog: Dialog) => void): readonly Column<PermissionSet>[] => [
  {
    id: "name",
    header: "Name",
    meta: { width: "26%" },
    cell: ({ row: { original: set } }) => (
      <>
        <strong>{set.name}</strong> <Declared declared={set.declared} />
      </>
    ),
  },
  {
    id: "permissions",
    header: "Permissions",
    cell: ({ row }) => row.original.permissions?.join(", ") || <span className="dim">None</span>,
  },
  {
    id: "actions",
    header: () => <span className="hidden">Actions</span>,
    meta: { width: "4rem", end: true },
    cell: ({ row: { original: set } }) => (
      <RowActions of={set.name} needed={{ needs: "admin" }}>
        <Menu.Item onClick={() => open({ kind: "edit", set })}>Edit…</Menu.Item>
        <Menu.Item onClick={() => open({ kind: "remove", set })}>Remove…</Menu.Item>
      </RowActions>
    ),
  },
];
