import type { Queryable, Transaction } from "../../database/database.ts";

export async function insertLink(tx: Transaction, hash: string, expiresAt: Date): Promise<void> {
  await tx.query("insert into sign_in_links (link_hash, expires_at) values ($1, $2)", [
    hash,
    expiresAt,
  ]);
}

/** @returns whether there was a link with this hash that had not expired. */
export async function deleteLink(database: Queryable, hash: string, now: Date): Promise<boolean> {
  const rows = await database.query(
    "delete from sign_in_links where link_hash = $1 and expires_at > $2 returning link_hash",
    [hash, now],
  );
  return rows.length > 0;
}

export async function deleteExpiredLinks(database: Queryable, now: Date): Promise<void> {
  await database.query("delete from sign_in_links where expires_at <= $1", [now]);
}
