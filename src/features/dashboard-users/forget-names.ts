import type { FreeNames } from "../../core/admin/workspaces/resource.ts";
import type { Transaction } from "../../core/database/database.ts";
import type { Permissions, SearchableForm } from "./dashboard-user.ts";
import { lockUsers, selectUsersWith, updateAttributes } from "./store.ts";

const USERS_AT_ONCE = 500;

/** The permissions without those in the workspaces with these names, or without these permission sets. */
export function withoutNames(permissions: Permissions, { kind, names }: FreeNames): Permissions {
  const gone = new Set(names);
  const { appGroup } = permissions;
  if (kind === "workspace") {
    const kept = appGroup.filter(({ appGroupName }) => !gone.has(appGroupName));
    return { ...permissions, appGroup: kept };
  }
  const changed = appGroup.map((group) => ({
    ...group,
    appGroupPermissionSets: group.appGroupPermissionSets.filter(
      (each) => !gone.has(each.appGroupPermissionSetName),
    ),
  }));
  return { ...permissions, appGroup: changed };
}

/** A part of the attributes of everyone whose permissions mention a name. */
const mention = (kind: FreeNames["kind"], name: string) => ({
  permissions: {
    appGroup: [
      kind === "workspace"
        ? { appGroupName: name }
        : { appGroupPermissionSets: [{ appGroupPermissionSetName: name }] },
    ],
  },
});

/** Removes the permissions of all dashboard users by these names. */
export async function withdrawPermissions(
  tx: Transaction,
  free: FreeNames,
  now: Date,
  searchable: SearchableForm,
): Promise<void> {
  const mentions = free.names.map((name) => mention(free.kind, name));
  for (let after: string | undefined; ; ) {
    const named = await selectUsersWith(tx, mentions, after, USERS_AT_ONCE);
    const ids = named.map(({ id }) => id);
    // Locked and read again: another transaction may have changed them since.
    const users = ids.length > 0 ? await lockUsers(tx, ids) : [];
    const changed = users.map(({ id, attributes: before, createdAt }) => {
      const permissions = withoutNames(before.permissions, free);
      const attributes = { ...before, permissions };
      return { id, attributes, searchable: searchable(id, attributes, createdAt, now) };
    });
    if (changed.length > 0) await updateAttributes(tx, changed, now);
    if (ids.length < USERS_AT_ONCE) return;
    after = ids.at(-1);
  }
}
