import type { Queryable } from "../database/database.ts";
import { type IdentityRange, selectIdentityChanges } from "./changes-store.ts";
import type { AuditEntry } from "./store.ts";

export type { AuditEntry } from "./store.ts";

/** What the audit holds about profiles that were kept or deleted, the newest first. */
export const readIdentityChanges: (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  range: IdentityRange,
) => Promise<AuditEntry[]> = selectIdentityChanges;

/** The entry that says that a profile was deleted, if it was. */
export async function findDeletion(
  database: Queryable,
  workspaceId: number,
  profileId: string,
): Promise<AuditEntry | undefined> {
  const range = { before: undefined, since: undefined, limit: 1 };
  const [last] = await selectIdentityChanges(database, workspaceId, [profileId], range);
  return last?.action === "delete" ? last : undefined;
}
