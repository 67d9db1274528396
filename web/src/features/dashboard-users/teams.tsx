import { TextInput } from "@mantine/core";
import { UsersRound } from "lucide-react";
import type { Schemas } from "../../api/client.ts";
import { TEAMS, useChangeEntries } from "../../api/entries.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { Id } from "../../components/code-block.tsx";
import { type Column, column } from "../../components/data-table.tsx";
import { DeclaredName } from "../../components/declared-name.tsx";
import { Entries } from "../../components/entries.tsx";
import { useTeams } from "./api.ts";

const COLUMNS: readonly Column<Schemas["Team"]>[] = [
  column("Name", (each) => <DeclaredName of={each} />),
  column("Id", { width: "50%" }, (team) => team.id && <Id value={team.id} />),
];

export function Teams() {
  const workspace = useWorkspace();
  const { save, remove } = useChangeEntries(TEAMS);
  return (
    <Entries
      title="Teams"
      about="Names that identity providers use in the permissions of dashboard users."
      noun="team"
      icon={UsersRound}
      purpose="Identity providers may give dashboard users permissions in teams, by their names."
      from={useTeams(workspace)}
      needs="manage_teams"
      columns={COLUMNS}
      rows={({ teams }) => teams}
      initial={() => ({ name: "" })}
      fields={(form) => <TextInput label="Name" data-autofocus {...form.getInputProps("name")} />}
      save={({ name }, isNew) => save(name.trim(), {}, isNew)}
      isFixed
      remove={({ name }) => remove(name)}
      removal="Dashboard users no longer show it. Their other permissions stay."
    />
  );
}
