import { isDeepStrictEqual } from "node:util";
import type { ReferenceEraser } from "../../core/admin/workspaces/delete-workspace.ts";
import type { NameEraser } from "../../core/admin/workspaces/resource.ts";
import { withdrawPermissions, withoutNames } from "../dashboard-users/feature.ts";
import { selectAllDefaults, upsertDefaults } from "./defaults-store.ts";
import { searchableUser } from "./protocol/user-view.ts";

/**
 * Permissions name workspaces and permission sets: otherwise something new that gets the name of something
 * that is gone would be open to everyone who had a permission by that name.
 */
export const forgetNamesOfUsers: NameEraser = async (tx, free, now) => {
  await withdrawPermissions(tx, free, now, searchableUser);
  for (const { companyId, defaults } of await selectAllDefaults(tx)) {
    if (!defaults.permissions) continue;
    const permissions = withoutNames(defaults.permissions, free);
    if (isDeepStrictEqual(permissions, defaults.permissions)) continue;
    await upsertDefaults(tx, companyId, { ...defaults, permissions });
  }
};

export const forgetWorkspaceOfUsers: ReferenceEraser = (tx, { name }, now) =>
  forgetNamesOfUsers(tx, { kind: "workspace", names: [name] }, now);
