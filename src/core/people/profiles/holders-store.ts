import { inSlices, nextTurn } from "../../base/turns.ts";
import { bucketOfValue, bucketsOfValues, OF_PROFILES, ofProfiles } from "../../database/buckets.ts";
import type { Queryable } from "../../database/database.ts";
import { type FoundIdentifier, latestFirst, type ProfileRow } from "./store.ts";

/** More identifiers than values, by far: some address is shared by many. */
const MANY_HOLDERS = 5_000;

/**
 * The profiles that have these identifiers. Matches values of every kind; the caller filters by
 * kind. The holders of an address that thousands share are read in pages.
 *
 * @param limit the most to read.
 */
export async function selectIdentifiers(
  database: Queryable,
  workspaceId: number,
  values: readonly string[],
  limit?: number,
): Promise<FoundIdentifier[]> {
  if (values.length === 0) return [];
  const statement = `select kind, value, profile_id as "profileId" from identifiers
     where workspace_id = $1 and value = any($2::text[]) and bucket = any($3::smallint[]) limit $4`;
  const most = Math.min(limit ?? Number.POSITIVE_INFINITY, 2 * values.length + MANY_HOLDERS);
  const { all } = bucketsOfValues(workspaceId, values);
  const found = await database.query<FoundIdentifier>(statement, [workspaceId, values, all, most]);
  if (found.length < most || most === limit) return found;
  const pages: FoundIdentifier[] = [];
  for (const value of new Set(values)) {
    for await (const page of holdersInPages(database, workspaceId, value)) {
      for (const row of page) pages.push(row);
      if (limit !== undefined && pages.length >= limit) return pages.slice(0, limit);
    }
  }
  return pages;
}

async function* holdersInPages(
  database: Queryable,
  workspaceId: number,
  value: string,
): AsyncGenerator<readonly FoundIdentifier[]> {
  let last: FoundIdentifier | undefined;
  do {
    // Two statements: a condition that may be absent would not be looked up in the index by a plan that is kept.
    const page: FoundIdentifier[] = await database.query<FoundIdentifier>(
      `select kind, value, profile_id as "profileId" from identifiers
       where workspace_id = $1 and value = $2 and bucket = $3
         ${last ? "and (kind, profile_id) > ($5::text::identifier_kind, $6::uuid)" : ""}
       order by kind, profile_id limit $4`,
      [
        workspaceId,
        value,
        bucketOfValue(workspaceId, value),
        MANY_HOLDERS,
        ...(last ? [last.kind, last.profileId] : []),
      ],
    );
    yield page;
    await nextTurn();
    last = page.length === MANY_HOLDERS ? page.at(-1) : undefined;
  } while (last);
}

/** When profiles were last updated, in microseconds since the epoch. */
export async function selectUpdateTimes(
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await inSlices(ids, (slice) =>
    database.query<Pick<ProfileRow, "id" | "updatedAtMicros">>(
      `select profile_id as id,
         (extract(epoch from updated_at at time zone 'UTC') * 1000000)::bigint as "updatedAtMicros"
       from profiles where ${OF_PROFILES}`,
      ofProfiles(workspaceId, slice),
    ),
  );
  return new Map(rows.map(({ id, updatedAtMicros }) => [id, Number(updatedAtMicros)]));
}

/** Which of the profiles that have an address come first. */
export interface HolderOrder {
  /** Only those with, or without, an external_id; undefined for both. */
  readonly isIdentified?: boolean | undefined;
  /** Those with an external_id come before all others: as an address identifies users (people.ts, `preferred`). */
  readonly prefersIdentified?: boolean;
  /** The least recently updated first. */
  readonly isAscending?: boolean;
}

/** The ids of the first of these profiles. @param count how many. */
export async function selectFirst(
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
  { isIdentified, prefersIdentified, isAscending }: HolderOrder,
  count: number,
): Promise<string[]> {
  type Ranked = Pick<ProfileRow, "id" | "updatedAtMicros"> & { readonly isIdentified: boolean };
  const direction = isAscending ? "asc" : "desc";
  const first = await inSlices(ids, (slice) =>
    database.query<Ranked>(
      `select profile_id as id, external_id is not null as "isIdentified",
         (extract(epoch from updated_at at time zone 'UTC') * 1000000)::bigint as "updatedAtMicros"
       from profiles
       where ${OF_PROFILES} and ($4::boolean is null or (external_id is not null) = $4)
       order by ${prefersIdentified ? "external_id is not null desc," : ""}
         updated_at ${direction}, profile_id ${direction} limit $5`,
      [...ofProfiles(workspaceId, slice), isIdentified ?? null, count],
    ),
  );
  const rank = (row: Ranked) => (prefersIdentified && !row.isIdentified ? 1 : 0);
  first.sort(
    (one, other) =>
      rank(one) - rank(other) || (isAscending ? latestFirst(other, one) : latestFirst(one, other)),
  );
  return first.slice(0, count).map(({ id }) => id);
}
