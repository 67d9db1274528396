import { createHash } from "node:crypto";
import { createHolderCache } from "../../core/admin/access/holder-cache.ts";
import { type AuditedChange, recordChanges } from "../../core/admin/audit/audit.ts";
import { adminPrintOf, hashSecret, newSecret } from "../../core/admin/secrets/secrets.ts";
import type { Clock } from "../../core/base/clock.ts";
import { earlier, later } from "../../core/base/clock.ts";
import type { Context } from "../../core/base/context/context.ts";
import type { DashboardPerson, Session } from "../../core/base/context/person.ts";
import type { OidcSettings } from "../../core/base/oidc-settings.ts";
import { Problem } from "../../core/base/problem.ts";
import { type Database, type Transaction, withRetries } from "../../core/database/database.ts";
import { ADMINISTRATOR, personOf } from "./effective-permissions.ts";
import {
  deleteOldestSessions,
  deleteSession,
  deleteSessionOf,
  deleteSessionsOf,
  insertSession,
  type SessionRow,
  selectActiveUser,
  selectSessions,
  selectSessionsOf,
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
  /** The identity provider; undefined if none is set up. */
  readonly oidc: OidcSettings | undefined;
}

export interface StartedSession {
  /** For the cookie; it is stored nowhere else. */
  readonly secret: string;
  /** When it ends in any case. */
  readonly expiresAt: Date;
}

export type Sessions = ReturnType<typeof createSessions>;

export interface SignInWay {
  readonly way: "admin_token" | "oidc" | "link" | "invitation" | "password" | "passkey";
  /** Names a link as the audit entry of its creation does. */
  readonly link?: string;
  readonly userAgent?: string | undefined;
  /** Of the administrator: see `Context`. */
  readonly adminPrint?: string | null;
}

/** Ways that are off while an identity provider is set up, unless the company turns them on. */
const LOCAL_WAYS: ReadonlySet<string | null> = new Set(["invitation", "password", "passkey"]);

/** The sessions of a person at a time: another sign-in ends the least recently used one. */
const MOST_SESSIONS = 100;

/** The time of the last use is written this often at most. */
const TOUCH_EVERY_MS = 60_000;

