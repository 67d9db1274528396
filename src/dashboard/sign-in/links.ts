import type { FailedAttempts } from "../../admin/access/failed-attempts.ts";
import { recordChanges } from "../../admin/audit/audit.ts";
import { hashSecret, newSecret } from "../../admin/secrets/secrets.ts";
import type { Clock } from "../../base/clock.ts";
import { later } from "../../base/clock.ts";
import type { Context } from "../../base/context/context.ts";
import { type Database, withRetries } from "../../database/database.ts";
import type { Sessions, StartedSession } from "../users/sessions.ts";
import { deleteLink, insertLink } from "./links-store.ts";

/*
 * A link that signs in as the administrator, once: for the first minutes of a server, and where there is no
 * identity provider. Only its hash is stored, so that it works on every server process.
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
  const expiresAt = later(clock.now(), { minutes: LINK_MINUTES });
  const created = { action: "created", kind: "sign_in_link", name: "administrator" };
  await withRetries(database, async (tx) => {
    await insertLink(tx, hashSecret(token), expiresAt);
    await recordChanges(tx, clock, context, [created]);
  });
  return { url: `${baseUrl}/dashboard/sign-in?token=${token}`, expiresAt };
}

/** Signs in as the administrator. @throws Problem UNAUTHENTICATED for a link that was used or has expired. */
export async function followSignInLink(
  { database, clock, sessions, failedAttempts }: LinkServices,
  context: Context,
  token: string,
): Promise<StartedSession> {
  failedAttempts.refuseLocked("link", context.address ?? "");
  if (!(await deleteLink(database, hashSecret(token), clock.now()))) {
    throw failedAttempts.refuse("link", context.address ?? "");
  }
  return sessions.start(context, null, "link");
}
