import { inSlices, isSliced, nextTurn } from "../../base/turns.ts";
import { fnv1a } from "../../base/values/hashes.ts";
import type { Json } from "../../base/values/plain-json.ts";
import { bucketsOfIds, bucketsOfValues, OF_PROFILES, ofProfiles } from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { texts, timestamps, uuids } from "../../database/parameters/typed-list.ts";
import type { Alias, Identifier } from "./identifiers.ts";
import { sentName, sentNameOf, wordsOf } from "./name-words-store.ts";

export type Attributes = Readonly<Record<string, Json>>;

export interface FoundIdentifier extends Identifier {
  readonly profileId: string;
}

/**
 * Adds identifiers; waits for a transaction that is about to add the same.
 *
 * @throws a serialization failure if one that must be unique already has an owner.
 */
export async function insertIdentifiers(
  tx: Transaction,
  workspaceId: number,
  identifiers: readonly FoundIdentifier[],
): Promise<void> {
  if (identifiers.length === 0) return;
  const values = identifiers.map((each) => each.value);
  const buckets = bucketsOfValues(workspaceId, values);
  await tx.execute(
    `insert into identifiers (workspace_id, bucket, value, kind, profile_id)
     select $1, bucket, value, kind::identifier_kind, profile_id
     from buckets join unnest($2::text[], $3::text[], $4::uuid[], $5::smallint[])
       as new (value, kind, profile_id, bucket) using (bucket)
     where bucket = any($6::smallint[])
     order by value collate "C"
     on conflict do nothing
     returning 1`,
    [
      workspaceId,
      values,
      identifiers.map((each) => each.kind),
      identifiers.map((each) => each.profileId),
      buckets.each,
      buckets.all,
    ],
    identifiers.length,
  );
}

/** Removes identifiers from the profiles that have them, in key order; missing ones are ignored. */
export async function deleteIdentifiers(
  tx: Transaction,
  workspaceId: number,
  identifiers: readonly FoundIdentifier[],
): Promise<void> {
  if (identifiers.length === 0) return;
  const sorted = [...identifiers].sort((a, b) => (a.value < b.value ? -1 : 1));
  await tx.query(
    `delete from identifiers using
       unnest($2::text[], $3::identifier_kind[], $4::uuid[]) as gone (value, kind, profile_id)
     where identifiers.workspace_id = $1 and identifiers.value = any($2::text[])
       and identifiers.bucket = any($5::smallint[])
       and identifiers.value = gone.value
       and identifiers.kind = gone.kind
       and identifiers.profile_id = gone.profile_id`,
    [
      workspaceId,
      sorted.map((each) => each.value),
      sorted.map((each) => each.kind),
      sorted.map((each) => each.profileId),
      bucketsOfValues(
        workspaceId,
        sorted.map((each) => each.value),
      ).all,
    ],
  );
}

/** The row of a profile without its id and times. */
export interface ProfileFields {
  readonly externalId: string | null;
  readonly aliases: readonly Alias[];
  readonly email: string | null;
  readonly phone: string | null;
  readonly standardAttributes: Attributes;
  readonly customAttributes: Attributes;
}

interface AnyProfile extends ProfileFields {
  readonly id: string;
  /** Microseconds since the epoch: two writes of one batch differ in these. */
  readonly updatedAtMicros: number;
}

/** A profile as stored. */
export interface ProfileRow extends AnyProfile {
  readonly version: number;
  readonly createdAt: Date;
}

const BARE_COLUMNS = `profile_id as id, version, external_id as "externalId", email, phone,
  (extract(epoch from updated_at at time zone 'UTC') * 1000000)::bigint as "updatedAtMicros"`;

/**
 * The columns of profiles to read: everything, all but the attributes, or no aliases either. The others are empty:
 * reading and parsing them takes most of the time.
 */
type Columns = "all" | "names" | "bare";

const PROFILE_COLUMNS = `${BARE_COLUMNS}, aliases, standard_attributes as "standardAttributes",
  custom_attributes as "customAttributes", created_at as "createdAt"`;

const COLUMNS: Readonly<Record<Columns, string>> = {
  all: PROFILE_COLUMNS,
  names: `${BARE_COLUMNS}, aliases, '{}'::jsonb as "standardAttributes",
    '{}'::jsonb as "customAttributes", created_at as "createdAt"`,
  bare: BARE_COLUMNS,
};

