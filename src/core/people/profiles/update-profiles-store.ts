import { randomUUID } from "node:crypto";
import { afterAll, inSlices } from "../../base/turns.ts";
import { bucketsOfIds } from "../../database/buckets.ts";
import type { Transaction } from "../../database/database.ts";
import { texts, timestamps, uuids } from "../../database/parameters/typed-list.ts";
import { hasName, sentNameOf, wordsOf } from "./name-words-store.ts";
import type { Attributes, ProfileRow } from "./store.ts";

/** The changes of a stored profile. A member of an attributes patch that is null is removed. */
export interface ProfileUpdate {
  readonly id: string;
  /** Only as far as it is known. */
  readonly externalId: string | null;
  /** The profile that was read; undefined if it was not read. */
  readonly before: ProfileRow | undefined;
  /** The version that the change was computed from; null if the change fits any version. */
  readonly version: number | null;
  readonly standardPatch: Attributes | null;
  readonly customPatch: Attributes | null;
  /** Undefined leaves it. */
  readonly email: string | null | undefined;
  readonly phone: string | null | undefined;
  /** The addresses that a profile that was not read must have; none if undefined or null. */
  readonly assumedEmail: string | null | undefined;
  readonly assumedPhone: string | null | undefined;
  readonly updatedAtMicros: number;
}

/**
 * Updates profiles. Each must still exist and have the given version. Without a version, it must
 * have the assumed addresses, and its custom attributes must stay within `mostCustomBytes`.
 *
 * @throws a serialization failure if one does not.
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

/** Adds attributes to the stored ones. */
const isMerePatch = ({ version, standardPatch, customPatch, email, phone }: ProfileUpdate) =>
  version === null &&
  email === undefined &&
  phone === undefined &&
  !removes(standardPatch) &&
  !removes(customPatch);

/**
 * The form of most batches. JSON goes in as one text for all of them, which neither side has to
 * escape: with the next statement in its place a batch took a fifth longer in the engine.
 */
function patchProfiles(
  tx: Transaction,
  workspaceId: number,
  patches: readonly ProfileUpdate[],
  mostCustomBytes: number | null,
): Promise<number> {
  const ids = patches.map((patch) => patch.id);
  const customs = patches.map((patch) => JSON.stringify(patch.customPatch));
  const parameters = [
    workspaceId,
    uuids(ids),
    JSON.stringify(patches.map((patch) => patch.standardPatch)),
    `[${customs.join()}]`,
    timestamps(patches.map((patch) => patch.updatedAtMicros)),
    mostBytesBefore(customs, mostCustomBytes),
    bucketsOfIds(ids).all,
  ];
  if (patches.some(({ assumedEmail, assumedPhone }) => assumedEmail || assumedPhone)) {
    const emails = texts(patches.map((patch) => patch.assumedEmail ?? null));
    const phones = texts(patches.map((patch) => patch.assumedPhone ?? null));
    const statement = PATCH_ASSUMING[hasNames(patches)] ?? "";
    return tx.execute(statement, [...parameters, emails, phones], patches.length);
  }
  return tx.execute(PATCH[hasNames(patches)] ?? "", parameters, patches.length);
}

/** 1 if an update has a name. */
const hasNames = (updates: readonly ProfileUpdate[]): 0 | 1 =>
  updates.some(({ standardPatch }) => hasName(standardPatch)) ? 1 : 0;

/**
 * How large custom attributes may be before any of these patches, so that they stay within
 * `mostCustomBytes` after it: that is measured without putting the two together. A size near the
 * limit is read on the next try, and counted exactly. The size of the text is compared, because Citus
 * updates by immutable functions only, and `pg_column_size` is not one.
 */
function mostBytesBefore(
  patches: readonly (string | null)[],
  mostCustomBytes: number | null,
): number | null {
  if (mostCustomBytes === null) return null;
  let largest = 0;
  for (const patch of patches) largest = Math.max(largest, patch ? Buffer.byteLength(patch) : 0);
  return mostCustomBytes - largest;
}

/**
 * Sets the words of the name to those of the attributes after the update. Only statements with a name have it: the
 * planner takes a while for so long an expression.
 *
 * @param isSame whether the patch leaves the name as it is: most senders repeat it.
 */
