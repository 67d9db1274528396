import { createHash } from "node:crypto";
import { createHolderCache } from "../../core/admin/access/holder-cache.ts";
import { type AuditedChange, recordChanges } from "../../core/admin/audit/audit.ts";
import { hashSecret, newSecret } from "../../core/admin/secrets/secrets.ts";
import type { Clock } from "../../core/base/clock.ts";
import { earlier, later } from "../../core/base/clock.ts";
import type { Context } from "../../core/base/context/context.ts";
import type { Session } from "../../core/base/context/person.ts";
import { Problem } from "../../core/base/problem.ts";
import { type Database, type Transaction, withRetries } from "../../core/database/database.ts";
import { ADMINISTRATOR, personOf } from "./effective-permissions.ts";
import {
  deleteOldestSessions,
  deleteSession,
  deleteSessionsOf,
  insertSession,
  type SessionRow,
  selectActiveUser,
  selectSessions,
  touchSession,
  updateLastSignIn,
} from "./sessions-store.ts";

/*
 * Sessions of the dashboard. The secret of a session is in a cookie of the browser and its hash in the
 * database, so that every server process knows it. Nothing about a session is cached: a removal, a
 * deactivation and a lost permission take effect with the next request. docs/decisions/sign-in.md
 */

export interface SessionSettings {
  /** A session ends after this many minutes without use. */
  readonly sessionIdleMinutes: number;
  /** A session ends after this many hours in any case. */
  readonly sessionHours: number;
}

/** A session that has just begun. */
export interface StartedSession {
  /** For the cookie; it is stored nowhere else. */
  readonly secret: string;
  /** When it ends in any case. */
  readonly expiresAt: Date;
}

export interface Sessions {
  /**
   * The session that a secret opens now, if any.
   *
   * @param isUse whether the person is there: otherwise the session goes idle as if nothing had
   * been requested.
   */
  find(secret: string, isUse: boolean): Promise<Session | undefined>;
  /**
   * Begins a session with a new secret, and audits it.
   *
   * @param userId of a dashboard user; null for the administrator.
   * @param how the person signed in, for the audit.
   */
  start(context: Context, userId: string | null, how: SignInWay): Promise<StartedSession>;
  end(context: Context, session: Session): Promise<void>;
  /** Ends all sessions of the person, in every browser. */
  endAll(context: Context, session: Session): Promise<void>;
}

export type SignInWay =
  | { readonly way: "admin_token" | "oidc" }
  /** `link` names it as the audit entry of its creation does. */
  | { readonly way: "link"; readonly link: string };

/** The sessions of a person at a time: another sign-in ends the least recently used one. */
const MOST_SESSIONS = 100;

/** The time of the last use is written this often at most. */
const TOUCH_EVERY_MS = 60_000;

/** Starts, reads and ends the sessions of dashboard users. */
export function createSessions(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  adminTokenHash: string,
  { sessionIdleMinutes, sessionHours }: SessionSettings,
): Sessions {
  const idleMs = sessionIdleMinutes * 60_000;
  const adminPrint = hashSecret(`administrator's sessions ${adminTokenHash}`);

  async function read(hashes: readonly string[]): Promise<Map<string, SessionRow>> {
    const now = clock.now();
    const idleSince = earlier(now, { ms: idleMs });
    const rows = await selectSessions(database, hashes, { now, idleSince, adminPrint });
    return new Map(rows.map((row) => [row.hash, row]));
  }

  // One statement for all requests that wait, and nothing is cached.
  const holders = createHolderCache(read, 0);

  return {
    async find(secret, isUse) {
      const row = await holders.find(secret);
      if (!row) return undefined;
      const now = clock.now();
      const touchBefore = now.getTime() - Math.min(TOUCH_EVERY_MS, idleMs / 2);
      if (isUse && row.lastUsedAt.getTime() <= touchBefore)
        await touchSession(database, row.hash, now);
      const usedAt = isUse ? now : row.lastUsedAt;
      return sessionOf(row, secret, later(usedAt, { ms: idleMs }));
    },
    async start(context, userId, how) {
      const secret = newSecret("session");
      const now = clock.now();
      const expiresAt = later(now, { hours: sessionHours });
      const hash = hashSecret(secret);
      const ofAdministrator = userId === null ? adminPrint : null;
      await withRetries(database, async (tx) => {
        if (userId !== null && !(await updateLastSignIn(tx, userId, now))) throw noSuchUser();
        await deleteOldestSessions(tx, userId, MOST_SESSIONS - 1);
        await insertSession(tx, { hash, userId, adminPrint: ofAdministrator, now, expiresAt });
        await audit(tx, clock, context, { action: "started", userId, details: { ...how } });
      });
      return { secret, expiresAt };
    },
    async end(context, { id, person }) {
      await withRetries(database, async (tx) => {
        if (await deleteSession(tx, id))
          await audit(tx, clock, context, { action: "ended", userId: person.userId });
      });
    },
    async endAll(context, { person }) {
      await withRetries(database, async (tx) => {
        const sessions = await deleteSessionsOf(tx, person.userId);
        await audit(tx, clock, context, {
          action: "ended",
          userId: person.userId,
          details: { sessions },
        });
      });
    },
  };
}

/** Records that a person's session has begun or ended. */
const audit = (
  tx: Transaction,
  clock: Clock,
  context: Context,
  {
    userId,
    ...change
  }: Pick<AuditedChange, "details"> & { action: "started" | "ended"; userId: string | null },
) =>
  recordChanges(tx, clock, context, [
    { ...change, kind: "dashboard_session", name: userId ?? ADMINISTRATOR.userName },
  ]);

const noSuchUser = () =>
  new Problem("FORBIDDEN", "There is no active dashboard user with this address.");

const sessionOf = (row: SessionRow, secret: string, idleAt: Date): Session => ({
  id: row.hash,
  person:
    row.userId !== null && row.attributes !== null
      ? personOf(row.userId, row.attributes, row.sets ?? {})
      : ADMINISTRATOR,
  csrfToken: csrfTokenOf(secret),
  expiresAt: idleAt < row.expiresAt ? idleAt : row.expiresAt,
});

/** Derived from the secret of the session, which scripts cannot read, and not reversible. */
const csrfTokenOf = (secret: string): string =>
  createHash("sha256").update(`csrf ${secret}`).digest("base64url");

/** The dashboard user who may sign in with this user name, if any. */
export const findActiveUser = (
  { database }: { readonly database: Database },
  userName: string,
): Promise<{ readonly id: string } | undefined> => selectActiveUser(database, userName);