/** Profiles by id, in the order of `latestFirst`. */
export async function selectProfiles(
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
  columns: Columns = "all",
) {
  if (ids.length === 0) return [];
  const rows = await inSlices(ids, async (slice) =>
    completed(
      columns,
      await database.query<ProfileRow>(
        `select ${COLUMNS[columns]} from profiles
         where ${OF_PROFILES}
         order by updated_at desc, profile_id desc`,
        [workspaceId, uuids(slice), bucketsOfIds(slice).all],
      ),
    ),
  );
  // Slices are each in their order; all together are in no order yet.
  if (isSliced(ids)) {
    rows.sort(latestFirst);
    await nextTurn();
  }
  return rows;
}

const BARE = {
  aliases: [],
  standardAttributes: {},
  customAttributes: {},
  createdAt: new Date(0),
} satisfies Partial<ProfileRow>;

const completed = (columns: Columns, rows: ProfileRow[]): ProfileRow[] =>
  columns === "bare" ? rows.map((row) => Object.assign(row, BARE)) : rows;

/** The identifiers and addresses of a user, without attributes, which may take a megabyte for each of the users who share an address. */
export type ProfileAddresses = Pick<ProfileRow, "id" | "externalId" | "email" | "phone">;

/**
 * Locks profiles until the transaction ends and reads them. An update, because Citus knows no `for
 * update` across shards. Profiles that no longer exist are left out.
 */
export async function lockProfiles(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
  columns: Columns = "all",
): Promise<ProfileRow[]> {
  if (ids.length === 0) return [];
  const rows = await inSlices([...ids].sort(), (slice) =>
    tx.query<ProfileRow>(
      `update profiles set version = version + 1
       where ${OF_PROFILES}
       returning ${COLUMNS[columns]}`,
      ofProfiles(workspaceId, slice),
    ),
  );
  return completed(columns, rows).sort(latestFirst);
}

/** The most recently updated first; if the times are equal, the later one. */
export const latestFirst = (
  one: Pick<ProfileRow, "id" | "updatedAtMicros">,
  other: Pick<ProfileRow, "id" | "updatedAtMicros">,
): number => other.updatedAtMicros - one.updatedAtMicros || (other.id > one.id ? 1 : -1);

/** A profile to create. */
export interface NewProfile extends AnyProfile {
  /** When it was created, in microseconds, of a user who returns (`setTimes`); by default the time of the update. */
  readonly createdAtMicros?: number;
}

export async function insertProfiles(
  tx: Transaction,
  workspaceId: number,
  profiles: readonly NewProfile[],
): Promise<void> {
  if (profiles.length === 0) return;
  const buckets = bucketsOfIds(profiles.map((profile) => profile.id));
  await tx.execute(
    `insert into profiles (workspace_id, bucket, profile_id, version, external_id, aliases, email,
       phone, standard_attributes, custom_attributes, created_at, updated_at, name_words)
     select $1, bucket, id, 1, external_id, aliases::jsonb, email, phone, standard::jsonb,
       custom::jsonb, updated_at, updated_at, ${wordsOf("name")}
     from buckets join unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[],
       $7::text[], $8::text[], $9::timestamptz[], $10::text[], $11::smallint[])
       as new (id, external_id, aliases, email, phone, standard, custom, updated_at, name, bucket)
       using (bucket)
     where bucket = any($12::smallint[])`,
    [workspaceId, ...columnsOf(profiles), buckets.each, buckets.all],
  );
}

const columnsOf = (profiles: readonly NewProfile[]) => [
  profiles.map((profile) => profile.id),
  profiles.map((profile) => profile.externalId),
  profiles.map((profile) => JSON.stringify(profile.aliases)),
  profiles.map((profile) => profile.email),
  profiles.map((profile) => profile.phone),
  profiles.map((profile) => JSON.stringify(profile.standardAttributes)),
  profiles.map((profile) => JSON.stringify(profile.customAttributes)),
  timestamps(profiles.map((profile) => profile.updatedAtMicros)),
  profiles.map((profile) => sentName(profile.standardAttributes)),
];

