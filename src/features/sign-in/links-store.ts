import type { Queryable, Transaction } from "../../core/database/database.ts";

/** @param userId the id of the dashboard user who is signed in; null for the administrator. */
export async function insertLink(
  tx: Transaction,
  hash: string,
  expiresAt: Date,
  userId: string | null,
): Promise<void> {
  await tx.query(
    "insert into sign_in_links (link_hash, expires_at, user_id) values ($1, $2, $3::uuid)",
    [hash, expiresAt, userId],
  );
}

/**
 * @returns the user of the link with this hash; undefined if there is none that has not expired.
 */
export async function deleteLink(
  database: Queryable,
  hash: string,
  now: Date,
): Promise<{ readonly userId: string | null } | undefined> {
  const rows = await database.query<{ userId: string | null }>(
    `delete from sign_in_links where link_hash = $1 and expires_at > $2
     returning user_id as "userId"`,
    [hash, now],
  );
  return rows[0];
}

export async function deleteExpiredLinks(database: Queryable, now: Date): Promise<void> {
  await database.query("delete from sign_in_links where expires_at <= $1", [now]);
}