export function createSessions(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  adminTokenHashes: readonly string[],
  { sessionIdleMinutes, sessionHours, oidc }: SessionSettings,
) {
  const idleMs = sessionIdleMinutes * 60_000;
  const adminPrints = adminTokenHashes.map(adminPrintOf);

  async function read(hashes: readonly string[]): Promise<Map<string, SessionRow>> {
    const rows = await selectSessions(database, hashes, since());
    return new Map(rows.map((row) => [row.hash, row]));
  }

  // One statement for all requests that wait, and nothing is cached.
  const holders = createHolderCache(read, 0);

  const since = () => {
    const now = clock.now();
    return { now, idleSince: earlier(now, { ms: idleMs }), adminPrints };
  };

  return {
    /** The admin tokens that this server accepts, its own first: what the administrator made with another has ended. */
    adminPrints,
    /**
     * The session that a secret opens now, if any.
     *
     * @param isUse whether the person is there: otherwise the session goes idle as if nothing had
     * been requested.
     */
    async find(secret: string, isUse: boolean) {
      const row = await holders.find(secret);
      if (!row || (oidc && !row.isLocalOn && LOCAL_WAYS.has(row.way))) return undefined;
      const now = clock.now();
      const touchBefore = now.getTime() - Math.min(TOUCH_EVERY_MS, idleMs / 2);
      if (isUse && row.lastUsedAt.getTime() <= touchBefore)
        await touchSession(database, row.hash, now);
      const usedAt = isUse ? now : row.lastUsedAt;
      return sessionOf(row, secret, later(usedAt, { ms: idleMs }));
    },
    /**
     * Begins a session with a new secret, and audits it.
     *
     * @param userId of a dashboard user; null for the administrator.
     * @param how the person signed in, for the audit.
     * @param isStillGood whether what was presented is still valid, once the user is locked.
     * @throws Problem FORBIDDEN for a user who is not active; UNAUTHENTICATED if what was presented has ended meanwhile.
     */
    async start(
      context: Context,
      userId: string | null,
      { userAgent, adminPrint = null, ...how }: SignInWay,
      isStillGood?: (tx: Transaction) => Promise<boolean>,
    ): Promise<StartedSession> {
      const secret = newSecret("session");
      const now = clock.now();
      const expiresAt = later(now, { hours: sessionHours });
      await withRetries(database, async (tx) => {
        const userName = userId === null ? null : await updateLastSignIn(tx, userId, now);
        if (userName === undefined) throw noSuchUser();
        if (isStillGood && !(await isStillGood(tx))) throw hasEnded();
        await deleteOldestSessions(tx, userId, MOST_SESSIONS - 1);
        await insertSession(tx, {
          ...{ hash: hashSecret(secret), userId, now, expiresAt, way: how.way },
          adminPrint,
          address: context.address,
          browser: browserOf(userAgent),
        });
        await audit(tx, clock, signedIn(context, userName), {
          action: "started",
          userId,
          details: { ...how, ...(userName !== null && { user_name: userName }) },
        });
      });
      return { secret, expiresAt };
    },
    async end(context: Context, { id, person }: Session) {
      await withRetries(database, async (tx) => {
        if (await deleteSession(tx, id))
          await audit(tx, clock, context, { action: "ended", ...namesOf(person) });
      });
    },
    /** The sessions of a dashboard user, or of the administrator, that have not ended. */
    list: (userId: string | null) => selectSessionsOf(database, userId, since()),
    /**
     * Ends one of a person's sessions.
     *
     * @param start of its hash.
     * @returns whether there was one.
     */
    endOne(context: Context, userId: string | null, start: string) {
      return withRetries(database, async (tx) => {
        const isEnded = await deleteSessionOf(tx, userId, start);
        if (isEnded) await audit(tx, clock, context, { action: "ended", userId });
        return isEnded;
      });
    },
    /** Ends all sessions of the person, in every browser. */
    async endAll(context: Context, { person }: Session) {
      await withRetries(database, async (tx) => {
        const sessions = await deleteSessionsOf(tx, person.userId);
        await audit(tx, clock, context, {
          action: "ended",
          ...namesOf(person, { sessions }),
        });
      });
    },
  };
}

/** The caller once they have signed in: the audit says who, not "anybody". */
const signedIn = (context: Context, userName: string | null): Context =>
  userName === null
    ? { ...context, actor: "administrator", actorName: null }
    : { ...context, actor: "dashboard_user", actorName: userName };

/** The browsers and systems that a list of sessions names, the first that fits; others have these words too. */
const BROWSERS = [
  ["Edge", /Edg/],
  ["Opera", /OPR\//],
  ["Firefox", /Firefox\/|FxiOS/],
  ["Chrome", /Chrom|CriOS/],
  ["Safari", /Safari\//],
] as const;
const SYSTEMS = [
  ["iPhone", /iPhone/],
  ["iPad", /iPad/],
  ["Android", /Android/],
  ["Windows", /Windows/],
  ["macOS", /Mac OS X|Macintosh/],
  ["Linux", /Linux|X11/],
] as const;

/** Such as `Firefox on Windows`; null for a program that is no known browser. The whole text would identify the device. */
function browserOf(userAgent = ""): string | null {
  const nameIn = (list: readonly (readonly [string, RegExp])[]) =>
    list.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  return browser ? `${browser}${system ? ` on ${system}` : ""}` : null;
}

const namesOf = ({ userId, userName }: DashboardPerson, details?: object) => ({
  userId,
  details: userId === null ? details && { ...details } : { ...details, user_name: userName },
});

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

const hasEnded = () =>
  new Problem("UNAUTHENTICATED", "What you signed in with has ended meanwhile. Try again.");

const sessionOf = (row: SessionRow, secret: string, idleAt: Date): Session => ({
  id: row.hash,
  way: row.way,
  person:
    row.userId !== null && row.attributes !== null
      ? personOf(row.userId, row.attributes, row.sets ?? {})
      : ADMINISTRATOR,
  ...(row.adminPrint !== null && { adminPrint: row.adminPrint }),
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
