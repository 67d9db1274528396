import type { Queryable, Transaction } from "../../database/database.ts";
import { listsOf } from "../../database/parameters/lists-of.ts";

/** A stored secret, and until when it is valid; null until it is rotated or revoked. */
export interface StoredSecret {
  readonly hash: string;
  /** ISO 8601, in UTC. */
  readonly until: string | null;
}

export interface OwnedSecret extends StoredSecret {
  readonly ownerId: string;
}

/** @returns the hashes stored: a missing one is in use, or was revoked. */
export async function insertSecrets(
  tx: Transaction,
  secrets: readonly OwnedSecret[],
  now: Date,
): Promise<string[]> {
  const rows = await tx.query<{ hash: string }>(
    `insert into secrets (secret_hash, owner_id, created_at, expires_at)
     select hash, owner_id, $4, expires_at
     from unnest($1::text[], $2::uuid[], $3::timestamptz[]) as new (hash, owner_id, expires_at)
     order by hash
     on conflict do nothing
     returning secret_hash as hash`,
    [...listsOf(secrets, "hash", "ownerId", "until"), now],
  );
  return rows.map((row) => row.hash);
}

/** Ends the newest secret of an owner at `until` and older ones now: at most two are valid at a time. */
export const retireSecrets = (tx: Transaction, ownerId: string, now: Date, until: Date) =>
  tx.execute(
    `update secrets set expires_at = case when expires_at is null then $3 else $2 end
     where owner_id = $1 and (expires_at is null or expires_at > $2)`,
    [ownerId, now, until],
  );

/** Deletes the valid secrets of owners; expired ones stay stored, so that they stay refused. */
export const deleteLiveSecrets = (tx: Transaction, ownerIds: readonly string[], now: Date) =>
  tx.execute(
    `delete from secrets
     where owner_id = any($1::uuid[]) and (expires_at is null or expires_at > $2)`,
    [ownerIds, now],
  );

/** Deletes the valid secrets of all API keys of a workspace; the keys can then be declared elsewhere. */
export const deleteSecretsOfKeys = (tx: Transaction, { id }: { readonly id: number }, now: Date) =>
  tx.execute(
    `delete from secrets
     where owner_id in (select key_id from api_keys where workspace_id = $1)
       and (expires_at is null or expires_at > $2)`,
    [id, now],
  );

/** The hashes of secrets that are valid until they are rotated, by owner. */
export async function selectCurrentHashes(
  database: Queryable,
  ownerIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await database.query<{ ownerId: string; hash: string }>(
    `select owner_id as "ownerId", secret_hash as hash from secrets
     where owner_id = any($1::uuid[]) and expires_at is null`,
    [ownerIds],
  );
  return new Map(rows.map((row) => [row.ownerId, row.hash]));
}

/** When the previous secret of each owner expires, for owners that have one. */
export async function selectOverlaps(
  database: Queryable,
  ownerIds: readonly string[],
  now: Date,
): Promise<Map<string, Date>> {
  const rows = await database.query<{ ownerId: string; until: Date }>(
    `select owner_id as "ownerId", max(expires_at) as until from secrets
     where owner_id = any($1::uuid[]) and expires_at > $2 group by owner_id`,
    [ownerIds, now],
  );
  return new Map(rows.map((row) => [row.ownerId, row.until]));
}

/** Whether one of these hashes belongs to a secret of a key or token, including revoked ones. */
export async function hasSecret(database: Queryable, hashes: readonly string[]): Promise<boolean> {
  const rows = await database.query(
    "select from secrets where secret_hash = any($1::text[]) limit 1",
    [hashes],
  );
  return rows.length > 0;
}
