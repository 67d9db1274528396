import type { ReferenceEraser } from "../../core/admin/workspaces/delete-workspace.ts";
import { withdrawPermissions, withoutWorkspace } from "../dashboard-users/feature.ts";
import { selectAllDefaults, upsertDefaults } from "./defaults-store.ts";
import { searchableUser } from "./protocol/user-view.ts";

/**
 * Permissions name workspaces: otherwise a workspace that later gets the name of a deleted one
 * would be open to everyone with a permission in the deleted one.
 */
export const forgetWorkspaceOfUsers: ReferenceEraser = async (tx, { name }, now) => {
  await withdrawPermissions(tx, name, now, searchableUser);
  for (const { companyId, defaults } of await selectAllDefaults(tx)) {
    if (!defaults.permissions) continue;
    const permissions = withoutWorkspace(defaults.permissions, name);
    await upsertDefaults(tx, companyId, { ...defaults, permissions });
  }
};
