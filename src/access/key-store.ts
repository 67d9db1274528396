import type { Queryable, Transaction } from "../database/database.ts";
import type { Permission } from "./permissions.ts";
import type { StoredSecret } from "./secret-store.ts";

/** What an API key may do, and from where. */
export interface KeyGrant {
  readonly permissions: readonly (Permission | "all")[];
  /** Addresses and CIDR blocks; empty for everywhere. */
  readonly ipAllowlist: readonly string[];
}

/** A key as a manifest declares it, with hashes in the place of its secrets. */
export interface DeclaredKey extends KeyGrant {
  readonly name: string;
  readonly secrets: readonly StoredSecret[];
}

/** The keys of a workspace as manifests declared them last. */
export async function selectDeclaredKeys(
  database: Queryable,
  workspaceId: number,
): Promise<(DeclaredKey & { readonly id: string })[]> {
  return database.query(
    `select key_id as id, name, to_jsonb(permissions) as permissions,
       to_jsonb(ip_allowlist) as "ipAllowlist", declared_secrets as secrets
     from api_keys where workspace_id = $1 and declared`,
    [workspaceId],
  );
}

export interface KeyRow extends KeyGrant {
  readonly id: string;
  readonly name: string;
  /** Whether a manifest made it. */
  readonly declared: boolean;
  readonly createdAt: Date;
  readonly lastSeenAt: Date | null;
  readonly revokedAt: Date | null;
}

const KEY_COLUMNS = `key_id as id, name, to_jsonb(permissions) as permissions,
  to_jsonb(ip_allowlist) as "ipAllowlist", declared, created_at as "createdAt",
  last_seen_at as "lastSeenAt", revoked_at as "revokedAt"`;

/** All keys of a workspace, revoked ones too, by name. */
export async function selectKeys(database: Queryable, workspaceId: number): Promise<KeyRow[]> {
  return database.query<KeyRow>(
    `select ${KEY_COLUMNS} from api_keys where workspace_id = $1 order by name`,
    [workspaceId],
  );
}

/**
 * Makes keys.
 *
 * @param keys with `secrets` where a manifest declares them, else null.
 * @returns the ids of those made: one that is missing has the name of another key.
 */
export async function insertKeys(
  tx: Transaction,
  workspaceId: number,
  keys: readonly (KeyGrant & {
    readonly id: string;
    readonly name: string;
    readonly secrets: readonly StoredSecret[] | null;
  })[],
  now: Date,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `insert into api_keys (key_id, workspace_id, name, permissions, ip_allowlist,
       declared, declared_secrets, created_at)
     select id, $1, name, array(select jsonb_array_elements_text(permissions::jsonb)),
       array(select jsonb_array_elements_text(allowlist::jsonb)),
       secrets is not null, secrets::jsonb, $7
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])
       as new (id, name, permissions, allowlist, secrets)
     on conflict do nothing
     returning key_id as id`,
    [
      workspaceId,
      keys.map((key) => key.id),
      keys.map((key) => key.name),
      keys.map((key) => JSON.stringify(key.permissions)),
      keys.map((key) => JSON.stringify(key.ipAllowlist)),
      keys.map((key) => key.secrets && JSON.stringify(key.secrets)),
      now,
    ],
  );
  return rows.map((row) => row.id);
}

/** Makes keys what a manifest says now; those in `reopened` are not revoked any more. */
export async function updateDeclaredKeys(
  tx: Transaction,
  workspaceId: number,
  keys: readonly (DeclaredKey & { readonly id: string; readonly isReopened: boolean })[],
): Promise<void> {
  await tx.query(
    `update api_keys set
       permissions = array(select jsonb_array_elements_text(new.permissions::jsonb)),
       ip_allowlist = array(select jsonb_array_elements_text(new.allowlist::jsonb)),
       declared_secrets = new.secrets::jsonb,
       revoked_at = case when new.reopened then null else revoked_at end
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::boolean[])
       as new (id, permissions, allowlist, secrets, reopened)
     where workspace_id = $1 and key_id = new.id`,
    [
      workspaceId,
      keys.map((key) => key.id),
      keys.map((key) => JSON.stringify(key.permissions)),
      keys.map((key) => JSON.stringify(key.ipAllowlist)),
      keys.map((key) => JSON.stringify(key.secrets)),
      keys.map((key) => key.isReopened),
    ],
  );
}

export async function updateGrant(
  tx: Transaction,
  workspaceId: number,
  key: KeyGrant & { readonly id: string },
): Promise<void> {
  await tx.query(
    `update api_keys set permissions = $3::text[], ip_allowlist = $4::text[]
     where workspace_id = $1 and key_id = $2`,
    [workspaceId, key.id, key.permissions, key.ipAllowlist],
  );
}

/**
 * Finds a key by its name and locks it, so that of two changes at once the second sees the first.
 */
export async function lockKey(
  tx: Transaction,
  workspaceId: number,
  name: string,
): Promise<KeyRow | undefined> {
  const rows = await tx.query<KeyRow>(
    `update api_keys set name = name where workspace_id = $1 and name = $2 returning ${KEY_COLUMNS}`,
    [workspaceId, name],
  );
  return rows[0];
}

export async function revokeKey(
  tx: Transaction,
  workspaceId: number,
  keyId: string,
  now: Date,
): Promise<void> {
  await tx.query("update api_keys set revoked_at = $3 where workspace_id = $1 and key_id = $2", [
    workspaceId,
    keyId,
    now,
  ]);
}

export async function deleteKeys(
  tx: Transaction,
  workspaceId: number,
  keyIds: readonly string[],
): Promise<void> {
  await tx.query("delete from api_keys where workspace_id = $1 and key_id = any($2::uuid[])", [
    workspaceId,
    keyIds,
  ]);
}

/** Notes when keys were last used; a key that was noted within the last `perSeconds` stays as it is. */
export async function updateLastSeen(
  database: Queryable,
  sightings: ReadonlyMap<string, Date>,
  perSeconds: number,
): Promise<void> {
  await database.query(
    `update api_keys set last_seen_at = new.at
     from unnest($1::uuid[], $2::timestamptz[]) as new (id, at)
     where key_id = new.id
       and (last_seen_at is null or last_seen_at <= new.at - make_interval(secs => $3::int))`,
    [[...sightings.keys()], [...sightings.values()], perSeconds],
  );
}
