import Type from "typebox";
import { listedResource } from "../../core/admin/workspaces/listed-resource.ts";
import { Name } from "../../core/admin/workspaces/manifest.ts";
import type { Resource } from "../../core/admin/workspaces/resource.ts";
import type { CompanyContext, WorkspaceContext } from "../../core/base/context/context.ts";
import { WORKSPACE_PERMISSIONS } from "../../core/base/context/dashboard-permissions.ts";
import {
  type DeclaredPermissionSet,
  type DeclaredTeam,
  deletePermissionSets,
  deleteTeams,
  insertTeams,
  selectPermissionSets,
  selectTeams,
  upsertPermissionSets,
} from "./declared-store.ts";

/* The manifest's declarations for dashboard users. Credentials of identity providers are in access/. */

const Team = Type.Object(
  {
    name: Name,
    id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: "Generated if omitted." }),
    ),
  },
  { additionalProperties: false },
);

/** A team declared without an id is given one, and keeps it. */
const teams = listedResource<DeclaredTeam, WorkspaceContext>({
  key: "teams",
  about: "Teams of the workspace, which the permissions of dashboard users may name.",
  schema: Team,
  identity: "name",
  unique: "id",
  kind: "team",
  permissions: { read: "basic_access", write: "manage_teams" },
  nameOf: (team) => team.name,
  complete({ name, id }: Partial<DeclaredTeam>, known, { clock }) {
    return { id: id ?? known?.id ?? clock.newId(), name: name as string };
  },
  select: (database, { workspace }) => selectTeams(database, workspace.id),
  async save(tx, { workspace }, entries) {
    // Delete first: an id may move from one team to another.
    await deleteTeams(tx, workspace.id, entries);
    await insertTeams(tx, workspace.id, entries);
  },
  remove: (tx, { workspace }, entries) => deleteTeams(tx, workspace.id, entries),
});

const PermissionSet = Type.Object(
  {
    name: Name,
    permissions: Type.Optional(
      Type.Array(Type.Enum([...WORKSPACE_PERMISSIONS]), {
        description: "The permissions of a user with the set in a workspace.",
      }),
    ),
  },
  { additionalProperties: false },
);

const permissionSets = listedResource<DeclaredPermissionSet, CompanyContext>({
  key: "permission_sets",
  about: "Named sets of workspace permissions that dashboard users may be given.",
  schema: PermissionSet,
  identity: "name",
  kind: "permission_set",
  // Changing a set could give oneself any permission.
  permissions: { read: "manage_company_settings", write: "admin" },
  nameOf: (set) => set.name,
  complete({ name, permissions }: Partial<DeclaredPermissionSet>) {
    return { name: name as string, permissions: permissions ?? [] };
  },
  select: (database, { company }) => selectPermissionSets(database, company.id),
  save: (tx, { company }, entries) => upsertPermissionSets(tx, company.id, entries),
  remove: (tx, { company }, entries) => deletePermissionSets(tx, company.id, entries),
});

export const DASHBOARD_USER_RESOURCES: readonly Resource[] = [teams];

export const DASHBOARD_USER_COMPANY_RESOURCES: readonly Resource<CompanyContext>[] = [
  permissionSets,
];
