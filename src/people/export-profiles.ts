import { type ProfileNames, selectProfileIds } from "./export-store.ts";

export {
  NAME_COLUMNS,
  type ProfileFilter,
  type ProfileNames,
  profileCondition,
} from "./export-store.ts";

/** Whose profiles to export, in portions: see `selectProfileIds`. */
export const readProfileIds: (
  ...of: Parameters<typeof selectProfileIds>
) => ReturnType<typeof selectProfileIds> = selectProfileIds;

/** The one identifier of a user that a track request names the user by. */
export function identifierOf({ externalId, aliases, email, phone }: ProfileNames): object {
  if (externalId !== null) return { external_id: externalId };
  const [alias] = aliases;
  if (alias) return { user_alias: alias };
  return email === null ? { phone } : { email };
}
