/* The names of form fields, in pages and in a browser's request. */

export const GLOBAL_FIELD = "email_global_state";

const GROUP_PREFIX = "subscription_group_";

export const groupField = (groupId: string): string => `${GROUP_PREFIX}${groupId}`;

/** The group that a field is about; undefined for any other field. */
export const groupOfField = (field: string): string | undefined =>
  field.startsWith(GROUP_PREFIX) ? field.slice(GROUP_PREFIX.length) : undefined;
