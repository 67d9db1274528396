import type { FailedAttempts } from "../../core/admin/access/failed-attempts.ts";
import { recordChanges } from "../../core/admin/audit/audit.ts";
import { hashSecret, newSecret } from "../../core/admin/secrets/secrets.ts";
import type { Clock } from "../../core/base/clock.ts";
import { later } from "../../core/base/clock.ts";
import type { Context } from "../../core/base/context/context.ts";
import { type Database, withRetries } from "../../core/database/database.ts";
import type { Sessions, StartedSession } from "../dashboard-users/feature.ts";
import { ADMINISTRATOR } from "../dashboard-users/feature.ts";
import { deleteLink, insertLink } from "./links-store.ts";

/*
 * A link that signs in its maker, once: the administrator, in the first minutes of a server and if
 * there is no identity provider, or the dashboard user who made it. Removing that user therefore
 * ends the session that the link began. Only its hash is stored, so that it works on every server
 * process.
 */

export interface LinkServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly failedAttempts: FailedAttempts;
}

const LINK_MINUTES = 15;

export interface SignInLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/** @param baseUrl where people reach the server. */
export async function createSignInLink(
  { database, clock }: Pick<LinkServices, "database" | "clock">,
  context: Context,
  baseUrl: string,
): Promise<SignInLink> {
  const token = newSecret("link");
  const hash = hashSecret(token);
  const userId = context.person?.userId ?? null;
  const expiresAt = later(clock.now(), { minutes: LINK_MINUTES });
  const created = {
    action: "created",
    kind: "sign_in_link",
    name: userId ?? ADMINISTRATOR.userName,
    details: { link: nameOf(hash) },
  };
  await withRetries(database, async (tx) => {
    await insertLink(tx, hash, expiresAt, userId);
    await recordChanges(tx, clock, context, [created]);
  });
  return { url: `${baseUrl}/dashboard/sign-in?token=${token}`, expiresAt };
}

/** Names a link and its session in the audit; the token cannot be derived from it. */
const nameOf = (hash: string): string => hash.slice(0, 16);

/**
 * Signs in the person who made the link.
 *
 * @throws Problem UNAUTHENTICATED for a link that was used or has expired; FORBIDDEN if its maker was removed.
 */
export async function followSignInLink(
  { database, clock, sessions, failedAttempts }: LinkServices,
  context: Context,
  token: string,
): Promise<StartedSession> {
  failedAttempts.refuseLocked("link", context.address ?? "");
  const hash = hashSecret(token);
  const link = await deleteLink(database, hash, clock.now());
  if (!link) throw failedAttempts.refuse("link", context.address ?? "");
  return sessions.start(context, link.userId, { way: "link", link: nameOf(hash) });
}
