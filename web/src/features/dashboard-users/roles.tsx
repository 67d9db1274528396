import { TextInput } from "@mantine/core";
import { ShieldCheck } from "lucide-react";
import { WORKSPACE_NOTES } from "../../../../src/core/base/context/dashboard-permissions.ts";
import { usePermissionSets } from "../../api/administration.ts";
import type { Schemas } from "../../api/client.ts";
import { PERMISSION_SETS, useChangeEntries } from "../../api/entries.ts";
import { type Column, column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { Entries } from "../../components/entries.tsx";
import { PermissionChoice } from "../../components/permission-choice.tsx";
import { Tag } from "../../components/tag.tsx";

const notes: Readonly<Record<string, string>> = WORKSPACE_NOTES;

const COLUMNS: readonly Column<Schemas["PermissionSet"]>[] = [
  column("Name", { width: "22%" }, (each) => (
    <>
      <DeclaredName of={each} /> {each.ready && <Tag>Ready</Tag>}
    </>
  )),
  column("Permissions", (role) => {
    const useful = (role.permissions ?? []).filter((name) => notes[name]);
    if (useful.length === 0) return <span className="dim">None</span>;
    return (
      <ul className="plain-list">
        {useful.map((name) => (
          <li key={name} title={name}>
            {notes[name]}
          </li>
        ))}
      </ul>
    );
  }),
];

/** Named sets of permissions: three that come with Rapport, and those of the company. */
export function Roles() {
  const { save, remove } = useChangeEntries(PERMISSION_SETS);
  return (
    <Entries
      title="Roles"
      about="Sets of permissions that colleagues have in a workspace. Three come with Rapport; to SCIM they are permission sets."
      noun="role"
      icon={ShieldCheck}
      purpose="A role is a name for permissions that several colleagues have."
      from={usePermissionSets()}
      needs={{ company: "admin" }}
      columns={COLUMNS}
      rows={({ permission_sets }) => permission_sets}
      initial={(role) => ({ name: role?.name ?? "", permissions: [...(role?.permissions ?? [])] })}
      fields={(form, isNew) => (
        <>
          <TextInput label="Name" disabled={!isNew} {...form.getInputProps("name")} />
          <PermissionChoice of="workspace" {...form.getInputProps("permissions")} />
        </>
      )}
      // As new, because a ready role is not stored before it is changed.
      save={({ name, permissions }) =>
        save(name.trim(), { permissions: permissions as never }, true)
      }
      isKept={({ ready }) => ready}
      remove={({ name }) => remove(name)}
      removal="Colleagues who have it lose its permissions. A role that comes with Rapport is as it was again."
    />
  );
}