function settingWords(patch: string, isSame: string): string {
  const after = sentNameOf(`(profiles.standard_attributes || ${patch})`);
  return `, name_words = case when ${isSame} then profiles.name_words
       when ${after} <> ' ' then ${wordsOf(after)} end`;
}

/** In a patch without nulls. */
const IS_SAME = ["first_name", "last_name"]
  .map((name) => {
    const stored = `profiles.standard_attributes ->> '${name}'`;
    return `coalesce(new.standard ->> '${name}', ${stored}, '') = coalesce(${stored}, '')`;
  })
  .join(" and ");

const patchStatement = (words: string, lists = "", columns = "", condition = ""): string =>
  `update profiles set
     version = profiles.version + 1,
     updated_at = greatest(profiles.updated_at, new.updated_at),
     standard_attributes = case when new.standard = 'null' then profiles.standard_attributes
       else profiles.standard_attributes || new.standard end,
     custom_attributes = case when new.custom = 'null' then profiles.custom_attributes
       else profiles.custom_attributes || new.custom end${words}
   from rows from (unnest($2::uuid[]), jsonb_array_elements($3::text::jsonb),
       jsonb_array_elements($4::text::jsonb), unnest($5::timestamptz[])${lists})
     as new (id, standard, custom, updated_at${columns})
   where profiles.workspace_id = $1 and profiles.profile_id = any($2::uuid[])
     and profiles.bucket = any($7::smallint[]) and profiles.profile_id = new.id
     and ($6::integer is null or new.custom = 'null'
       or octet_length(profiles.custom_attributes::text) <= $6)${condition}`;

/** Of patches without a name, and with one. */
const PATCH = ["", settingWords("new.standard", IS_SAME)].map((words) => patchStatement(words));

const PATCH_ASSUMING = ["", settingWords("new.standard", IS_SAME)].map((words) =>
  patchStatement(
    words,
    ", unnest($8::text[]), unnest($9::text[])",
    ", email, phone",
    ` and (new.email is null or profiles.email = new.email)
     and (new.phone is null or profiles.phone = new.phone)`,
  ),
);

/**
 * Between names of attributes in one text: Citus updates by immutable functions only, and the cast
 * of a text to an array is not one. No name contains it, because it is random.
 */
const NAME_SEPARATOR = randomUUID();

const HAS_NO_NAME = "not coalesce(new.standard::jsonb ?| array['first_name', 'last_name'], false)";

/** A value may hold nulls of its own, so members are removed by name. */
function changeProfiles(
  tx: Transaction,
  workspaceId: number,
  updates: readonly ProfileUpdate[],
  mostCustomBytes: number | null,
): Promise<number> {
  const customs = updates.map(({ customPatch }) => customPatch && JSON.stringify(customPatch));
  return tx.execute(
    `update profiles set
       version = profiles.version + 1,
       updated_at = greatest(profiles.updated_at, new.updated_at),
       email = case when new.sets_email then new.email else profiles.email end,
       phone = case when new.sets_phone then new.phone else profiles.phone end,
       standard_attributes = case
         when new.standard is null then profiles.standard_attributes
         when new.removed_standard is not null
           then (profiles.standard_attributes || new.standard::jsonb)
             - string_to_array(new.removed_standard, $17)
         else profiles.standard_attributes || new.standard::jsonb end,
       custom_attributes = case
         when new.custom is null then profiles.custom_attributes
         when new.removed_custom is not null
           then (profiles.custom_attributes || new.custom::jsonb)
             - string_to_array(new.removed_custom, $17)
         else profiles.custom_attributes || new.custom::jsonb end${hasNames(updates) ? settingWords("new.standard::jsonb", HAS_NO_NAME) : ""}
     from unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
       $8::bool[], $9::text[], $10::bool[], $11::text[], $12::timestamptz[], $14::text[],
       $15::text[])
       as new (id, version, standard, removed_standard, custom, removed_custom,
         sets_email, email, sets_phone, phone, updated_at, assumed_email, assumed_phone)
     where profiles.workspace_id = $1 and profiles.profile_id = any($2::uuid[])
       and profiles.bucket = any($16::smallint[]) and profiles.profile_id = new.id
       and (new.assumed_email is null or profiles.email = new.assumed_email)
       and (new.assumed_phone is null or profiles.phone = new.assumed_phone)
       and case
         when new.version is not null then profiles.version = new.version
         when $13::integer is null or new.custom is null then true
         else octet_length(profiles.custom_attributes::text) <= $13 end`,
    [
      workspaceId,
      updates.map((update) => update.id),
      updates.map((update) => update.version),
      updates.map((update) => update.standardPatch && JSON.stringify(update.standardPatch)),
      updates.map((update) => removedNames(update.standardPatch)),
      customs,
      updates.map((update) => removedNames(update.customPatch)),
      updates.map((update) => update.email !== undefined),
      updates.map((update) => update.email ?? null),
      updates.map((update) => update.phone !== undefined),
      updates.map((update) => update.phone ?? null),
      timestamps(updates.map((update) => update.updatedAtMicros)),
      mostBytesBefore(customs, mostCustomBytes),
      updates.map((update) => update.assumedEmail ?? null),
      updates.map((update) => update.assumedPhone ?? null),
      bucketsOfIds(updates.map((update) => update.id)).all,
      NAME_SEPARATOR,
    ],
    updates.length,
  );
}

