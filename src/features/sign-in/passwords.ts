import { type AuditedChange, recordChanges } from "../../core/admin/audit/audit.ts";
import { createAllowance } from "../../core/base/allowance.ts";
import type { Context, SessionContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { sha256 } from "../../core/base/values/hashes.ts";
import { type Transaction, withRetries } from "../../core/database/database.ts";
import { networkOf } from "../../core/outbound/networks.ts";
import {
  endInvitations,
  endOtherSessions,
  findPasswordOf,
  lockSignedIn,
  readPassword,
  removePassword,
  type StartedSession,
  savePassword,
  userNameKey,
} from "../dashboard-users/feature.ts";
import type { LinkServices } from "./links.ts";
import { normalPassword, type PasswordHashes, refuseWeakPassword } from "./password-hashes.ts";

export interface PasswordServices extends LinkServices {
  readonly passwordHashes: PasswordHashes;
  readonly passwordGuesses: PasswordGuesses;
}

const GUESSES_AN_HOUR = 20;

/** An allowance counts by the minute. */
const MINUTES_OF_HOUR = 60;

const MOST_NAMES = 50_000;

export type PasswordGuesses = ReturnType<typeof createPasswordGuesses>;

/** Limits guesses at one person's password, from whatever addresses they come. */
export function createPasswordGuesses(nowMs = () => performance.now()) {
  const allowance = createAllowance(MOST_NAMES, () => nowMs() / MINUTES_OF_HOUR);
  const keyOf = (userName: string) => sha256(userNameKey(userName));
  return {
    /** Counts a guess. @throws Problem RATE_LIMITED; whether the person exists makes no difference. */
    count(userName: string) {
      const seconds = allowance.take(keyOf(userName), GUESSES_AN_HOUR);
      if (seconds === 0) return;
      throw new Problem("RATE_LIMITED", "Too many passwords were tried for this email address.", {
        retryAfterSeconds: seconds * MINUTES_OF_HOUR,
      });
    },
    forget: (userName: string) => allowance.forget(keyOf(userName)),
  };
}

/**
 * Signs in with a password. Every refusal is the same and takes as long, whether or not there is a person with the name.
 *
 * @throws Problem UNAUTHENTICATED; RATE_LIMITED after too many wrong ones for this name or from this address; FORBIDDEN if people
 *   sign in with an identity provider only.
 */
export async function signInWithPassword(
  services: PasswordServices,
  context: Context,
  { userName, password }: { readonly userName: string; readonly password: string },
  userAgent: string | undefined,
): Promise<StartedSession> {
  const { database, sessions, failedAttempts, localSignIn, passwordHashes } = services;
  const from = context.address ?? "";
  failedAttempts.refuseLocked("password", from);
  if (!(await localSignIn.isOn())) throw localSignIn.off("FORBIDDEN");
  services.passwordGuesses.count(userName);
  const found = await findPasswordOf(database, userName);
  const hash = found?.isActive ? (found.hash ?? undefined) : undefined;
  const isRight = await passwordHashes.verify(networkOf(from), normalPassword(password), hash);
  if (!found || !isRight) throw failedAttempts.refuse("password", from);
  services.passwordGuesses.forget(userName);
  const isUnchanged = async (tx: Transaction) =>
    (await readPassword(tx, found.userId))?.hash === hash;
  return sessions.start(context, found.userId, { way: "password", userAgent }, isUnchanged);
}

/**
 * Checks that the person of a session is there before what they sign in with changes: whoever has a password says it, unless the
 * session began with an invitation. Who finds an open browser can otherwise keep the account.
 *
 * @throws Problem FORBIDDEN for a wrong or missing password, and for the administrator, who has the admin token; RATE_LIMITED.
 */
export async function confirmPerson(
  services: PasswordServices,
  { session, address }: SessionContext,
  currentPassword: string | undefined,
): Promise<string> {
  const { userId, userName } = session.person;
  if (userId === null) {
    throw new Problem("FORBIDDEN", "The administrator signs in with the admin token or a link.");
  }
  if (!(await services.localSignIn.isOn())) throw services.localSignIn.off("FORBIDDEN");
  const present = await readPassword(services.database, userId);
  if (!present || session.way === "invitation") return userId;
  if (currentPassword === undefined) {
    throw new Problem("FORBIDDEN", "'current_password' is required: you have a password.");
  }
  services.passwordGuesses.count(userName);
  const owner = networkOf(address ?? "");
  const given = normalPassword(currentPassword);
  if (!(await services.passwordHashes.verify(owner, given, present.hash))) {
    throw new Problem("FORBIDDEN", "'current_password' is wrong.");
  }
  services.passwordGuesses.forget(userName);
  return userId;
}

/**
 * Sets or changes the password of the person of a session. It ends their other sessions, and the invitations for them.
 *
 * @throws Problem as `confirmPerson` does; INVALID_REQUEST for a password that is too short, too long or guessed first.
 */
export async function changePassword(
  services: PasswordServices,
  context: SessionContext,
  {
    password,
    currentPassword,
  }: {
    readonly password: string;
    readonly currentPassword: string | undefined;
  },
): Promise<void> {
  const { person, id } = context.session;
  const wanted = normalPassword(password);
  refuseWeakPassword(wanted, person.userName);
  const userId = await confirmPerson(services, context, currentPassword);
  const { database, clock, passwordHashes } = services;
  const hash = await passwordHashes.hash(networkOf(context.address ?? ""), wanted);
  await withRetries(database, async (tx) => {
    await lockSignedIn(tx, userId, id);
    await savePassword(tx, userId, hash, clock.now());
    await endOtherSessions(tx, userId, id);
    await endInvitations(tx, userId);
    await recordChanges(tx, clock, context, [changeOf(context, "dashboard_password", "updated")]);
  });
}

/** A change to what the person of a session signs in with, for the audit. */
export const changeOf = (
  { session }: SessionContext,
  kind: "dashboard_password" | "dashboard_passkey",
  action: string,
  details: object = {},
): AuditedChange => ({
  action,
  kind,
  name: session.person.userId ?? "",
  details: { user_name: session.person.userName, ...details },
});

/** Removes the password of the person of a session. @throws Problem as `confirmPerson` does; NOT_FOUND. */
export async function dropPassword(
  services: PasswordServices,
  context: SessionContext,
  currentPassword: string | undefined,
): Promise<void> {
  const userId = await confirmPerson(services, context, currentPassword);
  const { database, clock } = services;
  await withRetries(database, async (tx) => {
    if (!(await removePassword(tx, userId))) {
      throw new Problem("NOT_FOUND", "You have no password.");
    }
    await recordChanges(tx, clock, context, [changeOf(context, "dashboard_password", "removed")]);
  });
}
