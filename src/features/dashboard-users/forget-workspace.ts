import type { Transaction } from "../../core/database/database.ts";
import type { Permissions, SearchableForm } from "./dashboard-user.ts";
import { lockUsers, selectUsersOfWorkspace, updateAttributes } from "./store.ts";

const USERS_AT_ONCE = 500;

/** The permissions without those in the workspace with this name. */
export const withoutWorkspace = (permissions: Permissions, name: string): Permissions => ({
  ...permissions,
  appGroup: permissions.appGroup.filter(({ appGroupName }) => appGroupName !== name),
});

/** Removes the permissions of all dashboard users in a workspace. */
export async function withdrawPermissions(
  tx: Transaction,
  workspaceName: string,
  now: Date,
  searchable: SearchableForm,
): Promise<void> {
  for (let after: string | undefined; ; ) {
    const named = await selectUsersOfWorkspace(tx, workspaceName, after, USERS_AT_ONCE);
    const ids = named.map(({ id }) => id);
    // Locked and read again: another transaction may have changed them since.
    const users = ids.length > 0 ? await lockUsers(tx, ids) : [];
    const changed = users.map(({ id, attributes: before, createdAt }) => {
      const permissions = withoutWorkspace(before.permissions, workspaceName);
      const attributes = { ...before, permissions };
      return { id, attributes, searchable: searchable(id, attributes, createdAt, now) };
    });
    if (changed.length > 0) await updateAttributes(tx, changed, now);
    if (ids.length < USERS_AT_ONCE) return;
    after = ids.at(-1);
  }
}
