import type { Channel, WorkspaceSettings } from "../access/workspace.ts";
import type { Queryable, Transaction } from "../database/database.ts";

/** Any number that nobody else in the database uses: one manifest is applied at a time. */
const APPLY_LOCK = 7_270_412;

export async function lockForApply(tx: Transaction): Promise<void> {
  await tx.query("select pg_advisory_xact_lock($1)", [APPLY_LOCK]);
}

/** Any number that tells these locks from the others of the program. */
const PEOPLE_LOCK_CLASS = 7_270_414;

export async function lockPeopleShared(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("select pg_advisory_xact_lock_shared($1::int, $2::int)", [
    PEOPLE_LOCK_CLASS,
    workspaceId,
  ]);
}

export async function lockPeople(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("select pg_advisory_xact_lock($1::int, $2::int)", [
    PEOPLE_LOCK_CLASS,
    workspaceId,
  ]);
}

export interface CompanyRow {
  readonly id: string;
  readonly name: string;
}

export async function selectCompany(database: Queryable): Promise<CompanyRow | undefined> {
  const rows = await database.query<CompanyRow>("select company_id as id, name from companies");
  return rows[0];
}

export async function insertCompany(
  tx: Transaction,
  company: CompanyRow,
  now: Date,
): Promise<void> {
  await tx.query("insert into companies (company_id, name, created_at) values ($1, $2, $3)", [
    company.id,
    company.name,
    now,
  ]);
}

export async function renameCompany(tx: Transaction, company: CompanyRow): Promise<void> {
  await tx.query("update companies set name = $2 where company_id = $1", [
    company.id,
    company.name,
  ]);
}

export interface WorkspaceRow {
  readonly id: number;
  readonly name: string;
  readonly allowReset: boolean;
  readonly settings: WorkspaceSettings;
}

const WORKSPACE_COLUMNS = 'workspace_id as id, name, allow_reset as "allowReset", settings';

export async function selectWorkspaces(database: Queryable): Promise<WorkspaceRow[]> {
  return database.query<WorkspaceRow>(
    `select ${WORKSPACE_COLUMNS} from workspaces order by workspace_id`,
  );
}

export async function selectWorkspace(
  database: Queryable,
  name: string,
): Promise<WorkspaceRow | undefined> {
  const rows = await database.query<WorkspaceRow>(
    `select ${WORKSPACE_COLUMNS} from workspaces where name = $1`,
    [name],
  );
  return rows[0];
}

export async function insertWorkspace(
  tx: Transaction,
  companyId: string,
  workspace: WorkspaceRow,
  now: Date,
): Promise<void> {
  await tx.query(
    `insert into workspaces (workspace_id, company_id, name, allow_reset, settings, created_at)
     values ($1, $2, $3, $4, $5::text::jsonb, $6)`,
    [
      workspace.id,
      companyId,
      workspace.name,
      workspace.allowReset,
      JSON.stringify(workspace.settings),
      now,
    ],
  );
}

export async function updateWorkspace(tx: Transaction, workspace: WorkspaceRow): Promise<void> {
  await tx.query(
    "update workspaces set allow_reset = $2, settings = $3::text::jsonb where workspace_id = $1",
    [workspace.id, workspace.allowReset, JSON.stringify(workspace.settings)],
  );
}

/** An app as it is declared. */
export interface DeclaredApp {
  readonly id: string;
  readonly name: string;
  readonly platform: string;
}

export async function selectApps(tx: Transaction, workspaceId: number): Promise<DeclaredApp[]> {
  return tx.query<DeclaredApp>(
    "select app_id as id, name, platform from apps where workspace_id = $1 and declared",
    [workspaceId],
  );
}

export async function selectAllApps(
  database: Queryable,
  workspaceId: number,
): Promise<DeclaredApp[]> {
  return database.query<DeclaredApp>(
    "select app_id as id, name, platform from apps where workspace_id = $1 order by app_id",
    [workspaceId],
  );
}

export async function upsertApps(
  tx: Transaction,
  workspaceId: number,
  apps: readonly DeclaredApp[],
): Promise<void> {
  await tx.query(
    `insert into apps (workspace_id, app_id, name, platform, declared)
     select $1, id, name, platform, true
     from unnest($2::text[], $3::text[], $4::text[]) as new (id, name, platform)
     on conflict (workspace_id, app_id) do update
       set name = excluded.name, platform = excluded.platform, declared = true`,
    [
      workspaceId,
      apps.map((app) => app.id),
      apps.map((app) => app.name),
      apps.map((app) => app.platform),
    ],
  );
}

export async function deleteApps(
  tx: Transaction,
  workspaceId: number,
  apps: readonly DeclaredApp[],
): Promise<void> {
  await tx.query("delete from apps where workspace_id = $1 and app_id = any($2::text[])", [
    workspaceId,
    apps.map((app) => app.id),
  ]);
}

/** A subscription group as it is declared. */
export interface DeclaredGroup {
  readonly id: string;
  readonly name: string;
  readonly channel: Channel;
}

export async function selectGroups(tx: Transaction, workspaceId: number): Promise<DeclaredGroup[]> {
  return tx.query<DeclaredGroup>(
    `select group_id as id, name, channel from subscription_groups
     where workspace_id = $1 and declared`,
    [workspaceId],
  );
}

export interface GroupRow extends DeclaredGroup {
  readonly declared: boolean;
}

/** All groups of a workspace, however they were made, by name. */
export async function selectAllGroups(
  database: Queryable,
  workspaceId: number,
): Promise<GroupRow[]> {
  return database.query<GroupRow>(
    `select group_id as id, name, channel, declared from subscription_groups
     where workspace_id = $1 order by name, group_id`,
    [workspaceId],
  );
}

/** Makes or changes groups. One that is declared stays so. */
export async function upsertGroups(
  tx: Transaction,
  workspaceId: number,
  groups: readonly DeclaredGroup[],
  declared: boolean,
): Promise<void> {
  await tx.query(
    `insert into subscription_groups (workspace_id, group_id, name, channel, declared)
     select $1, id, name, channel, $5
     from unnest($2::text[], $3::text[], $4::text[]) as new (id, name, channel)
     on conflict (workspace_id, group_id) do update
       set name = excluded.name, channel = excluded.channel,
         declared = subscription_groups.declared or excluded.declared`,
    [
      workspaceId,
      groups.map((group) => group.id),
      groups.map((group) => group.name),
      groups.map((group) => group.channel),
      declared,
    ],
  );
}

/** Removes groups. @returns how many were there. */
export async function deleteGroups(
  tx: Transaction,
  workspaceId: number,
  groups: readonly Pick<DeclaredGroup, "id">[],
): Promise<number> {
  const rows = await tx.query(
    `delete from subscription_groups
     where workspace_id = $1 and group_id = any($2::text[]) returning 1`,
    [workspaceId, groups.map((group) => group.id)],
  );
  return rows.length;
}