const removedNames = (patch: Attributes | null): string | null =>
  removes(patch)
    ? Object.entries(patch ?? {})
        .flatMap(([name, value]) => (value === null ? [name] : []))
        .join(NAME_SEPARATOR)
    : null;

function removes(patch: Attributes | null): boolean {
  for (const name in patch) if (patch[name] === null) return true;
  return false;
}

/** A profile about which something is written that is stored elsewhere. */
export interface ProfileTouch {
  readonly id: string;
  readonly updatedAtMicros: number;
  /** The version that the write was computed from; null if the write fits any version. */
  readonly version: number | null;
  /** The addresses that the profile must have; undefined for any. */
  readonly addresses: { readonly email: string | null; readonly phone: string | null } | undefined;
}

/**
 * Locks profiles until the transaction ends and marks them as updated. Each must match the
 * assumptions.
 *
 * @throws a serialization failure if one does not.
 */
export async function touchProfiles(
  tx: Transaction,
  workspaceId: number,
  touches: readonly ProfileTouch[],
): Promise<void> {
  const all = [...touches].sort((a, b) => (a.id < b.id ? -1 : 1));
  await afterAll(all);
  await inSlices(all, async (slice) => {
    await touchSlice(tx, workspaceId, slice);
    return [];
  });
}

/** @param sorted by id, so that transactions lock in one order. */
async function touchSlice(
  tx: Transaction,
  workspaceId: number,
  sorted: readonly ProfileTouch[],
): Promise<void> {
  if (sorted.length === 0) return;
  const ids = sorted.map(({ id }) => id);
  await tx.execute(
    `update profiles set
       version = profiles.version + 1,
       updated_at = greatest(profiles.updated_at, new.updated_at)
     from unnest($2::uuid[], $3::timestamptz[], $4::bigint[], $5::bool[], $6::text[], $7::text[])
       as new (id, updated_at, version, has_addresses, email, phone)
     where profiles.workspace_id = $1 and profiles.profile_id = any($2::uuid[])
       and profiles.bucket = any($8::smallint[]) and profiles.profile_id = new.id
       and (new.version is null or profiles.version = new.version)
       and (not new.has_addresses or (profiles.email is not distinct from new.email
         and profiles.phone is not distinct from new.phone))`,
    [
      workspaceId,
      uuids(ids),
      timestamps(sorted.map(({ updatedAtMicros }) => updatedAtMicros)),
      sorted.map(({ version }) => version),
      sorted.map(({ addresses }) => addresses !== undefined),
      texts(sorted.map(({ addresses }) => addresses?.email ?? null)),
      texts(sorted.map(({ addresses }) => addresses?.phone ?? null)),
      bucketsOfIds(ids).all,
    ],
    sorted.length,
  );
}