/** Writes whole profiles that the transaction has locked. */
export async function replaceProfiles(
  tx: Transaction,
  workspaceId: number,
  profiles: readonly NewProfile[],
): Promise<void> {
  if (profiles.length === 0) return;
  const ids = profiles.map((profile) => profile.id);
  await tx.query(
    `update profiles set
       version = profiles.version + 1,
       updated_at = greatest(profiles.updated_at, new.updated_at),
       external_id = new.external_id, aliases = new.aliases,
       email = new.email, phone = new.phone,
       standard_attributes = new.standard, custom_attributes = new.custom,
       name_words = case when ${sentNameOf("profiles.standard_attributes")} = coalesce(new.name, ' ')
         then profiles.name_words else ${wordsOf("new.name")} end
     from rows from (unnest($2::uuid[]), unnest($3::text[]), unnest($4::text[]), unnest($5::text[]),
         unnest($6::timestamptz[]), unnest($8::text[]), jsonb_array_elements($9::text::jsonb),
         jsonb_array_elements($10::text::jsonb), jsonb_array_elements($11::text::jsonb))
       as new (id, external_id, email, phone, updated_at, name, aliases, standard, custom)
     where profiles.workspace_id = $1 and profiles.profile_id = any($2::uuid[])
       and profiles.bucket = any($7::smallint[]) and profiles.profile_id = new.id`,
    [
      workspaceId,
      uuids(ids),
      texts(profiles.map((profile) => profile.externalId)),
      texts(profiles.map((profile) => profile.email)),
      texts(profiles.map((profile) => profile.phone)),
      timestamps(profiles.map((profile) => profile.updatedAtMicros)),
      bucketsOfIds(ids).all,
      texts(profiles.map((profile) => sentName(profile.standardAttributes))),
      // One text for all of them, which neither side has to escape: as lists, 1 MB blocked everyone
      // else for 40 ms.
      JSON.stringify(profiles.map((profile) => profile.aliases)),
      JSON.stringify(profiles.map((profile) => profile.standardAttributes)),
      JSON.stringify(profiles.map((profile) => profile.customAttributes)),
    ],
  );
}

/** When a user was created, according to an import. */
export interface CreationTime {
  readonly profileId: string;
  readonly createdAt: Date;
}

/** Sets earlier creation times; a later one changes nothing. Each profile once. */
export async function updateCreationTimes(
  tx: Transaction,
  workspaceId: number,
  times: readonly CreationTime[],
): Promise<void> {
  const ids = times.map(({ profileId }) => profileId);
  await tx.query(
    `update profiles set created_at = new.created_at
     from unnest($2::uuid[], $3::timestamptz[]) as new (id, created_at)
     where profiles.workspace_id = $1 and profiles.profile_id = any($2::uuid[])
       and profiles.bucket = any($4::smallint[]) and profiles.profile_id = new.id
       and new.created_at < profiles.created_at`,
    [
      workspaceId,
      ids,
      timestamps(times.map(({ createdAt }) => createdAt.getTime() * 1_000)),
      bucketsOfIds(ids).all,
    ],
  );
}

/** A profile that was removed, and when it was created, in microseconds. */
export interface RemovedProfile {
  readonly id: string;
  readonly createdAtMicros: number;
}

/** Removes profiles that the transaction has locked. */
export async function deleteProfiles(tx: Transaction, workspaceId: number, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return tx.query<RemovedProfile>(
    `delete from profiles where ${OF_PROFILES}
     returning profile_id as id,
       (extract(epoch from created_at at time zone 'UTC') * 1000000)::bigint as "createdAtMicros"`,
    ofProfiles(workspaceId, ids),
  );
}

/** How many locks all addresses share: few enough for the engine's lock table. */
const ADDRESS_LOCKS = 1_024;

/** Distinguishes these locks from Rapport's others. */
const ADDRESS_LOCK_CLASS = 7_270_413;

/**
 * Locks addresses until the transaction ends, so that two transactions never create a profile each for
 * one unused address.
 */
export async function lockAddresses(
  tx: Transaction,
  workspaceId: number,
  addresses: readonly Identifier[],
): Promise<void> {
  const numbers = addresses.map(
    ({ kind, value }) => (fnv1a(`${workspaceId} ${kind} ${value}`) >>> 0) % ADDRESS_LOCKS,
  );
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  await tx.query("select pg_advisory_xact_lock($1::int, number) from unnest($2::int[]) as number", [
    ADDRESS_LOCK_CLASS,
    sorted,
  ]);
}

/** Removes every person of a workspace, with all identifiers. */
export async function deleteAllProfiles(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("delete from identifiers where workspace_id = $1", [workspaceId]);
  await tx.query("delete from profiles where workspace_id = $1", [workspaceId]);
}
