import type { Queryable, Transaction } from "../database/database.ts";
import type { Defaults } from "./protocol/directory.ts";

/** A team as it is declared. */
export interface DeclaredTeam {
  readonly id: string;
  readonly name: string;
}

export async function selectTeams(
  database: Queryable,
  workspaceId: number,
): Promise<DeclaredTeam[]> {
  return database.query<DeclaredTeam>(
    "select team_id as id, name from teams where workspace_id = $1",
    [workspaceId],
  );
}

export async function insertTeams(
  tx: Transaction,
  workspaceId: number,
  teams: readonly DeclaredTeam[],
): Promise<void> {
  await tx.query(
    `insert into teams (workspace_id, team_id, name)
     select $1, id, name from unnest($2::text[], $3::text[]) as new (id, name)`,
    [workspaceId, teams.map((team) => team.id), teams.map((team) => team.name)],
  );
}

export async function deleteTeams(
  tx: Transaction,
  workspaceId: number,
  teams: readonly DeclaredTeam[],
): Promise<void> {
  await tx.query("delete from teams where workspace_id = $1 and name = any($2::text[])", [
    workspaceId,
    teams.map((team) => team.name),
  ]);
}

/** A permission set as it is declared. */
export interface DeclaredPermissionSet {
  readonly name: string;
  readonly permissions: readonly string[];
}

export async function selectPermissionSets(
  database: Queryable,
  companyId: string,
): Promise<DeclaredPermissionSet[]> {
  return database.query<DeclaredPermissionSet>(
    "select name, permissions from permission_sets where company_id = $1",
    [companyId],
  );
}

export async function upsertPermissionSets(
  tx: Transaction,
  companyId: string,
  sets: readonly DeclaredPermissionSet[],
): Promise<void> {
  await tx.query(
    `insert into permission_sets (company_id, name, permissions)
     select $1, name, permissions::jsonb
     from unnest($2::text[], $3::text[]) as new (name, permissions)
     on conflict (company_id, name) do update set permissions = excluded.permissions`,
    [companyId, sets.map((set) => set.name), sets.map((set) => JSON.stringify(set.permissions))],
  );
}

export async function deletePermissionSets(
  tx: Transaction,
  companyId: string,
  sets: readonly DeclaredPermissionSet[],
): Promise<void> {
  await tx.query("delete from permission_sets where company_id = $1 and name = any($2::text[])", [
    companyId,
    sets.map((set) => set.name),
  ]);
}

export async function selectDefaults(
  database: Queryable,
  companyId: string,
): Promise<Defaults | undefined> {
  const rows = await database.query<{ defaults: Defaults }>(
    "select defaults from scim_defaults where company_id = $1",
    [companyId],
  );
  return rows[0]?.defaults;
}

export async function upsertDefaults(
  tx: Transaction,
  companyId: string,
  defaults: Defaults,
): Promise<void> {
  await tx.query(
    `insert into scim_defaults (company_id, defaults) values ($1, $2::text::jsonb)
     on conflict (company_id) do update set defaults = excluded.defaults`,
    [companyId, JSON.stringify(defaults)],
  );
}
