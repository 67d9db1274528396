import type { WorkspaceContext } from "../context/context.ts";
import type { Database } from "../database/database.ts";
import { type Alias, type IdentifierKind, isProfileId } from "../people/identifiers.ts";
import { selectMerged } from "../people/merged-store.ts";
import { searchPeople } from "../people/search.ts";
import { type ProfileRow, selectProfiles } from "../people/store.ts";

export interface RecordServices {
  readonly database: Database;
}

export interface UsersQuery {
  readonly query?: string;
  readonly identifier?: IdentifierKind;
  readonly match?: "prefix" | "exact";
  readonly cursor?: string;
  readonly limit?: number;
}

/** A user as a search shows it. */
export interface FoundUser {
  readonly platform_id: string;
  readonly external_id: string | null;
  readonly user_aliases: Alias[];
  readonly email: string | null;
  readonly phone: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  /** Why the user was found. */
  readonly matched: {
    readonly identifier: IdentifierKind | "platform_id";
    readonly value: string;
  };
}

const PAGE = 20;

/**
 * Finds users by the beginning of an external_id, alias name, email address or phone number, or by a whole
 * platform_id. Addresses match whatever their case. A user is found once. Without a query it finds all users.
 *
 * @throws Problem INVALID_REQUEST `Invalid cursor`.
 */
export async function searchUsers(
  { database }: RecordServices,
  { workspace }: WorkspaceContext,
  { query = "", identifier, match = "prefix", cursor, limit = PAGE }: UsersQuery,
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

/** The user with this id, also where it was merged into another one. */
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

const viewOf = (profile: ProfileRow, matched: FoundUser["matched"]): FoundUser => ({
  platform_id: profile.id,
  external_id: profile.externalId,
  user_aliases: [...profile.aliases],
  email: profile.email,
  phone: profile.phone,
  created_at: profile.createdAt.toISOString(),
  updated_at: new Date(profile.updatedAtMicros / 1_000).toISOString(),
  matched,
});
