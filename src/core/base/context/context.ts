import type { DashboardPerson, Session } from "./person.ts";
import type { Workspace } from "./workspace.ts";

/**
 * Who acts, and through which call; recorded by the audit and by the history of subscription
 * states.
 */
export interface Context {
  readonly actor:
    | "key"
    | "scim"
    | "administrator"
    | "dashboard_user"
    | "anybody"
    | "job"
    | "server";
  /**
   * The name of the API key or SCIM token, the user name of a dashboard user, `dashboard` for the administrator in a session
   * of it; null for every other actor.
   */
  readonly actorName: string | null;
  /** The endpoint as declared, such as `POST /users/track`, or the kind of job; empty for the server. */
  readonly call: string;
  /** As in the response's `X-Request-Id`: never the caller's. The id of a job; empty for the server. */
  readonly requestId: string;
  /** The caller's IP address as trusted proxies report it; null for jobs and the server. */
  readonly address: string | null;
  /** Who is signed in to the dashboard; absent if the request came with a key or token. */
  readonly person?: DashboardPerson;
  /** Names the admin token that the administrator came with, or that began the session: what they make ends with it. */
  readonly adminPrint?: string;
}

/** The `actorName` of the administrator in a session of the dashboard. */
export const IN_THE_DASHBOARD = "dashboard";

/** Whether a caller acts for the whole company: the admin token, a manifest, and administrators of the company. */
export const actsForCompany = ({ actor, person }: Context): boolean =>
  actor !== "key" &&
  (person === undefined || person.isAdministrator || person.companyPermissions.has("admin"));

/** The part of a context that histories keep. */
export type CallRecord = Pick<Context, "call" | "actorName" | "requestId">;

export interface WorkspaceContext extends Context {
  readonly workspace: Workspace;
  /** The hash of the secret of the API key that the request came with, if it came with one. */
  readonly secretHash?: string;
}

/** Whether the caller may not see who the users of the workspace are: a person without `view_pii` in it. */
export const hidesPeople = ({
  person,
  workspace,
}: {
  readonly person?: DashboardPerson | undefined;
  readonly workspace: Pick<Workspace, "name">;
}): boolean =>
  person !== undefined &&
  !person.isAdministrator &&
  !person.workspacePermissions.get(workspace.name)?.has("view_pii");

/** The company that all workspaces of a server belong to. */
export interface Company {
  readonly id: string;
  readonly name: string;
}

export interface CompanyContext extends Context {
  readonly company: Company;
  /** For a SCIM token: the permissions in the company that it may give users. */
  readonly grantable?: readonly string[];
}

/** Acts within a session of the dashboard. */
export interface SessionContext extends Context {
  readonly session: Session;
}

/** The server itself, as when it applies a manifest before it serves. */
export const BY_THE_SERVER: Context = {
  actor: "server",
  actorName: null,
  call: "",
  requestId: "",
  address: null,
};
