import type { Queryable, Transaction } from "../../core/database/database.ts";
import { type UserAttributes, userNameKey, writtenKey } from "./dashboard-user.ts";
import type { PermissionSets } from "./effective-permissions.ts";

/** A session that has not ended, with its dashboard user. */
export interface SessionRow {
  readonly hash: string;
  readonly lastUsedAt: Date;
  readonly expiresAt: Date;
  /** Null in a session of the administrator. */
  readonly userId: string | null;
  readonly attributes: UserAttributes | null;
  readonly sets: PermissionSets | null;
}

/**
 * The sessions with these hashes that have not ended: neither expired nor idle, of a user who still exists and
 * is active, or of the administrator with this print of the admin token.
 */
export async function selectSessions(
  database: Queryable,
  hashes: readonly string[],
  { now, idleSince, adminPrint }: { now: Date; idleSince: Date; adminPrint: string },
): Promise<SessionRow[]> {
  const rows = await database.query<SessionRow>(
    `select s.session_hash as hash, s.last_used_at as "lastUsedAt", s.expires_at as "expiresAt",
       s.user_id as "userId", u.attributes,
       (select jsonb_object_agg(p.name, p.permissions) from permission_sets p
        where p.company_id = u.company_id) as sets
     from dashboard_sessions s left join dashboard_users u on u.user_id = s.user_id
     where s.session_hash = any($1::text[]) and s.expires_at > $2 and s.last_used_at > $3
       and (u.user_id is not null or (s.user_id is null and s.admin_print = $4))`,
    [hashes, now, idleSince, adminPrint],
  );
  return rows.filter(({ attributes }) => attributes?.active !== false);
}

export async function insertSession(
  tx: Transaction,
  session: {
    readonly hash: string;
    readonly userId: string | null;
    readonly adminPrint: string | null;
    readonly now: Date;
    readonly expiresAt: Date;
  },
): Promise<void> {
  const { hash, userId, adminPrint, now, expiresAt } = session;
  await tx.query(
    `insert into dashboard_sessions
       (session_hash, user_id, admin_print, created_at, last_used_at, expires_at)
     values ($1, $2, $3, $4, $4, $5)`,
    [hash, userId, adminPrint, now, expiresAt],
  );
}

/** Records a use, which postpones the end of the session. */
export async function touchSession(database: Queryable, hash: string, now: Date): Promise<void> {
  await database.query("update dashboard_sessions set last_used_at = $2 where session_hash = $1", [
    hash,
    now,
  ]);
}

/** @returns whether the session was there. */
export async function deleteSession(tx: Transaction, hash: string): Promise<boolean> {
  const rows = await tx.query(
    "delete from dashboard_sessions where session_hash = $1 returning session_hash",
    [hash],
  );
  return rows.length > 0;
}

/** The id of a dashboard user; null for the administrator. @returns how many there were. */
export async function deleteSessionsOf(tx: Transaction, userId: string | null): Promise<number> {
  const rows = await tx.query(
    `delete from dashboard_sessions where user_id is not distinct from $1::uuid
     returning session_hash`,
    [userId],
  );
  return rows.length;
}

/** Leaves the sessions of a person, null for the administrator, that were used last. */
export async function deleteOldestSessions(
  tx: Transaction,
  userId: string | null,
  left: number,
): Promise<void> {
  await tx.query(
    `delete from dashboard_sessions where session_hash in (
       select session_hash from dashboard_sessions where user_id is not distinct from $1::uuid
       order by last_used_at desc, session_hash offset $2)`,
    [userId, left],
  );
}

export async function deleteExpiredSessions(database: Queryable, now: Date): Promise<void> {
  await database.query("delete from dashboard_sessions where expires_at <= $1", [now]);
}

/**
 * Locks the user, so that a session begins before they are removed or deactivated, or not at all.
 *
 * @returns whether there is an active user with this id.
 */
export async function updateLastSignIn(
  tx: Transaction,
  userId: string,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query<{ attributes: UserAttributes }>(
    "update dashboard_users set last_sign_in_at = $2 where user_id = $1 returning attributes",
    [userId, now],
  );
  return rows.some(({ attributes }) => attributes.active !== false);
}

/** The active dashboard user with this user name. */
export async function selectActiveUser(
  database: Queryable,
  userName: string,
): Promise<{ id: string } | undefined> {
  const written = writtenKey(userName);
  const found = await database.query<{ id: string; attributes: UserAttributes; key: string }>(
    `select user_id as id, attributes, user_name_key as key from dashboard_users
     where user_name_key in ($1, $2)`,
    [userNameKey(userName), written],
  );
  // One with the name as it is written is that person, active or not.
  const exact = found.filter(({ key }) => key === written);
  const rows = exact.length > 0 ? exact : found;
  return rows.find(({ attributes }) => attributes.active !== false);
}
