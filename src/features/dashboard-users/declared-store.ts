import type { Declared } from "../../core/admin/workspaces/listed-resource.ts";
import type { Queryable, Transaction } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";

export type DeclaredTeam = {
  readonly id: string;
  readonly name: string;
};

/** All teams of a workspace, however they were created, by name. */
export const selectTeams = (database: Queryable, workspaceId: number) =>
  database.query<DeclaredTeam & Declared>(
    "select team_id as id, name, declared from teams where workspace_id = $1 order by name",
    [workspaceId],
  );

export const insertTeams = (
  tx: Transaction,
  workspaceId: number,
  teams: readonly (DeclaredTeam & Declared)[],
) =>
  tx.execute(
    `insert into teams (workspace_id, team_id, name, declared)
     select $1, id, name, declared
     from unnest($2::text[], $3::text[], $4::boolean[]) as new (id, name, declared)`,
    [workspaceId, ...listsOf(teams, "id", "name", "declared")],
  );

export const deleteTeams = (tx: Transaction, workspaceId: number, teams: readonly DeclaredTeam[]) =>
  tx.execute("delete from teams where workspace_id = $1 and name = any($2::text[])", [
    workspaceId,
    teams.map((team) => team.name),
  ]);

export type DeclaredPermissionSet = {
  readonly name: string;
  readonly permissions: readonly string[];
};

/** All permission sets of a company, however they were created, by name. */
export const selectPermissionSets = (database: Queryable, companyId: string) =>
  database.query<DeclaredPermissionSet & Declared>(
    `select name, permissions, declared from permission_sets where company_id = $1
     order by name`,
    [companyId],
  );

export const upsertPermissionSets = (
  tx: Transaction,
  companyId: string,
  sets: readonly (DeclaredPermissionSet & Declared)[],
) =>
  tx.execute(
    `insert into permission_sets (company_id, name, permissions, declared)
     select $1, name, permissions::jsonb, declared
     from unnest($2::text[], $3::text[], $4::boolean[]) as new (name, permissions, declared)
     on conflict (company_id, name) do update
       set permissions = excluded.permissions, declared = excluded.declared`,
    [
      companyId,
      sets.map((set) => set.name),
      sets.map((set) => JSON.stringify(set.permissions)),
      sets.map((set) => set.declared),
    ],
  );

export const deletePermissionSets = (
  tx: Transaction,
  companyId: string,
  sets: readonly DeclaredPermissionSet[],
) =>
  tx.execute("delete from permission_sets where company_id = $1 and name = any($2::text[])", [
    companyId,
    sets.map((set) => set.name),
  ]);
