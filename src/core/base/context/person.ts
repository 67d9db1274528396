import type { CompanyPermission, WorkspacePermission } from "./dashboard-permissions.ts";

/** A person who is signed in to the dashboard, with their present permissions. */
export interface DashboardPerson {
  /**
   * The id of the dashboard user; null for the administrator, who signed in with the admin token or
   * a one-time link.
   */
  readonly userId: string | null;
  readonly userName: string;
  readonly displayName: string;
  /** May do everything. */
  readonly isAdministrator: boolean;
  readonly companyPermissions: ReadonlySet<CompanyPermission>;
  /** By the name of the workspace. `admin` is there with everything that it includes. */
  readonly workspacePermissions: ReadonlyMap<string, ReadonlySet<WorkspacePermission>>;
}

/** A session of the dashboard, found by the cookie of a request. */
export interface Session {
  /** The hash of its secret. */
  readonly id: string;
  readonly person: DashboardPerson;
  /** How the person signed in; null in sessions of earlier versions. */
  readonly way: string | null;
  /** Of a session of the administrator: see `Context`. */
  readonly adminPrint?: string;
  /** A value that changing requests must also present. */
  readonly csrfToken: string;
  /** When it ends if it is not used again. */
  readonly expiresAt: Date;
}
