import type { JsonObject } from "../../base/values/plain-json.ts";
import { sum } from "../../base/values/sum.ts";
import { OF_PROFILES, ofProfiles } from "../../database/buckets.ts";
import { readByCursor } from "../../database/cursor.ts";
import type { Queryable } from "../../database/database.ts";
import type { ProfileRow } from "./store.ts";

/** Users whose rows are exported; empty attributes do not narrow. */
export interface ProfileFilter {
  readonly standardAttributes: JsonObject;
  readonly customAttributes: JsonObject;
}

/** To be selected from `profiles p`. */
export const NAME_COLUMNS = `p.external_id as "externalId", p.aliases, p.email, p.phone`;

/** A condition on `profiles p`, with parameters from `$first` on. */
export function profileCondition(
  { standardAttributes, customAttributes }: ProfileFilter,
  first: number,
): { readonly sql: string; readonly parameters: readonly unknown[] } {
  const parameters: string[] = [];
  const has = (column: string, attributes: JsonObject): string => {
    parameters.push(JSON.stringify(attributes));
    return `p.${column} @> $${first + parameters.length - 1}::text::jsonb`;
  };
  const conditions = Object.entries(standardAttributes).map(([name, value]) =>
    has("standard_attributes", { [name]: value }),
  );
  for (const [name, value] of Object.entries(customAttributes)) {
    const asIs = has("custom_attributes", { [name]: value });
    // A list has the attribute's value if one of its elements is it.
    const isScalar = value === null || typeof value !== "object";
    conditions.push(
      isScalar ? `(${asIs} or ${has("custom_attributes", { [name]: [value] })})` : asIs,
    );
  }
  return { sql: conditions.map((each) => ` and ${each}`).join(""), parameters };
}

/** A profile to be read, and about how large it is. */
interface SizedProfile {
  readonly id: string;
  readonly bytes: number;
}

/** The ids of profiles that were updated in a period, in portions and in their own order. */
export function selectProfileIds(
  tx: Queryable,
  workspaceId: number,
  { since, until, ...filter }: ProfileFilter & { since: Date | undefined; until: Date | undefined },
  portion: number,
): AsyncGenerator<{ readonly id: string }[]> {
  const condition = profileCondition(filter, 4);
  return readByCursor<{ readonly id: string }>(
    tx,
    "exported_users",
    `select p.profile_id as id from profiles p
     where p.workspace_id = $1 and ($2::timestamptz is null or p.updated_at >= $2)
       and ($3::timestamptz is null or p.updated_at < $3)${condition.sql}
     order by p.profile_id`,
    [workspaceId, since ?? null, until ?? null, ...condition.parameters],
    portion,
  );
}

/** What a profile has that grows. */
const COLUMNS = ["standard_attributes", "custom_attributes", "aliases"];

/**
 * The size of each profile. A value that the engine has not compressed is about as large as it is
 * stored; only the rest is unpacked.
 */
export const measureEachProfile = (tx: Queryable, workspaceId: number, ids: readonly string[]) =>
  tx.query<SizedProfile>(
    `select profile_id as id,
       (${COLUMNS.map(sizeSql).join(" + ")})::bigint as bytes
     from profiles where ${OF_PROFILES}`,
    ofProfiles(workspaceId, ids),
  );

const sizeSql = (column: string): string =>
  `case when pg_column_compression(${column}) is null then pg_column_size(${column})
     else octet_length(${column}::text) end`;

/** How many bytes the attributes and aliases of these profiles take as JSON. */
export async function measureProfiles(
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
): Promise<number> {
  const [row] = await database.query<{ bytes: number }>(
    `select coalesce(sum(octet_length(standard_attributes::text) +
       octet_length(custom_attributes::text) + octet_length(aliases::text)), 0)::bigint as bytes
     from profiles where ${OF_PROFILES}`,
    ofProfiles(workspaceId, ids),
  );
  return row?.bytes ?? 0;
}

/** What profiles take as the engine stores them. */
export interface Stored {
  readonly bytes: number;
  /** Of the small ones; about what they take as JSON. */
  readonly smallBytes: number;
  /** The profiles that may take much more as JSON. */
  readonly largeIds: readonly string[];
}

/** Cheap, because nothing is unpacked. A profile is small if it takes up to 2 KB and no value is compressed. */
export async function measureStored(
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
): Promise<Stored> {
  if (ids.length === 0) return { bytes: 0, smallBytes: 0, largeIds: [] };
  // The small ones together, and each large one.
  const rows = await database.query<{ id: string | null; bytes: number }>(
    `select case when packed or bytes > 2048 then id end as id, sum(bytes)::bigint as bytes
     from (
       select profile_id as id,
         ${COLUMNS.map((column) => `pg_column_size(${column})`).join(" + ")} as bytes,
         ${COLUMNS.map((column) => `pg_column_compression(${column}) is not null`).join(" or ")} as packed
       from profiles where ${OF_PROFILES}
     ) as stored
     group by 1`,
    ofProfiles(workspaceId, ids),
  );
  return {
    bytes: sum(rows.map(({ bytes }) => bytes)),
    smallBytes: rows.find(({ id }) => id === null)?.bytes ?? 0,
    largeIds: rows.flatMap(({ id }) => id ?? []),
  };
}

export type ShownProfile = Omit<ProfileRow, "version" | "updatedAtMicros">;

/** A profile whose JSON is text, cut off after this many characters. */
export type SmallProfile = Omit<
  ShownProfile,
  "aliases" | "standardAttributes" | "customAttributes"
> & {
  readonly aliases: string;
  readonly standardAttributes: string;
  readonly customAttributes: string;
};

/**
 * Profiles by id, the most recently updated first.
 *
 * @param characters the most to read of each JSON value.
 */
export const selectSmallProfiles = (
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
  characters: number,
) =>
  database.query<SmallProfile>(
    `select profile_id as id, external_id as "externalId", left(aliases::text, $4::int) as aliases, email,
       phone, left(standard_attributes::text, $4::int) as "standardAttributes",
       left(custom_attributes::text, $4::int) as "customAttributes", created_at as "createdAt"
     from profiles
     where ${OF_PROFILES}
     order by updated_at desc, profile_id desc`,
    [...ofProfiles(workspaceId, ids), characters],
  );
