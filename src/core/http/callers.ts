import type { Company, Context } from "../base/context/context.ts";
import type { DashboardPerson, Session } from "../base/context/person.ts";
import type { Workspace } from "../base/context/workspace.ts";
import type { Access } from "./endpoint.ts";

/* The questions of the HTTP layer about callers. `core/admin/access/` implements them. */

export interface Presented {
  readonly authorization: string | undefined;
  /** The header `X-Request-Origin`. */
  readonly origin: unknown;
  readonly address: string;
  /** The workspace that the path names; undefined if it names none. */
  readonly workspaceName: string | undefined;
  /** The address where the caller reached the server; present if a refusal names it. */
  readonly baseUrl: string;
  /** There only if a session of the dashboard may be presented. */
  readonly browser: PresentedByBrowser | undefined;
}

/** A browser's headers for a session of the dashboard. */
export interface PresentedByBrowser {
  /** The secret of the session, from its cookie. */
  readonly sessionSecret: string | undefined;
  readonly csrfToken: unknown;
  /** Whether another site sent the request, as the browser says. */
  readonly isFromOtherSite: boolean;
  /** Whether the request may change something. */
  readonly isWrite: boolean;
  /** Whether the person is there, and the page does not send the request automatically. */
  readonly isUse: boolean;
}

/** The caller, with the workspace or company. */
export interface Caller extends Pick<Context, "actor" | "actorName" | "adminPrint"> {
  readonly workspace?: Workspace;
  readonly keyId?: string;
  readonly secretHash?: string;
  readonly company?: Company;
  /** For a SCIM token: the permissions in the company that it may give users. */
  readonly grantable?: readonly string[];
  readonly person?: DashboardPerson;
  readonly session?: Session;
}

export interface Authenticator {
  /**
   * Identifies the caller and resolves the workspace or company.
   *
   * @throws Problem UNAUTHENTICATED, FORBIDDEN; RATE_LIMITED for a wrong secret after too many; NOT_FOUND for a workspace in the path.
   */
  identify(access: Access, presented: Presented): Promise<Caller>;
  /** Identifies the caller of a request that lasts again: asks the database, and counts no failed attempt. @throws Problem */
  confirm(access: Access, presented: Presented): Promise<Caller>;
  /** Drops cached keys, tokens and workspaces after a change to them. */
  forget(): void;
}

/** A caller's rate limit after a request was counted. */
export interface RateLimitState {
  readonly limit: number;
  readonly remaining: number;
  /** When the window ends, in seconds since the epoch. */
  readonly resetAt: number;
  /** Whole seconds until the next request is accepted; 0 if this one is. */
  readonly retryAfterSeconds: number;
}

export interface RateLimits {
  /** Counts a request. Undefined if no limit applies. */
  count(access: Access, caller: Caller): Promise<RateLimitState | undefined>;
}
