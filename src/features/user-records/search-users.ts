import Type, { type Static } from "typebox";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { refuseUnstorableText } from "../../core/base/values/plain-json.ts";
import { Cursor, NullableText, named, Text, TextOrNull } from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { isProfileId } from "../../core/people/profiles/identifiers.ts";
import { selectMerged } from "../../core/people/profiles/merged-store.ts";
import { selectProfiles } from "../../core/people/profiles/store.ts";
import { readUserFilter } from "../segments/feature.ts";
import { type Match, ORDERS, searchPeople } from "./search.ts";
import { COLUMNS, LONGEST_VALUE, readColumns } from "./shown-columns.ts";

export type RecordServices = StoringServices;

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
  sort: Type.Optional(
    Type.Enum([...ORDERS], {
      description:
        "All users in this order, instead of a search: added is the order in which Rapport learned of them, - reverses. By email or " +
        "name the list has only users with an address or a name.",
    }),
  ),
  filter: Type.Optional(
    Text(
      "A filter of segments, as JSON: only users who meet it. A page looks for them among at most about 10,000 users.",
      '{"attribute": "country", "equals": "DE"}',
      { maxLength: 8_000 },
    ),
  ),
  segment_id: Type.Optional(
    Type.String({ maxLength: 64, description: "Instead of a filter: a segment of the workspace." }),
  ),
  columns: Type.Optional(
    Type.Array(Type.String({ maxLength: 300 }), {
      maxItems: 20,
      description: `What to show of each user beside: ${COLUMNS.join(", ")}, and custom_attributes.NAME.`,
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
  first_name: TextOrNull("The first name.", "Ada"),
  last_name: TextOrNull("The last name.", "Lovelace"),
  created_at: Type.String(),
  updated_at: Type.String(),
  columns: Type.Record(Type.String(), Type.Unknown(), {
    description: `The values of the requested columns that the user has. Of a value of more than ${LONGEST_VALUE} characters the beginning, as text.`,
  }),
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
 * @throws Problem INVALID_REQUEST for a cursor, order, filter or column that is none; NOT_FOUND for an unknown segment.
 */
export async function searchUsers(
  services: RecordServices,
  context: WorkspaceContext,
  wanted: Static<typeof UsersQuery>,
): Promise<{ users: FoundUser[]; next_cursor?: string; filtered_by?: string }> {
  const { database } = services;
  const { workspace } = context;
  const { query = "", identifier, match, sort, cursor, limit = PAGE, columns = [] } = wanted;
  if (sort && (query !== "" || identifier !== undefined || match !== undefined)) {
    throw new Problem("INVALID_REQUEST", "'sort' is for all users: leave out the search.");
  }
  const filter = await filterIn(services, context, wanted);
  const isFirst = cursor === undefined && identifier === undefined;
  const owner = isFirst ? await findByPlatformId(database, workspace.id, query) : undefined;
  const members = owner && (await filter?.membersOf([owner.profile.id]));
  const { matches, next } = await searchPeople(database, workspace.id, {
    query,
    kind: identifier,
    isExact: match === "exact",
    order: sort,
    membersOf: filter?.membersOf,
    cursor,
    limit,
  });
  const all = owner && (members?.has(owner.profile.id) ?? true) ? [owner, ...matches] : matches;
  const profiles = all.map(({ profile }) => profile);
  const columnsOf = await readColumns(database, workspace.id, profiles, columns);
  const users = all.map((found) => viewOf(found, columnsOf(found.profile)));
  return { users, ...next, ...(filter && { filtered_by: filter.sentence }) };
}

/** The filter of a request, if it has one. @throws Problem as `readUserFilter` does. */
async function filterIn(
  services: RecordServices,
  context: WorkspaceContext,
  { filter, segment_id }: Static<typeof UsersQuery>,
) {
  if (filter === undefined && segment_id === undefined) return undefined;
  const given = filter && parsed(filter);
  // An escape in the JSON may stand for what no query may hold.
  refuseUnstorableText(given, "filter");
  return readUserFilter(services, context, { filter: given, segment_id });
}

/** What is no JSON stays a text, which is no filter either. */
function parsed(filter: string): unknown {
  try {
    return JSON.parse(filter);
  } catch {
    return filter;
  }
}

/** The user with this id, even if it was merged into another one. */
async function findByPlatformId(
  database: RecordServices["database"],
  workspaceId: number,
  text: string,
): Promise<Match | undefined> {
  if (!isProfileId(text)) return undefined;
  const id = text.toLowerCase();
  const [merged] = await selectMerged(database, workspaceId, [id]);
  const [profile] = await selectProfiles(database, workspaceId, [merged?.keptProfileId ?? id]);
  return profile && { profile, kind: "platform_id", value: id };
}

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

const viewOf = ({ profile, kind, value }: Match, columns: FoundUser["columns"]): FoundUser => ({
  platform_id: profile.id,
  external_id: profile.externalId,
  user_aliases: [...profile.aliases],
  email: profile.email,
  phone: profile.phone,
  first_name: textOf(profile.standardAttributes.first_name),
  last_name: textOf(profile.standardAttributes.last_name),
  created_at: profile.createdAt.toISOString(),
  updated_at: new Date(profile.updatedAtMicros / 1_000).toISOString(),
  columns,
  matched: { identifier: kind, value },
});
