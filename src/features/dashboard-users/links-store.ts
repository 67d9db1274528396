import type { Queryable, Transaction } from "../../core/database/database.ts";

export interface StoredLink {
  /** The dashboard user whom it signs in; null: the administrator. */
  readonly userId: string | null;
  readonly isInvitation: boolean;
  /** The dashboard user who made an invitation; null: the administrator. */
  readonly madeBy: string | null;
  /** Of the admin token with which the administrator made it; null in links of people and of earlier versions. */
  readonly adminPrint: string | null;
}

export const insertLink = (
  tx: Transaction,
  {
    hash,
    expiresAt,
    userId,
    isInvitation,
    madeBy,
    adminPrint,
  }: StoredLink & {
    readonly hash: string;
    readonly expiresAt: Date;
  },
) =>
  tx.execute(
    `insert into sign_in_links (link_hash, expires_at, user_id, is_invitation, made_by, admin_print)
     values ($1, $2, $3::uuid, $4, $5::uuid, $6)`,
    [hash, expiresAt, userId, isInvitation, madeBy, adminPrint],
  );

/** @returns the link with this hash; undefined if there is none that has not expired. */
export async function selectLink(database: Queryable, hash: string, now: Date) {
  const rows = await database.query<StoredLink>(
    `select user_id as "userId", is_invitation as "isInvitation", made_by as "madeBy",
       admin_print as "adminPrint"
     from sign_in_links where link_hash = $1 and expires_at > $2`,
    [hash, now],
  );
  return rows[0];
}

/** @returns whether the link was there. */
export const deleteLink = async (tx: Transaction, hash: string) =>
  (await tx.execute("delete from sign_in_links where link_hash = $1", [hash])) > 0;

/** The latest invitation of a user that can still be used. */
export async function selectInvitation(
  database: Queryable,
  userId: string,
  now: Date,
): Promise<{ readonly expiresAt: Date } | undefined> {
  const rows = await database.query<{ expiresAt: Date }>(
    `select expires_at as "expiresAt" from sign_in_links
     where user_id = $1 and is_invitation and expires_at > $2 order by expires_at desc limit 1`,
    [userId, now],
  );
  return rows[0];
}

/** Ends the invitations of a user. @returns how many there were. */
export const deleteInvitations = (tx: Transaction, userId: string) =>
  tx.execute("delete from sign_in_links where user_id = $1 and is_invitation", [userId]);

/** Ends every link of a user, and the invitations that the user made. */
export const deleteLinksOf = (tx: Transaction, userId: string) =>
  tx.execute("delete from sign_in_links where user_id = $1 or made_by = $1", [userId]);

export const deleteExpiredLinks = (database: Queryable, now: Date) =>
  database.execute("delete from sign_in_links where expires_at <= $1", [now]);
