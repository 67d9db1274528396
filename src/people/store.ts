import type { Queryable, Transaction } from "../database/database.ts";
import { timestamps, uuids } from "../database/typed-list.ts";
import type { Json } from "../values/plain-json.ts";
import type { Alias, Identifier } from "./identifiers.ts";

export type Attributes = Readonly<Record<string, Json>>;

export interface FoundIdentifier extends Identifier {
  readonly profileId: string;
}

/** Who has these identifiers. Values are matched whatever their kind; the caller knows the kind. */
export async function selectIdentifiers(
  database: Queryable,
  workspaceId: number,
  values: readonly string[],
  limit?: number,
): Promise<FoundIdentifier[]> {
  if (values.length === 0) return [];
  const statement = `select kind, value, profile_id as "profileId" from identifiers
     where workspace_id = $1 and value = any($2::text[])`;
  return limit === undefined
    ? database.query<FoundIdentifier>(statement, [workspaceId, values])
    : database.query<FoundIdentifier>(`${statement} limit $3`, [workspaceId, values, limit]);
}

/**
 * Adds identifiers; waits for a transaction that is about to add the same.
 *
 * @throws a serialization failure where one that names one person has an owner by now.
 */
export async function insertIdentifiers(
  tx: Transaction,
  workspaceId: number,
  identifiers: readonly FoundIdentifier[],
): Promise<void> {
  if (identifiers.length === 0) return;
  const sorted = [...identifiers].sort((a, b) => (a.value < b.value ? -1 : 1));
  await tx.execute(
    `insert into identifiers (workspace_id, value, kind, profile_id)
     select $1, value, kind::identifier_kind, profile_id
     from unnest($2::text[], $3::text[], $4::uuid[]) as new (value, kind, profile_id)
     on conflict do nothing
     returning 1`,
    [
      workspaceId,
      sorted.map((each) => each.value),
      sorted.map((each) => each.kind),
      sorted.map((each) => each.profileId),
    ],
    sorted.length,
  );
}

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
       and identifiers.value = gone.value
       and identifiers.kind = gone.kind
       and identifiers.profile_id = gone.profile_id`,
    [
      workspaceId,
      sorted.map((each) => each.value),
      sorted.map((each) => each.kind),
      sorted.map((each) => each.profileId),
    ],
  );
}

/** A profile as it is stored. */
export interface ProfileRow {
  readonly id: string;
  readonly version: number;
  readonly externalId: string | null;
  readonly aliases: readonly Alias[];
  readonly email: string | null;
  readonly phone: string | null;
  readonly standardAttributes: Attributes;
  readonly customAttributes: Attributes;
  readonly createdAt: Date;
  /** Microseconds since the epoch: two writes of one batch differ in these. */
  readonly updatedAtMicros: number;
}

const PROFILE_COLUMNS = `profile_id as id, version, external_id as "externalId", aliases, email,
  phone, standard_attributes as "standardAttributes", custom_attributes as "customAttributes",
  created_at as "createdAt",
  (extract(epoch from updated_at at time zone 'UTC') * 1000000)::bigint as "updatedAtMicros"`;

/** Profiles by id, in the order of `latestFirst`. */
export async function selectProfiles(
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
): Promise<ProfileRow[]> {
  if (ids.length === 0) return [];
  return database.query<ProfileRow>(
    `select ${PROFILE_COLUMNS} from profiles
     where workspace_id = $1 and profile_id = any($2::uuid[])
     order by updated_at desc, profile_id desc`,
    [workspaceId, ids],
  );
}

/**
 * Locks profiles until the transaction ends and reads them. An update, because Citus knows no
 * `for update` across shards. Those that are gone are left out.
 */
export async function lockProfiles(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
): Promise<ProfileRow[]> {
  if (ids.length === 0) return [];
  const rows = await tx.query<ProfileRow>(
    `update profiles set version = version + 1
     where workspace_id = $1 and profile_id = any($2::uuid[]) returning ${PROFILE_COLUMNS}`,
    [workspaceId, [...ids].sort()],
  );
  return rows.sort(latestFirst);
}

/** The most recently updated first; of two that were updated at the same moment the later one. */
export const latestFirst = (one: ProfileRow, other: ProfileRow): number =>
  other.updatedAtMicros - one.updatedAtMicros || (other.id > one.id ? 1 : -1);

/** A profile that is about to be made. */
export interface NewProfile {
  readonly id: string;
  readonly externalId: string | null;
  readonly aliases: readonly Alias[];
  readonly email: string | null;
  readonly phone: string | null;
  readonly standardAttributes: Attributes;
  readonly customAttributes: Attributes;
  /** Microseconds since the epoch, so that the writes of a batch keep their order. */
  readonly updatedAtMicros: number;
}

export async function insertProfiles(
  tx: Transaction,
  workspaceId: number,
  profiles: readonly NewProfile[],
): Promise<void> {
  if (profiles.length === 0) return;
  await tx.execute(
    `insert into profiles (workspace_id, profile_id, version, external_id, aliases, email, phone,
       standard_attributes, custom_attributes, created_at, updated_at)
     select $1, id, 1, external_id, aliases::jsonb, email, phone, standard::jsonb, custom::jsonb,
       updated_at, updated_at
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
       $8::text[], $9::timestamptz[])
       as new (id, external_id, aliases, email, phone, standard, custom, updated_at)`,
    [workspaceId, ...columnsOf(profiles)],
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
];

/** What changes about a stored profile. A member of an attributes patch that is null is removed. */
export interface ProfileUpdate {
  readonly id: string;
  /** The version that the change was worked out from; null where it holds for any. */
  readonly version: number | null;
  readonly standardPatch: Attributes | null;
  readonly customPatch: Attributes | null;
  /** Undefined leaves it. */
  readonly email: string | null | undefined;
  readonly phone: string | null | undefined;
  readonly updatedAtMicros: number;
}

/**
 * Updates profiles, each only if it is still there and at the version given; where no version is
 * given, only if its custom attributes stay within `mostCustomBytes`, for nobody has read them.
 *
 * @throws a serialization failure where one is not.
 */
export async function updateProfiles(
  tx: Transaction,
  workspaceId: number,
  updates: readonly ProfileUpdate[],
  mostCustomBytes: number | null,
): Promise<void> {
  if (updates.length === 0) return;
  const sorted = [...updates].sort((a, b) => (a.id < b.id ? -1 : 1));
  // One statement for all of them, because two would lock them in another order.
  const isPatch = sorted.every(isMerePatch);
  await (isPatch
    ? patchProfiles(tx, workspaceId, sorted, mostCustomBytes)
    : changeProfiles(tx, workspaceId, sorted, mostCustomBytes));
}

/** Adds attributes, whatever else is stored. */
const isMerePatch = ({ version, standardPatch, customPatch, email, phone }: ProfileUpdate) =>
  version === null &&
  email === undefined &&
  phone === undefined &&
  !removes(standardPatch) &&
  !removes(customPatch);

/**
 * What most batches come to. JSON goes in as one text for all of them, which neither side has to
 * escape: with the next statement in its place a batch took a fifth longer in the engine.
 */
const patchProfiles = (
  tx: Transaction,
  workspaceId: number,
  patches: readonly ProfileUpdate[],
  mostCustomBytes: number | null,
): Promise<number> =>
  tx.execute(
    `update profiles set
       version = profiles.version + 1,
       updated_at = greatest(profiles.updated_at, new.updated_at),
       standard_attributes = case when new.standard = 'null' then profiles.standard_attributes
         else profiles.standard_attributes || new.standard end,
       custom_attributes = case when new.custom = 'null' then profiles.custom_attributes
         else profiles.custom_attributes || new.custom end
     from rows from (unnest($2::uuid[]), jsonb_array_elements($3::text::jsonb),
         jsonb_array_elements($4::text::jsonb), unnest($5::timestamptz[]))
       as new (id, standard, custom, updated_at)
     where profiles.workspace_id = $1 and profiles.profile_id = any($2::uuid[])
       and profiles.profile_id = new.id
       and ($6::integer is null or new.custom = 'null'
         or pg_column_size(profiles.custom_attributes || new.custom) <= $6)`,
    [
      workspaceId,
      uuids(patches.map((patch) => patch.id)),
      JSON.stringify(patches.map((patch) => patch.standardPatch)),
      JSON.stringify(patches.map((patch) => patch.customPatch)),
      timestamps(patches.map((patch) => patch.updatedAtMicros)),
      mostCustomBytes,
    ],
    patches.length,
  );

/**
 * Values in JSON never hold null below the top, so stripping nulls removes just what was patched
 * away; it walks the whole value, hence only where something is removed.
 */
const changeProfiles = (
  tx: Transaction,
  workspaceId: number,
  updates: readonly ProfileUpdate[],
  mostCustomBytes: number | null,
): Promise<number> =>
  tx.execute(
    `update profiles set
       version = profiles.version + 1,
       updated_at = greatest(profiles.updated_at, new.updated_at),
       email = case when new.sets_email then new.email else profiles.email end,
       phone = case when new.sets_phone then new.phone else profiles.phone end,
       standard_attributes = case
         when new.standard is null then profiles.standard_attributes
         when new.removes_standard
           then jsonb_strip_nulls(profiles.standard_attributes || new.standard::jsonb)
         else profiles.standard_attributes || new.standard::jsonb end,
       custom_attributes = case
         when new.custom is null then profiles.custom_attributes
         when new.removes_custom
           then jsonb_strip_nulls(profiles.custom_attributes || new.custom::jsonb)
         else profiles.custom_attributes || new.custom::jsonb end
     from unnest($2::uuid[], $3::bigint[], $4::text[], $5::bool[], $6::text[], $7::bool[],
       $8::bool[], $9::text[], $10::bool[], $11::text[], $12::timestamptz[])
       as new (id, version, standard, removes_standard, custom, removes_custom,
         sets_email, email, sets_phone, phone, updated_at)
     where profiles.workspace_id = $1 and profiles.profile_id = any($2::uuid[])
       and profiles.profile_id = new.id
       and case
         when new.version is not null then profiles.version = new.version
         when $13::integer is null or new.custom is null then true
         else pg_column_size(profiles.custom_attributes || new.custom::jsonb) <= $13 end`,
    [
      workspaceId,
      updates.map((update) => update.id),
      updates.map((update) => update.version),
      updates.map((update) => update.standardPatch && JSON.stringify(update.standardPatch)),
      updates.map((update) => removes(update.standardPatch)),
      updates.map((update) => update.customPatch && JSON.stringify(update.customPatch)),
      updates.map((update) => removes(update.customPatch)),
      updates.map((update) => update.email !== undefined),
      updates.map((update) => update.email ?? null),
      updates.map((update) => update.phone !== undefined),
      updates.map((update) => update.phone ?? null),
      timestamps(updates.map((update) => update.updatedAtMicros)),
      mostCustomBytes,
    ],
    updates.length,
  );

/** Writes whole profiles that the transaction has locked. */
export async function replaceProfiles(
  tx: Transaction,
  workspaceId: number,
  profiles: readonly NewProfile[],
): Promise<void> {
  if (profiles.length === 0) return;
  await tx.query(
    `update profiles set
       version = profiles.version + 1,
       updated_at = greatest(profiles.updated_at, new.updated_at),
       external_id = new.external_id, aliases = new.aliases::jsonb,
       email = new.email, phone = new.phone,
       standard_attributes = new.standard::jsonb, custom_attributes = new.custom::jsonb
     from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
       $8::text[], $9::timestamptz[])
       as new (id, external_id, aliases, email, phone, standard, custom, updated_at)
     where profiles.workspace_id = $1 and profiles.profile_id = any($2::uuid[])
       and profiles.profile_id = new.id`,
    [workspaceId, ...columnsOf(profiles)],
  );
}

/** Removes profiles that the transaction has locked. */
export async function deleteProfiles(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query("delete from profiles where workspace_id = $1 and profile_id = any($2::uuid[])", [
    workspaceId,
    ids,
  ]);
}

function removes(patch: Attributes | null): boolean {
  for (const name in patch) if (patch[name] === null) return true;
  return false;
}

/** How many locks stand for all addresses: few enough for the engine's lock table. */
const ADDRESS_LOCKS = 1_024;

/** Distinguishes these locks from Rapport's others. */
const ADDRESS_LOCK_CLASS = 7_270_413;

/**
 * Holds addresses until the transaction ends, so that two transactions never make a profile each
 * for one unused address.
 */
export async function lockAddresses(
  tx: Transaction,
  workspaceId: number,
  addresses: readonly Identifier[],
): Promise<void> {
  const numbers = addresses.map(
    ({ kind, value }) => hashOf(`${workspaceId} ${kind} ${value}`) % ADDRESS_LOCKS,
  );
  const sorted = [...new Set(numbers)].sort((a, b) => a - b);
  await tx.query("select pg_advisory_xact_lock($1::int, number) from unnest($2::int[]) as number", [
    ADDRESS_LOCK_CLASS,
    sorted,
  ]);
}

/** FNV-1a: any spread will do, as long as it is the same in every process. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}

/** Removes every person of a workspace, with all identifiers. */
export async function deleteAllProfiles(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("delete from identifiers where workspace_id = $1", [workspaceId]);
  await tx.query("delete from profiles where workspace_id = $1", [workspaceId]);
}
