/** The permission for changing and merging users. */
export const changeUsersIn = (workspace: string) =>
  ({ workspace, needs: ["import_update_user_data", "view_pii"] }) as const;
