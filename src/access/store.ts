import type { Queryable, Transaction } from "../database/database.ts";
import type { Permission } from "./permissions.ts";
import type { Channel, KeyHolder, WorkspaceSettings } from "./workspace.ts";

interface KeyRow {
  name: string;
  permissions: (Permission | "all")[];
  ip_allowlist: string[];
  workspace_id: number;
  workspace_name: string;
  settings: WorkspaceSettings;
  apps: string[] | null;
  groups: { id: string; channel: Channel }[] | null;
}

/** The holder of the key with this hash, with all that is declared about the workspace. */
export async function selectKeyHolder(
  database: Queryable,
  keyHash: string,
): Promise<KeyHolder | undefined> {
  const [row] = await database.query<KeyRow>(
    `select k.name, to_jsonb(k.permissions) as permissions,
       to_jsonb(k.ip_allowlist) as ip_allowlist, w.workspace_id, w.name as workspace_name, w.settings,
       (select jsonb_agg(a.app_id) from apps a where a.workspace_id = w.workspace_id) as apps,
       (select jsonb_agg(jsonb_build_object('id', g.group_id, 'channel', g.channel))
          from subscription_groups g where g.workspace_id = w.workspace_id) as groups
     from api_keys k join workspaces w on w.workspace_id = k.workspace_id
     where k.key_hash = $1`,
    [keyHash],
  );
  return (
    row && {
      keyName: row.name,
      permissions: new Set(row.permissions),
      ipAllowlist: row.ip_allowlist,
      workspace: {
        id: row.workspace_id,
        name: row.workspace_name,
        settings: row.settings,
        appIds: new Set(row.apps),
        groupChannels: new Map(row.groups?.map((group) => [group.id, group.channel])),
      },
    }
  );
}

export interface DeclaredKey {
  readonly name: string;
  readonly keyHash: string;
  readonly permissions: readonly string[];
  readonly ipAllowlist: readonly string[];
}

/** The keys of a workspace that a manifest made. */
export async function selectDeclaredKeys(
  database: Queryable,
  workspaceId: number,
): Promise<DeclaredKey[]> {
  return database.query<DeclaredKey>(
    `select name, key_hash as "keyHash", to_jsonb(permissions) as permissions,
       to_jsonb(ip_allowlist) as "ipAllowlist"
     from api_keys where workspace_id = $1 and declared`,
    [workspaceId],
  );
}

export async function insertKey(
  tx: Transaction,
  workspaceId: number,
  key: DeclaredKey & { readonly id: string; readonly declared: boolean },
  now: Date,
): Promise<void> {
  await tx.query(
    `insert into api_keys
       (key_id, workspace_id, name, key_hash, permissions, ip_allowlist, declared, created_at)
     values ($1, $2, $3, $4, $5::text[], $6::text[], $7, $8)`,
    [
      key.id,
      workspaceId,
      key.name,
      key.keyHash,
      key.permissions,
      key.ipAllowlist,
      key.declared,
      now,
    ],
  );
}

export async function deleteKeys(
  tx: Transaction,
  workspaceId: number,
  names: readonly string[],
): Promise<void> {
  await tx.query("delete from api_keys where workspace_id = $1 and name = any($2::text[])", [
    workspaceId,
    names,
  ]);
}
