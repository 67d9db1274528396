import type { Channel, Workspace } from "../../base/context/workspace.ts";
import type { WorkspaceSettings } from "../../base/context/workspace-settings.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { listsOf } from "../../database/parameters/lists-of.ts";
import type { Declared } from "./listed-resource.ts";

/** Unlike any other lock in the database: one manifest is applied at a time. */
const APPLY_LOCK = 7_270_412;

/** A large manifest takes seconds. */
const APPLY_LOCK_MS = 7_500;

/** Waits until no other manifest is being applied; holds the lock until the transaction ends. */
export const lockForApply = (tx: Transaction) =>
  tx.query("select set_config('lock_timeout', $2::text, true), pg_advisory_xact_lock($1)", [
    APPLY_LOCK,
    String(APPLY_LOCK_MS),
  ]);

export interface AppliedManifest {
  readonly hash: string;
  /** Grows with each that is applied. */
  readonly number: number;
  /** The name that the manifest gives itself. */
  readonly version: number | null;
  readonly scope: readonly string[];
  /** Its source: a path, or the admin API. */
  readonly source: string;
  /** The machine of the server that applied it. */
  readonly server: string;
  readonly appliedAt: Date;
}

/** In the order they were applied. */
export const selectAppliedManifests = (database: Queryable) =>
  database.query<AppliedManifest>(
    `select hash, number, version, scope, source, server, applied_at as "appliedAt"
     from applied_manifests order by number`,
  );

export async function selectLastAppliedHash(database: Queryable): Promise<string | undefined> {
  const [last] = await database.query<{ hash: string }>(
    "select hash from applied_manifests order by number desc limit 1",
  );
  return last?.hash;
}

/** How many are remembered, so that the table stays small. */
const MOST_APPLIED = 1_000;

/** Records it as the last one applied. */
export async function insertAppliedManifest(
  tx: Transaction,
  applied: Omit<AppliedManifest, "number">,
): Promise<void> {
  await tx.query(
    `insert into applied_manifests (hash, number, version, scope, source, server, applied_at)
     select $1, coalesce(max(number), 0) + 1, $2, $3::text::jsonb, $4, $5, $6 from applied_manifests
     on conflict (hash) do update set number = excluded.number, version = excluded.version,
       source = excluded.source, server = excluded.server, applied_at = excluded.applied_at`,
    [
      applied.hash,
      applied.version,
      JSON.stringify(applied.scope),
      applied.source,
      applied.server,
      applied.appliedAt,
    ],
  );
  await tx.query(
    "delete from applied_manifests where number <= (select max(number) - $1 from applied_manifests)",
    [MOST_APPLIED],
  );
}

export interface CompanyRow {
  readonly id: string;
  readonly name: string;
}

export async function selectCompany(database: Queryable): Promise<CompanyRow | undefined> {
  const rows = await database.query<CompanyRow>("select company_id as id, name from companies");
  return rows[0];
}

export const insertCompany = (tx: Transaction, company: CompanyRow, now: Date) =>
  tx.execute("insert into companies (company_id, name, created_at) values ($1, $2, $3)", [
    company.id,
    company.name,
    now,
  ]);

export const renameCompany = (tx: Transaction, company: CompanyRow) =>
  tx.execute("update companies set name = $2 where company_id = $1", [company.id, company.name]);

/** The domains of the company's contacts, in ASCII and lower case. */
export async function selectMailDomains(
  database: Queryable,
  companyId: string,
): Promise<readonly string[]> {
  const [row] = await database.query<{ domains: string[] }>(
    "select to_jsonb(mail_domains) as domains from companies where company_id = $1",
    [companyId],
  );
  return row?.domains ?? [];
}

export const updateMailDomains = (tx: Transaction, companyId: string, domains: readonly string[]) =>
  tx.execute("update companies set mail_domains = $2::text[] where company_id = $1", [
    companyId,
    domains,
  ]);

export interface WorkspaceRow {
  readonly id: number;
  readonly name: string;
  readonly allowReset: boolean;
  readonly settings: WorkspaceSettings;
}

const WORKSPACE_COLUMNS = 'w.workspace_id as id, w.name, w.allow_reset as "allowReset", w.settings';

