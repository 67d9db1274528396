import type { Database } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { isProfileId } from "../profiles/identifiers.ts";
import { findWorkspace } from "../workspaces/find-workspace.ts";
import { type AuditEntry, selectAuditEntries } from "./store.ts";

export interface AuditServices {
  readonly database: Database;
}

export interface AuditQuery {
  /** Only what concerns this profile: kept, merged away or deleted. */
  readonly platform_id?: string;
  /** The `next_cursor` of the page before. */
  readonly cursor?: string;
  readonly limit?: number;
}

const PAGE = 100;

/**
 * Who joined, identified or deleted which profiles when, the newest first.
 *
 * @throws Problem NOT_FOUND for the workspace; INVALID_REQUEST for an id or a cursor that is none.
 */
export async function readAudit(
  { database }: AuditServices,
  workspaceName: string,
  { platform_id, cursor, limit = PAGE }: AuditQuery,
): Promise<{ readonly entries: AuditEntry[]; readonly nextCursor: string | undefined }> {
  if (platform_id !== undefined && !isProfileId(platform_id)) {
    throw new Problem("INVALID_REQUEST", "'platform_id' must be the platform_id of a user.");
  }
  if (cursor !== undefined && !isProfileId(cursor)) {
    throw new Problem("INVALID_REQUEST", "Invalid cursor");
  }
  const workspace = await findWorkspace(database, workspaceName);
  const filter = { profileId: platform_id, beforeId: cursor };
  // One more than the page holds tells whether there is another page.
  const entries = await selectAuditEntries(database, workspace.id, { ...filter, limit: limit + 1 });
  const page = entries.slice(0, limit);
  return { entries: page, nextCursor: entries.length > limit ? page.at(-1)?.id : undefined };
}
