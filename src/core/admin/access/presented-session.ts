import { IN_THE_DASHBOARD } from "../../base/context/context.ts";
import type { DashboardPerson, Session } from "../../base/context/person.ts";
import { Problem } from "../../base/problem.ts";
import { fromOtherSite } from "../../http/browser.ts";
import type { Caller, Presented } from "../../http/callers.ts";
import type { AdministratorAccess } from "../../http/endpoint.ts";
import { hasHash, hashSecret } from "../secrets/secrets.ts";
import type { FailedAttempts } from "./failed-attempts.ts";

/** The sessions of the dashboard. `dashboard-users/` implements it. */
export interface SessionFinder {
  find(secret: string, isUse: boolean): Promise<Session | undefined>;
}

/** The end of a refusal without a session: how to sign in. */
export type SignInHint = () => Promise<Readonly<Record<string, unknown>>>;

/**
 * The session that a browser presents. A missing cookie does not count as a failed attempt.
 *
 * @throws Problem UNAUTHENTICATED without a session; RATE_LIMITED after too many wrong ones; FORBIDDEN for a
 *   request of another site, or a change without the CSRF token.
 */
export async function findPresented(
  services: { readonly sessions: SessionFinder; readonly failedAttempts: FailedAttempts },
  hint: SignInHint,
  { browser, address }: Presented,
): Promise<Session> {
  const secret = browser?.sessionSecret;
  if (browser === undefined || secret === undefined) {
    throw new Problem("UNAUTHENTICATED", "You are not signed in.", { body: await hint() });
  }
  if (browser.isFromOtherSite) throw fromOtherSite();
  const session = await services.sessions.find(secret, browser.isUse);
  if (!session) throw services.failedAttempts.refuse("session", address, undefined, await hint());
  if (browser.isWrite && !isSame(browser.csrfToken, session.csrfToken)) {
    throw new Problem(
      "FORBIDDEN",
      "The header X-CSRF-Token must hold the csrf_token of GET /dashboard/session.",
    );
  }
  return session;
}

const isSame = (given: unknown, wanted: string): boolean =>
  typeof given === "string" && hasHash(given, hashSecret(wanted));

/**
 * A dashboard user has their user name. The administrator is no particular person: the name says that they came through the
 * dashboard, not with the admin token.
 */
export function callerOf(session: Session): Caller {
  const { person, adminPrint } = session;
  return person.userId === null
    ? {
        ...{ actor: "administrator", actorName: IN_THE_DASHBOARD, person, session },
        ...(adminPrint !== undefined && { adminPrint }),
      }
    : { actor: "dashboard_user", actorName: person.userName, person, session };
}

/**
 * The calls that a signed-in person may make. docs/dashboard.md has the table.
 *
 * @param workspaceName the workspace of the path; whether it exists is not known yet.
 * @throws Problem FORBIDDEN that names the first permission that is missing.
 */
export function refuseUnpermitted(
  person: DashboardPerson,
  { of, permissions }: AdministratorAccess,
  workspaceName: string | undefined,
): void {
  if (person.isAdministrator) return;
  const held: ReadonlySet<string> | undefined =
    of === "workspace"
      ? person.workspacePermissions.get(workspaceName ?? "")
      : person.companyPermissions;
  const missing = permissions.find((permission) => !held?.has(permission));
  if (missing === undefined) return;
  const where = of === "workspace" ? `in the workspace '${workspaceName}'` : "of the company";
  throw new Problem("FORBIDDEN", `You lack the permission ${missing} ${where}.`);
}
