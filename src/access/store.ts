import type { Queryable } from "../database/database.ts";
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

interface HolderRow extends WorkspaceRow {
  secret_hash: string;
  key_id: string;
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

/** The holders of the keys that these secrets open now, by hash, with all that is declared about their workspaces. */
export async function selectKeyHolders(
  database: Queryable,
  secretHashes: readonly string[],
  now: Date,
): Promise<Map<string, KeyHolder>> {
  const rows = await database.query<HolderRow>(
    `select s.secret_hash, k.key_id, k.name, to_jsonb(k.permissions) as permissions,
       to_jsonb(k.ip_allowlist) as ip_allowlist, ${WORKSPACE_COLUMNS}
     from secrets s join api_keys k on k.key_id = s.owner_id
       join workspaces w on w.workspace_id = k.workspace_id
     where s.secret_hash = any($1::text[]) and (s.expires_at is null or s.expires_at > $2)`,
    [secretHashes, now],
  );
  return new Map(rows.map((row) => [row.secret_hash, holderOf(row)]));
}

const holderOf = (row: HolderRow): KeyHolder => ({
  keyId: row.key_id,
  keyName: row.name,
  permissions: new Set(row.permissions),
  ipAllowlist: row.ip_allowlist,
  workspace: workspaceOf(row),
});

interface TokenRow {
  secret_hash: string;
  token_id: string;
  name: string;
  service_origin: string;
  require_origin: boolean;
  company_id: string;
  company_name: string;
}

/** The holders of the SCIM tokens that these secrets open now, by hash. */
export async function selectTokenHolders(
  database: Queryable,
  secretHashes: readonly string[],
  now: Date,
): Promise<Map<string, TokenHolder>> {
  const rows = await database.query<TokenRow>(
    `select s.secret_hash, t.token_id, t.name, t.service_origin, t.require_origin, c.company_id,
       c.name as company_name
     from secrets s join scim_tokens t on t.token_id = s.owner_id
       join companies c on c.company_id = t.company_id
     where s.secret_hash = any($1::text[]) and (s.expires_at is null or s.expires_at > $2)`,
    [secretHashes, now],
  );
  return new Map(
    rows.map((row) => [
      row.secret_hash,
      {
        tokenId: row.token_id,
        tokenName: row.name,
        company: { id: row.company_id, name: row.company_name },
        requiredOrigin: row.require_origin ? row.service_origin : undefined,
      },
    ]),
  );
}
