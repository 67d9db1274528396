import type { Queryable, Transaction } from "../../core/database/database.ts";
import { type UserAttributes, userNameKey, writtenKey } from "./dashboard-user.ts";
import { deleteLinksOf } from "./links-store.ts";
import { deleteSessionsOf } from "./sessions-store.ts";

/* What dashboard users sign in with if they do not use the identity provider. */

/** The dashboard user with a user name, and the hash of their password, null without one. */
export interface PasswordOfUser {
  readonly userId: string;
  readonly isActive: boolean;
  readonly hash: string | null;
}

export async function selectPasswordOfName(
  database: Queryable,
  userName: string,
): Promise<PasswordOfUser | undefined> {
  const written = writtenKey(userName);
  const rows = await database.query<{
    readonly userId: string;
    readonly attributes: UserAttributes;
    readonly key: string;
    readonly hash: string | null;
  }>(
    `select u.user_id as "userId", u.attributes, u.user_name_key as key, p.hash
     from dashboard_users u left join dashboard_passwords p on p.user_id = u.user_id
     where u.user_name_key in ($1, $2)`,
    [userNameKey(userName), written],
  );
  const row = rows.find(({ key }) => key === written) ?? rows[0];
  if (!row) return undefined;
  return { userId: row.userId, hash: row.hash, isActive: row.attributes.active !== false };
}

export async function selectPassword(
  database: Queryable,
  userId: string,
): Promise<{ readonly hash: string; readonly setAt: Date } | undefined> {
  const rows = await database.query<{ hash: string; setAt: Date }>(
    'select hash, set_at as "setAt" from dashboard_passwords where user_id = $1',
    [userId],
  );
  return rows[0];
}

export const upsertPassword = (tx: Transaction, userId: string, hash: string, now: Date) =>
  tx.execute(
    `insert into dashboard_passwords (user_id, hash, set_at) values ($1, $2, $3)
     on conflict (user_id) do update set hash = excluded.hash, set_at = excluded.set_at`,
    [userId, hash, now],
  );

/** @returns whether there was one. */
export const deletePassword = async (tx: Transaction, userId: string) =>
  (await tx.execute("delete from dashboard_passwords where user_id = $1", [userId])) > 0;

export interface StoredPasskey {
  /** As the authenticator names it, in base64url. */
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** COSE, in base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

const PASSKEY_COLUMNS = `passkey_id as id, user_id as "userId", name, public_key as "publicKey", counter,
  transports, created_at as "createdAt", last_used_at as "lastUsedAt"`;

export const selectPasskeysOf = (database: Queryable, userId: string) =>
  database.query<StoredPasskey>(
    `select ${PASSKEY_COLUMNS} from dashboard_passkeys where user_id = $1 order by created_at, passkey_id`,
    [userId],
  );

export async function selectPasskey(database: Queryable, id: string) {
  const rows = await database.query<StoredPasskey>(
    `select ${PASSKEY_COLUMNS} from dashboard_passkeys where passkey_id = $1`,
    [id],
  );
  return rows[0];
}

/** @returns whether it was new. */
export async function insertPasskey(
  tx: Transaction,
  { id, userId, name, publicKey, counter, transports, createdAt }: StoredPasskey,
): Promise<boolean> {
  const rows = await tx.query(
    `insert into dashboard_passkeys
       (passkey_id, user_id, name, public_key, counter, transports, created_at)
     values ($1, $2, $3, $4, $5, $6::text::jsonb, $7)
     on conflict (passkey_id) do nothing returning passkey_id`,
    [id, userId, name, publicKey, counter, JSON.stringify(transports), createdAt],
  );
  return rows.length > 0;
}

export async function updatePasskeyUse(
  tx: Transaction,
  id: string,
  counter: number,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query(
    `update dashboard_passkeys set counter = $2, last_used_at = $3 where passkey_id = $1
     returning passkey_id`,
    [id, counter, now],
  );
  return rows.length > 0;
}

/** @returns its name; undefined if the user has no such passkey. */
export async function deletePasskey(
  tx: Transaction,
  userId: string,
  id: string,
): Promise<string | undefined> {
  const rows = await tx.query<{ name: string }>(
    "delete from dashboard_passkeys where passkey_id = $1 and user_id = $2 returning name",
    [id, userId],
  );
  return rows[0]?.name;
}

/** @returns false if the challenge was answered before. */
export async function insertAnsweredChallenge(
  tx: Transaction,
  hash: string,
  expiresAt: Date,
): Promise<boolean> {
  const rows = await tx.query(
    `insert into answered_challenges (challenge_hash, expires_at) values ($1, $2)
     on conflict (challenge_hash) do nothing returning challenge_hash`,
    [hash, expiresAt],
  );
  return rows.length > 0;
}

export const deleteExpiredChallenges = (database: Queryable, now: Date) =>
  database.execute("delete from answered_challenges where expires_at <= $1", [now]);

/** Ends everything that a user signs in with, and is signed in with. @returns how many sessions ended. */
export async function deleteCredentialsOf(tx: Transaction, userId: string): Promise<number> {
  await tx.query("delete from dashboard_passwords where user_id = $1", [userId]);
  await tx.query("delete from dashboard_passkeys where user_id = $1", [userId]);
  await deleteLinksOf(tx, userId);
  return deleteSessionsOf(tx, userId);
}

/** Whether the company lets people sign in without the identity provider that is set up. */
export async function selectLocalSignIn(database: Queryable): Promise<boolean> {
  const rows = await database.query<{ local: boolean }>("select local from sign_in_settings");
  return rows[0]?.local ?? false;
}

export const upsertLocalSignIn = (tx: Transaction, companyId: string, local: boolean) =>
  tx.execute(
    `insert into sign_in_settings (company_id, local) values ($1, $2)
     on conflict (company_id) do update set local = excluded.local`,
    [companyId, local],
  );
