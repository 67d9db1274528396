import { MultiSelect, Select } from "@mantine/core";
import {
  TEAM_PERMISSIONS,
  WORKSPACE_NOTES,
} from "../../../../src/core/base/context/dashboard-permissions.ts";
import { usePermissionSets } from "../../api/administration.ts";
import { FormDialog, required } from "../../components/form.tsx";
import { PermissionChoice } from "../../components/permission-choice.tsx";
import { type Access, useTeams } from "./api.ts";

interface AccessInWorkspaceProps {
  /** Without a name: of a workspace that is chosen here. */
  readonly access: Access;
  readonly workspaces: readonly string[];
  save(access: Access): Promise<unknown>;
}

type TeamPermissions = NonNullable<NonNullable<Access["team"]>[number]["teamPermissions"]>;

interface Values extends Record<string, unknown> {
  workspace: string;
  permissions: NonNullable<Access["appGroupPermissions"]>;
  sets: string[];
  teams: string[];
  /** By the name of the team. */
  inTeams: Record<string, TeamPermissions>;
}

/** A person's permissions in one workspace: roles, single permissions, teams. */
export function AccessInWorkspace({ access, workspaces, save }: AccessInWorkspaceProps) {
  const isNew = access.appGroupName === "";
  const { team = [] } = access;
  return (
    <FormDialog<Values>
      title={isNew ? "Add a workspace" : `Permissions in ${access.appGroupName}`}
      size="lg"
      initial={{
        workspace: access.appGroupName,
        permissions: [...(access.appGroupPermissions ?? [])],
        sets: (access.appGroupPermissionSets ?? []).map((each) => each.appGroupPermissionSetName),
        teams: team.map(({ teamName }) => teamName),
        inTeams: Object.fromEntries(
          team.map(({ teamName, teamPermissions = [] }) => [teamName, teamPermissions]),
        ),
      }}
      validate={{ workspace: required }}
      save={(values) => save(accessOf(values))}
    >
      {(form) => {
        const { workspace, teams } = form.getValues();
        return (
          <>
            {isNew && (
              <Select
                label="Workspace"
                data={[...workspaces]}
                searchable
                data-autofocus
                {...form.getInputProps("workspace")}
              />
            )}
            <RolesChoice {...form.getInputProps("sets")} />
            <details open={form.getValues().permissions.length > 0}>
              <summary>Single permissions, beside those of the roles</summary>
              <PermissionChoice of="workspace" {...form.getInputProps("permissions")} />
            </details>
            <Teams workspace={workspace} {...form.getInputProps("teams")} />
            {teams.map((name) => (
              <MultiSelect
                key={name}
                label={`Permissions in the team ${name}`}
                description="Stored for the identity provider; teams permit nothing in Rapport."
                data={[...TEAM_PERMISSIONS]}
                searchable
                clearable
                value={form.getValues().inTeams[name] ?? []}
                onChange={(chosen) =>
                  form.setFieldValue("inTeams", {
                    ...form.getValues().inTeams,
                    [name]: chosen as TeamPermissions,
                  })
                }
              />
            ))}
          </>
        );
      }}
    </FormDialog>
  );
}

const accessOf = ({ workspace, permissions, sets, teams, inTeams }: Values): Access => ({
  appGroupName: workspace,
  appGroupPermissions: permissions,
  appGroupPermissionSets: sets.map((name) => ({ appGroupPermissionSetName: name })),
  team: teams.map((teamName) => ({ teamName, teamPermissions: inTeams[teamName] ?? [] })),
});

const notes: Readonly<Record<string, string>> = WORKSPACE_NOTES;

/** What roles allow, in words. */
export const sentencesOf = (permissions: readonly string[]): string =>
  permissions.flatMap((name) => notes[name] ?? []).join(" ");

interface ChoiceProps {
  readonly value?: string[];
  onChange?(value: string[]): void;
}

function RolesChoice(props: ChoiceProps) {
  const { data } = usePermissionSets();
  const sets = data?.permission_sets ?? [];
  const chosen = sets.filter(({ name }) => props.value?.includes(name));
  const contained = [...new Set(chosen.flatMap(({ permissions = [] }) => permissions))];
  return (
    <MultiSelect
      label="Roles"
      description={contained.length > 0 ? sentencesOf(contained) : undefined}
      data={sets.map(({ name }) => name)}
      searchable
      clearable
      {...props}
    />
  );
}

function Teams({ workspace, ...props }: ChoiceProps & { readonly workspace: string }) {
  const { data } = useTeams(workspace);
  const teams = data?.teams ?? [];
  if (teams.length === 0 && !props.value?.length) return null;
  return (
    <MultiSelect
      label="Teams"
      data={teams.map(({ name }) => name)}
      searchable
      clearable
      {...props}
    />
  );
}
