/** The permission for changing and merging users. */
export const CHANGE_USERS = ["import_update_user_data", "view_pii"] as const;
