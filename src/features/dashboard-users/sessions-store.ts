import { Problem } from "../../core/base/problem.ts";
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
  /** Null in a session of a dashboard user. */
  readonly adminPrint: string | null;
  /** How the person signed in; null in sessions of earlier versions. */
  readonly way: string | null;
  /** Whether the company lets people sign in without its identity provider. */
  readonly isLocalOn: boolean;
}

/** Which sessions have not ended. */
interface Since {
  readonly now: Date;
  readonly idleSince: Date;
  readonly adminPrints: readonly string[];
}

/** The permission sets that a user `u` names, by their names: a company may have many more. */
const SETS_OF_USER = `(select jsonb_object_agg(p.name, p.permissions) from permission_sets p
  where p.company_id = u.company_id and p.name in (
    select jsonb_path_query(u.attributes::jsonb,
      '$.permissions.appGroup[*].appGroupPermissionSets[*].appGroupPermissionSetName') #>> '{}'))`;

/**
 * The sessions with these hashes that have not ended: neither expired nor idle, of a user who still exists and
 * is active, or of the administrator with one of these prints of admin tokens.
 */
export async function selectSessions(
  database: Queryable,
  hashes: readonly string[],
  { now, idleSince, adminPrints }: Since,
) {
  const rows = await database.query<SessionRow>(
    `select s.session_hash as hash, s.last_used_at as "lastUsedAt", s.expires_at as "expiresAt",
       s.user_id as "userId", s.admin_print as "adminPrint", u.attributes,
       ${SETS_OF_USER} as sets, s.way,
       coalesce((select local from sign_in_settings limit 1), false) as "isLocalOn"
     from dashboard_sessions s left join dashboard_users u on u.user_id = s.user_id
     where s.session_hash = any($1::text[]) and s.expires_at > $2 and s.last_used_at > $3
       and (u.user_id is not null or (s.user_id is null and s.admin_print = any($4::text[])))`,
    [hashes, now, idleSince, adminPrints],
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
    readonly way: string;
    readonly address: string | null;
    readonly browser: string | null;
  },
): Promise<void> {
  const { hash, userId, adminPrint, now, expiresAt, way, address, browser } = session;
  await tx.query(
    `insert into dashboard_sessions (session_hash, user_id, admin_print, created_at, last_used_at,
       expires_at, way, address, browser)
     values ($1, $2, $3, $4, $4, $5, $6, $7, $8)`,
    [hash, userId, adminPrint, now, expiresAt, way, address, browser],
  );
}

export interface ListedSession {
  readonly hash: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly way: string | null;
  readonly address: string | null;
  readonly browser: string | null;
}

/** The sessions of a person that have not ended, the latest used first. @param userId null: the administrator. */
export const selectSessionsOf = (
  database: Queryable,
  userId: string | null,
  { now, idleSince, adminPrints }: Since,
) =>
  database.query<ListedSession>(
    `select session_hash as hash, created_at as "createdAt", last_used_at as "lastUsedAt", way, address, browser
     from dashboard_sessions
     where user_id is not distinct from $1::uuid and expires_at > $2 and last_used_at > $3
       and (user_id is not null or admin_print = any($4::text[]))
     order by last_used_at desc, session_hash`,
    [userId, now, idleSince, adminPrints],
  );

/** Ends the session of a person whose hash begins so. @returns whether there was one. */
export async function deleteSessionOf(
  tx: Transaction,
  userId: string | null,
  start: string,
): Promise<boolean> {
  const rows = await tx.query(
    `delete from dashboard_sessions where user_id is not distinct from $1::uuid
       and starts_with(session_hash, $2) returning session_hash`,
    [userId, start],
  );
  return rows.length > 0;
}

export const deleteOtherSessions = (tx: Transaction, userId: string, kept: string) =>
  tx.execute("delete from dashboard_sessions where user_id = $1 and session_hash <> $2", [
    userId,
    kept,
  ]);

/** Records a use, which postpones the end of the session. */
export const touchSession = (database: Queryable, hash: string, now: Date) =>
  database.execute("update dashboard_sessions set last_used_at = $2 where session_hash = $1", [
    hash,
    now,
  ]);

/** @returns whether the session was there. */
export const deleteSession = async (tx: Transaction, hash: string) =>
  (await tx.execute("delete from dashboard_sessions where session_hash = $1", [hash])) > 0;

/** The id of a dashboard user; null for the administrator. @returns how many there were. */
export const deleteSessionsOf = (tx: Transaction, userId: string | null) =>
  tx.execute("delete from dashboard_sessions where user_id is not distinct from $1::uuid", [
    userId,
  ]);

/** Leaves the sessions of a person, null for the administrator, that were used last. */
export const deleteOldestSessions = (tx: Transaction, userId: string | null, left: number) =>
  tx.execute(
    `delete from dashboard_sessions where session_hash in (
       select session_hash from dashboard_sessions where user_id is not distinct from $1::uuid
       order by last_used_at desc, session_hash offset $2)`,
    [userId, left],
  );

export const deleteExpiredSessions = (database: Queryable, now: Date) =>
  database.execute("delete from dashboard_sessions where expires_at <= $1", [now]);

/**
 * Locks the user, so that a session begins before they are removed or deactivated, or not at all.
 *
 * @returns the user name, if there is an active user with this id.
 */
export async function updateLastSignIn(
  tx: Transaction,
  userId: string,
  now: Date,
): Promise<string | undefined> {
  const rows = await tx.query<{ attributes: UserAttributes }>(
    "update dashboard_users set last_sign_in_at = $2 where user_id = $1 returning attributes",
    [userId, now],
  );
  return rows.find(({ attributes }) => attributes.active !== false)?.attributes.userName;
}

/** The attributes of a user who is active, locked until the transaction ends; and the permission sets that they name. */
export async function lockActiveUser(
  tx: Transaction,
  userId: string,
): Promise<{ readonly attributes: UserAttributes; readonly sets: PermissionSets } | undefined> {
  const rows = await tx.query<{ attributes: UserAttributes; sets: PermissionSets | null }>(
    `update dashboard_users u set updated_at = updated_at where user_id = $1 returning attributes,
       ${SETS_OF_USER} as sets`,
    [userId],
  );
  const [row] = rows.filter(({ attributes }) => attributes.active !== false);
  return row && { attributes: row.attributes, sets: row.sets ?? {} };
}

/**
 * Locks a user who is signed in, so that their credentials change before they are ended, or not at all.
 *
 * @throws Problem UNAUTHENTICATED if the session has ended.
 */
export async function lockSignedIn(
  tx: Transaction,
  userId: string,
  sessionHash: string,
): Promise<void> {
  const user = await lockActiveUser(tx, userId);
  const sessions = await tx.query("select from dashboard_sessions where session_hash = $1", [
    sessionHash,
  ]);
  if (user && sessions.length > 0) return;
  throw new Problem("UNAUTHENTICATED", "You are not signed in, or the session has ended.");
}

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
