import { recordUserChanges } from "../../admin/audit/audit.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import type { IdentityServices } from "../../people/identity/change-identities.ts";
import type { Effect } from "../../people/identity/combine/effects.ts";
import { mergeByPlatformId } from "../../people/identity/merge-users.ts";

export interface MergeOrder {
  /** The platform_id of the user that is kept. */
  readonly into: string;
  readonly dry_run?: boolean;
}

/**
 * Merges a user into another one, as `/users/merge` does.
 *
 * @returns what it did, field by field, or would do.
 * @throws Problem NOT_FOUND for one of them; INVALID_REQUEST if both ids lead to one user.
 */
export function mergeUser(
  services: IdentityServices,
  context: WorkspaceContext,
  platformId: string,
  { into, dry_run: isDryRun = false }: MergeOrder,
): Promise<readonly Effect[]> {
  const { clock } = services;
  const keepId = into.toLowerCase();
  const workspace = context.workspace.name;
  const details = { into: keepId };
  return mergeByPlatformId(services, context, {
    mergeId: platformId,
    keepId,
    isDryRun,
    alsoWrite: (tx) =>
      recordUserChanges(tx, clock, context, [
        { action: "merged", kind: "user", workspace, name: platformId, details },
      ]),
  });
}
