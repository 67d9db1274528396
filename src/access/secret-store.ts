import type { Queryable, Transaction } from "../database/database.ts";

/** A secret as it is kept, and how long it is good for; null until it is rotated or revoked. */
export interface StoredSecret {
  readonly hash: string;
  /** ISO 8601, in UTC. */
  readonly until: string | null;
}

/** A secret of an owner: an API key. */
export interface OwnedSecret extends StoredSecret {
  readonly ownerId: string;
}

/**
 * Keeps new secrets.
 *
 * @returns the hashes kept: one that is missing opens something already, or did once.
 */
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
    [
      secrets.map((secret) => secret.hash),
      secrets.map((secret) => secret.ownerId),
      secrets.map((secret) => secret.until),
      now,
    ],
  );
  return rows.map((row) => row.hash);
}

/**
 * Lets the newest secret of an owner be good until `until`, and older ones no more: at most two are
 * ever good at a time.
 */
export async function retireSecrets(
  tx: Transaction,
  ownerId: string,
  now: Date,
  until: Date,
): Promise<void> {
  await tx.query(
    `update secrets set expires_at = case when expires_at is null then $3 else $2 end
     where owner_id = $1 and (expires_at is null or expires_at > $2)`,
    [ownerId, now, until],
  );
}

/** Forgets the secrets that are good now; those that have expired stay, so that they stay refused. */
export async function deleteLiveSecrets(
  tx: Transaction,
  ownerIds: readonly string[],
  now: Date,
): Promise<void> {
  await tx.query(
    `delete from secrets
     where owner_id = any($1::uuid[]) and (expires_at is null or expires_at > $2)`,
    [ownerIds, now],
  );
}

/** When the older secret of each owner stops being good, for those that have one. */
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