export interface WorkspaceBefore {
  /** The workspace of this name, if there is one. */
  readonly known: WorkspaceRow | undefined;
  /** The id of the next new workspace: higher than any id so far. */
  readonly nextId: number;
}

/** Reads the workspace of a name, and none of the others: a server can have thousands. */
export async function selectWorkspaceBefore(tx: Queryable, name: string): Promise<WorkspaceBefore> {
  const rows = await tx.query<{ readonly nextId: number; readonly known: WorkspaceRow | null }>(
    `select greatest((select max(workspace_id) from workspaces),
         (select max(workspace_id) from deleted_workspaces), 0) + 1 as "nextId",
       (select to_jsonb(known) from (
          select ${WORKSPACE_COLUMNS} from workspaces w where w.name = $1) known) as known`,
    [name],
  );
  const [{ nextId, known } = { nextId: 1, known: null }] = rows;
  return { nextId, known: known ?? undefined };
}

/** Whether the workspace still exists. */
export async function hasWorkspace(database: Queryable, workspaceId: number): Promise<boolean> {
  const rows = await database.query("select from workspaces where workspace_id = $1", [
    workspaceId,
  ]);
  return rows.length > 0;
}

export const selectWorkspaces = (database: Queryable) =>
  database.query<WorkspaceRow>(
    `select ${WORKSPACE_COLUMNS} from workspaces w order by workspace_id`,
  );

interface WholeRow extends WorkspaceRow {
  readonly feed: number | null;
  readonly apps: string[] | null;
  readonly groups: { readonly id: string; readonly channel: Channel }[] | null;
}

const FEED = `case when (w.settings -> 'change_feed')::boolean or w.has_webhooks then w.feed_epoch end as feed`;

const WHOLE_COLUMNS = `${WORKSPACE_COLUMNS},
  ${FEED},
  (select jsonb_agg(a.app_id) from apps a where a.workspace_id = w.workspace_id) as apps,
  (select jsonb_agg(jsonb_build_object('id', g.group_id, 'channel', g.channel))
     from subscription_groups g where g.workspace_id = w.workspace_id) as groups`;

const wholeOf = ({ apps, groups, ...row }: WholeRow): Workspace => ({
  ...row,
  appIds: new Set(apps),
  groupChannels: new Map(groups?.map((group) => [group.id, group.channel])),
});

/** A workspace with everything declared about it. */
export async function selectWorkspace(
  database: Queryable,
  name: string,
): Promise<Workspace | undefined> {
  const [row] = await database.query<WholeRow>(
    `select ${WHOLE_COLUMNS} from workspaces w where w.name = $1`,
    [name],
  );
  return row && wholeOf(row);
}

/** Workspaces with everything that a request needs of them; missing ids are left out. */
export async function selectWorkspacesById(
  database: Queryable,
  ids: readonly number[],
): Promise<Workspace[]> {
  const rows = await database.query<WholeRow>(
    `select ${WHOLE_COLUMNS} from workspaces w where w.workspace_id = any($1::int[])`,
    [ids],
  );
  return rows.map(wholeOf);
}

/** How often the change feed of a workspace was turned on; null while it is off. */
export async function selectFeed(database: Queryable, workspaceId: number): Promise<number | null> {
  const [row] = await database.query<Pick<WholeRow, "feed">>(
    `select ${FEED} from workspaces w where w.workspace_id = $1`,
    [workspaceId],
  );
  return row?.feed ?? null;
}

