import type { FailedAttempts } from "../../admin/access/failed-attempts.ts";
import { hasHash } from "../../admin/secrets/secrets.ts";
import type { Context } from "../../base/context/context.ts";
import type { Session } from "../../base/context/person.ts";
import type { Sessions, StartedSession } from "../users/sessions.ts";

export interface AdminTokenServices {
  readonly sessions: Sessions;
  readonly failedAttempts: FailedAttempts;
  readonly adminTokenHashes: readonly string[];
}

/**
 * Begins a session of the administrator.
 *
 * @throws Problem UNAUTHENTICATED for another token; RATE_LIMITED after too many of them.
 */
export async function signInWithAdminToken(
  { sessions, failedAttempts, adminTokenHashes }: AdminTokenServices,
  context: Context,
  given: string,
): Promise<StartedSession & { readonly session: Session }> {
  failedAttempts.refuseLocked("administrator", context.address ?? "");
  if (!adminTokenHashes.some((hash) => hasHash(given, hash))) {
    throw failedAttempts.refuse("administrator", context.address ?? "");
  }
  const started = await sessions.start(context, null, { way: "admin_token" });
  const session = await sessions.find(started.secret, true);
  if (!session) throw new Error("A session that has just begun is not found.");
  return { ...started, session };
}
