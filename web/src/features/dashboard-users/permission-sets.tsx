import { MultiSelect, TextInput } from "@mantine/core";
import { ShieldCheck } from "lucide-react";
import { WORKSPACE_PERMISSIONS } from "../../../../src/core/base/context/dashboard-permissions.ts";
import { usePermissionSets } from "../../api/administration.ts";
import { PERMISSION_SETS, useChangeEntries } from "../../api/entries.ts";
import type { Column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { Entries } from "../../components/entries.tsx";

interface PermissionSet {
  readonly name: string;
  readonly permissions?: readonly string[];
  readonly declared: boolean;
}

const COLUMNS: readonly Column<PermissionSet>[] = [
  {
    id: "name",
    header: "Name",
    meta: { width: "26%" },
    cell: ({ row }) => <DeclaredName of={row.original} />,
  },
  {
    id: "permissions",
    header: "Permissions",
    cell: ({ row }) => row.original.permissions?.join(", ") || <span className="dim">None</span>,
  },
];

export function PermissionSets() {
  const { save, remove } = useChangeEntries(PERMISSION_SETS);
  return (
    <Entries
      title="Permission sets"
      about="Names for permissions that several dashboard users have, such as Support."
      noun="permission set"
      icon={ShieldCheck}
      purpose="A set is a name for permissions that several dashboard users have, such as Support."
      from={usePermissionSets()}
      needed={{ needs: "admin" }}
      columns={COLUMNS}
      rows={({ permission_sets }) => permission_sets as readonly PermissionSet[]}
      initial={(set) => ({ name: set?.name ?? "", permissions: [...(set?.permissions ?? [])] })}
      fields={(form, isNew) => (
        <>
          <TextInput label="Name" disabled={!isNew} {...form.getInputProps("name")} />
          <MultiSelect
            label="Permissions"
            data={[...WORKSPACE_PERMISSIONS]}
            searchable
            clearable
            {...form.getInputProps("permissions")}
          />
        </>
      )}
      save={({ name, permissions }, isNew) =>
        save(name.trim(), { permissions: permissions as never }, isNew)
      }
      remove={({ name }) => remove(name)}
      removal="Dashboard users who have it lose its permissions."
    />
  );
}
