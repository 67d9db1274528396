import type { Queryable, Transaction } from "../database/database.ts";
import type { TokenHolder } from "./company.ts";
import type { Permission } from "./permissions.ts";
import type { Channel, KeyHolder, Workspace, WorkspaceSettings } from "./workspace.ts";

interface WorkspaceRow {
  workspace_id: number;
  workspace_name: string;
  settings: WorkspaceSettings;
  apps: string[] | null;
  groups: { id: string; channel: Channel }[] | null;
}

interface KeyRow extends WorkspaceRow {
  name: string;
  permissions: (Permission | "all")[];
  ip_allowlist: string[];
}

/** Of `workspaces w`. */
const WORKSPACE_COLUMNS = `w.workspace_id, w.name as workspace_name, w.settings,
  (select jsonb_agg(a.app_id) from apps a where a.workspace_id = w.workspace_id) as apps,
  (select jsonb_agg(jsonb_build_object('id', g.group_id, 'channel', g.channel))
     from subscription_groups g where g.workspace_id = w.workspace_id) as groups`;

const workspaceOf = (row: WorkspaceRow): Workspace => ({
  id: row.workspace_id,
  name: row.workspace_name,
  settings: row.settings,
  appIds: new Set(row.apps),
  groupChannels: new Map(row.groups?.map((group) => [group.id, group.channel])),
});

/** A workspace with all that is declared about it. */
export async function selectWorkspace(
  database: Queryable,
  id: number,
): Promise<Workspace | undefined> {
  const [row] = await database.query<WorkspaceRow>(
    `select ${WORKSPACE_COLUMNS} from workspaces w where w.workspace_id = $1`,
    [id],
  );
  return row && workspaceOf(row);
}

/** The holder of the key with this hash, with all that is declared about the workspace. */
export async function selectKeyHolder(
  database: Queryable,
  keyHash: string,
): Promise<KeyHolder | undefined> {
  const [row] = await database.query<KeyRow>(
    `select k.name, to_jsonb(k.permissions) as permissions,
       to_jsonb(k.ip_allowlist) as ip_allowlist, ${WORKSPACE_COLUMNS}
     from api_keys k join workspaces w on w.workspace_id = k.workspace_id
     where k.key_hash = $1`,
    [keyHash],
  );
  return (
    row && {
      keyName: row.name,
      permissions: new Set(row.permissions),
      ipAllowlist: row.ip_allowlist,
      workspace: workspaceOf(row),
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

interface TokenRow {
  name: string;
  service_origin: string;
  require_origin: boolean;
  company_id: string;
  company_name: string;
}

/** The holder of the SCIM token with this hash. */
export async function selectTokenHolder(
  database: Queryable,
  tokenHash: string,
): Promise<TokenHolder | undefined> {
  const [row] = await database.query<TokenRow>(
    `select t.name, t.service_origin, t.require_origin, c.company_id, c.name as company_name
     from scim_tokens t join companies c on c.company_id = t.company_id
     where t.token_hash = $1`,
    [tokenHash],
  );
  return (
    row && {
      tokenName: row.name,
      company: { id: row.company_id, name: row.company_name },
      requiredOrigin: row.require_origin ? row.service_origin : undefined,
    }
  );
}

export interface DeclaredToken {
  readonly name: string;
  readonly tokenHash: string;
  readonly serviceOrigin: string;
  readonly requireOrigin: boolean;
}

/** The SCIM tokens of a company that a manifest made. */
export async function selectDeclaredTokens(
  database: Queryable,
  companyId: string,
): Promise<DeclaredToken[]> {
  return database.query<DeclaredToken>(
    `select name, token_hash as "tokenHash", service_origin as "serviceOrigin",
       require_origin as "requireOrigin"
     from scim_tokens where company_id = $1 and declared`,
    [companyId],
  );
}

/**
 * Makes declared tokens.
 *
 * @returns the ids of those made: one that is missing has the name or the value of another token.
 */
export async function insertTokens(
  tx: Transaction,
  companyId: string,
  tokens: readonly (DeclaredToken & { readonly id: string })[],
  now: Date,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `insert into scim_tokens
       (token_id, company_id, name, token_hash, service_origin, require_origin, declared, created_at)
     select id, $1, name, hash, origin, requires, true, $7
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::boolean[])
       as new (id, name, hash, origin, requires)
     on conflict do nothing
     returning token_id as id`,
    [
      companyId,
      tokens.map((token) => token.id),
      tokens.map((token) => token.name),
      tokens.map((token) => token.tokenHash),
      tokens.map((token) => token.serviceOrigin),
      tokens.map((token) => token.requireOrigin),
      now,
    ],
  );
  return rows.map((row) => row.id);
}

export async function deleteTokens(
  tx: Transaction,
  companyId: string,
  names: readonly string[],
): Promise<void> {
  await tx.query("delete from scim_tokens where company_id = $1 and name = any($2::text[])", [
    companyId,
    names,
  ]);
}