export const insertWorkspace = (
  tx: Transaction,
  companyId: string,
  workspace: WorkspaceRow,
  now: Date,
) =>
  tx.execute(
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

export const updateWorkspace = (tx: Transaction, workspace: WorkspaceRow) =>
  tx.execute(
    `update workspaces set allow_reset = $2, settings = $3::text::jsonb,
       feed_epoch = feed_epoch + case when not has_webhooks
         and not coalesce((settings -> 'change_feed')::boolean, false)
         and coalesce(($3::text::jsonb -> 'change_feed')::boolean, false) then 1 else 0 end
     where workspace_id = $1`,
    [workspace.id, workspace.allowReset, JSON.stringify(workspace.settings)],
  );

/** Whether a workspace has webhooks, which need its change feed. */
export const updateHasWebhooks = (tx: Transaction, workspaceId: number, hasWebhooks: boolean) =>
  tx.execute(
    `update workspaces set has_webhooks = $2::boolean,
       feed_epoch = feed_epoch + case when $2::boolean
         and not coalesce((settings -> 'change_feed')::boolean, false) then 1 else 0 end
     where workspace_id = $1 and has_webhooks <> $2::boolean`,
    [workspaceId, hasWebhooks],
  );

export type DeclaredApp = { readonly id: string; readonly name: string; readonly platform: string };

/** All apps of a workspace, however they were created, by id. */
export const selectApps = (database: Queryable, workspaceId: number) =>
  database.query<DeclaredApp & Declared>(
    `select app_id as id, name, platform, declared from apps
     where workspace_id = $1 order by app_id`,
    [workspaceId],
  );

export const upsertApps = (
  tx: Transaction,
  workspaceId: number,
  apps: readonly (DeclaredApp & Declared)[],
) =>
  tx.execute(
    `insert into apps (workspace_id, app_id, name, platform, declared)
     select $1, id, name, platform, declared
     from unnest($2::text[], $3::text[], $4::text[], $5::boolean[])
       as new (id, name, platform, declared)
     on conflict (workspace_id, app_id) do update
       set name = excluded.name, platform = excluded.platform, declared = excluded.declared`,
    [workspaceId, ...listsOf(apps, "id", "name", "platform", "declared")],
  );

export const deleteApps = (tx: Transaction, workspaceId: number, apps: readonly DeclaredApp[]) =>
  tx.execute("delete from apps where workspace_id = $1 and app_id = any($2::text[])", [
    workspaceId,
    apps.map((app) => app.id),
  ]);

export type PageSettings = Pick<WorkspaceSettings, "brand" | "page_image_hosts">;

/** Settings stored by earlier versions have none of them. */
export async function selectPageSettings(
  database: Queryable,
  workspaceId: number,
): Promise<PageSettings> {
  const [row] = await database.query<{
    brand: PageSettings["brand"] | null;
    hosts: PageSettings["page_image_hosts"] | null;
  }>(
    `select settings -> 'brand' as brand, settings -> 'page_image_hosts' as hosts
     from workspaces where workspace_id = $1`,
    [workspaceId],
  );
  return { brand: row?.brand ?? {}, page_image_hosts: row?.hosts ?? [] };
}

export type DeclaredGroup = {
  readonly id: string;
  readonly name: string;
  readonly channel: Channel;
  /** A description for subscribers, shown on the page where they choose. */
  readonly description?: string;
};

export type GroupRow = DeclaredGroup & Declared;

/** All groups of a workspace, however they were created, by name. */
export async function selectGroups(database: Queryable, workspaceId: number): Promise<GroupRow[]> {
  const rows = await database.query<GroupRow & { readonly description: string | null }>(
    `select group_id as id, name, channel, description, declared from subscription_groups
     where workspace_id = $1 order by name, group_id`,
    [workspaceId],
  );
  return rows.map(({ description, ...row }) =>
    description === null ? row : { ...row, description },
  );
}

export const upsertGroups = (tx: Transaction, workspaceId: number, groups: readonly GroupRow[]) =>
  tx.execute(
    `insert into subscription_groups (workspace_id, group_id, name, channel, declared, description)
     select $1, id, name, channel, declared, description
     from unnest($2::text[], $3::text[], $4::text[], $5::boolean[], $6::text[])
       as new (id, name, channel, declared, description)
     on conflict (workspace_id, group_id) do update
       set name = excluded.name, channel = excluded.channel, declared = excluded.declared,
         description = excluded.description`,
    [
      workspaceId,
      ...listsOf(groups, "id", "name", "channel", "declared"),
      groups.map((group) => group.description ?? null),
    ],
  );

export const deleteGroups = (
  tx: Transaction,
  workspaceId: number,
  groups: readonly DeclaredGroup[],
) =>
  tx.execute(
    "delete from subscription_groups where workspace_id = $1 and group_id = any($2::text[])",
    [workspaceId, groups.map((group) => group.id)],
  );
