import Type, { type Static } from "typebox";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Cursor, NullableText, named, nullable } from "../../core/base/values/schemas.ts";
import type { Database } from "../../core/database/database.ts";
import { isProfileId } from "../../core/people/profiles/identifiers.ts";
import { selectMerged } from "../../core/people/profiles/merged-store.ts";
import { type ProfileRow, selectProfiles } from "../../core/people/profiles/store.ts";
import { searchPeople } from "./search.ts";

export type RecordServices = { readonly database: Database };

const PAGE = 20;

export const UsersQuery = Type.Object({
  query: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description:
        "A prefix of an external_id, alias name, email address or phone number, or prefixes of words of the name, in any order. Without it the list has all users.",
    }),
  ),
  identifier: Type.Optional(
    Type.Enum(["external_id", "alias", "email", "phone", "name"], {
      description:
        "Searches only identifiers of this kind, or only names. With name and without a query the list has all users with a name, in the order of names.",
    }),
  ),
  match: Type.Optional(
    Type.Enum(["prefix", "exact"], {
      description: "prefix by default; exact matches the whole identifier, and no names.",
    }),
  ),
  cursor: Cursor,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: PAGE })),
});

/** A user as a search shows it, and why the user was found. */
export const FoundUser = named("FoundUser", {
  platform_id: Type.String(),
  external_id: NullableText,
  user_aliases: Type.Array(Type.Object({ alias_name: Type.String(), alias_label: Type.String() })),
  email: NullableText,
  phone: NullableText,
  first_name: nullable(Type.String(), { description: "The first name.", examples: ["Ada"] }),
  last_name: nullable(Type.String(), { description: "The last name.", examples: ["Lovelace"] }),
  created_at: Type.String(),
  updated_at: Type.String(),
  matched: Type.Object({
    identifier: Type.Enum(["platform_id", "external_id", "alias", "email", "phone", "name"]),
    value: Type.String(),
  }),
});

export type FoundUser = Static<typeof FoundUser>;

/**
 * Finds users by the beginning of an external_id, alias name, email address or phone number, by words of the name, or
 * by a whole platform_id. Addresses and names match ignoring case. A user is found once. Without a query it finds
 * all users.
 *
 * @throws Problem INVALID_REQUEST `Invalid cursor`.
 */
export async function searchUsers(
  { database }: RecordServices,
  { workspace }: WorkspaceContext,
  { query = "", identifier, match = "prefix", cursor, limit = PAGE }: Static<typeof UsersQuery>,
): Promise<{ users: FoundUser[]; next_cursor?: string }> {
  const isFirst = cursor === undefined && identifier === undefined;
  const owner = isFirst ? await findByPlatformId(database, workspace.id, query) : undefined;
  const { matches, next } = await searchPeople(database, workspace.id, {
    query,
    kind: identifier,
    isExact: match === "exact",
    cursor,
    limit,
  });
  const users = matches.map(({ profile, kind, value }) =>
    viewOf(profile, { identifier: kind, value }),
  );
  return { users: [...(owner ? [owner] : []), ...users], ...next };
}

/** The user with this id, even if it was merged into another one. */
async function findByPlatformId(
  database: Database,
  workspaceId: number,
  text: string,
): Promise<FoundUser | undefined> {
  if (!isProfileId(text)) return undefined;
  const id = text.toLowerCase();
  const [merged] = await selectMerged(database, workspaceId, [id]);
  const [profile] = await selectProfiles(database, workspaceId, [merged?.keptProfileId ?? id]);
  return profile && viewOf(profile, { identifier: "platform_id", value: id });
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const viewOf = (profile: ProfileRow, matched: FoundUser["matched"]): FoundUser => ({
  platform_id: profile.id,
  external_id: profile.externalId,
  user_aliases: [...profile.aliases],
  email: profile.email,
  phone: profile.phone,
  first_name: textOf(profile.standardAttributes.first_name),
  last_name: textOf(profile.standardAttributes.last_name),
  created_at: profile.createdAt.toISOString(),
  updated_at: new Date(profile.updatedAtMicros / 1_000).toISOString(),
  matched,
});
