import Type, { type Static } from "typebox";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { forwardPage, invalidCursor } from "../../base/pages.ts";
import { Problem } from "../../base/problem.ts";
import type { Queryable } from "../../database/database.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import { isProfileId } from "../profiles/identifiers.ts";
import { type AuditEntry, selectAuditEntries, selectIdentityChanges } from "./store.ts";

export const AuditQuery = Type.Object({
  platform_id: Type.Optional(
    Type.String({ description: "Users that were kept, merged or deleted." }),
  ),
  cursor: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500 })),
});

const PAGE = 100;

/** Merges, identifications and deletions, newest first. @throws Problem INVALID_REQUEST for an invalid id or cursor. */
export async function readAudit(
  { database }: StoringServices,
  context: WorkspaceContext,
  { platform_id, cursor, limit = PAGE }: Static<typeof AuditQuery>,
): Promise<ReturnType<typeof forwardPage<AuditEntry>>> {
  if (platform_id !== undefined && !isProfileId(platform_id)) {
    throw new Problem("INVALID_REQUEST", "'platform_id' must be the platform_id of a user.");
  }
  if (cursor !== undefined && !isProfileId(cursor)) throw invalidCursor();
  const { workspace } = context;
  const filter = { profileId: platform_id, beforeId: cursor };
  const entries = await selectAuditEntries(database, workspace.id, { ...filter, limit: limit + 1 });
  return forwardPage(entries, limit, ({ id }) => id);
}

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
