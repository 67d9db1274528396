import type { Json } from "../../base/values/plain-json.ts";
import { bucketOfId, bucketsOfIds } from "../../database/buckets.ts";
import type { Queryable, Transaction } from "../../database/database.ts";
import { texts, timestamps, uuids } from "../../database/parameters/typed-list.ts";
import type { TimelineRange } from "../activity/activity.ts";

/** A merge, identification or deletion with its effects. Holds no personal data. */
export interface AuditEntry {
  readonly id: string;
  readonly at: Date;
  readonly action: "merge" | "identify" | "delete";
  readonly call: string;
  readonly keyName: string | null;
  readonly requestId: string;
  /** The profile that was kept, or deleted. */
  readonly profileId: string;
  readonly mergedProfileId: string | null;
  readonly effects: readonly AuditedEffect[];
}

/** An effect with names and counts only. */
export interface AuditedEffect {
  readonly field: string;
  readonly name?: string;
  readonly effect: string;
  readonly kept?: Json;
  readonly merged?: Json;
  readonly result?: Json;
}

export interface NewAuditEntry extends AuditEntry {
  /** Whether it is a merge that can be undone. */
  readonly isRecorded: boolean;
}

export async function insertAuditEntries(
  tx: Transaction,
  workspaceId: number,
  entries: readonly NewAuditEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const profileIds = entries.map((entry) => entry.profileId);
  const buckets = bucketsOfIds(profileIds);
  await tx.query(
    `insert into identity_audit (workspace_id, bucket, audit_id, at, action, call, key_name,
       request_id, profile_id, merged_profile_id, effects, recorded)
     select $1, bucket, id, at, action, call, key_name, request_id, profile_id, merged_profile_id,
       effects, recorded
     from buckets join rows from (unnest($2::uuid[]), unnest($3::timestamptz[]), unnest($4::text[]),
         unnest($5::text[]), unnest($6::text[]), unnest($7::text[]), unnest($8::uuid[]),
         unnest($9::uuid[]), jsonb_array_elements($13::text::jsonb), unnest($10::smallint[]),
         unnest($12::boolean[]))
       as new (id, at, action, call, key_name, request_id, profile_id, merged_profile_id, effects,
         bucket, recorded) using (bucket)
     where bucket = any($11::smallint[])`,
    [
      workspaceId,
      uuids(entries.map((entry) => entry.id)),
      timestamps(entries.map((entry) => entry.at.getTime() * 1_000)),
      texts(entries.map((entry) => entry.action)),
      texts(entries.map((entry) => entry.call)),
      texts(entries.map((entry) => entry.keyName)),
      texts(entries.map((entry) => entry.requestId)),
      uuids(profileIds),
      entries.map((entry) => entry.mergedProfileId),
      buckets.each,
      buckets.all,
      entries.map((entry) => entry.isRecorded || null),
      // One text for all of them, which neither side has to escape; the last, because a list after it is added by a copy.
      JSON.stringify(entries.map((entry) => entry.effects)),
    ],
  );
}

const AUDIT_COLUMNS = `audit_id as id, at, action, call, key_name as "keyName",
  request_id as "requestId", profile_id as "profileId", merged_profile_id as "mergedProfileId", effects`;

/** Which entries to read; undefined members do not narrow. */
export interface AuditFilter {
  /** Users that were kept, merged or deleted. */
  readonly profileId: string | undefined;
  /** Only entries recorded before this one. */
  readonly beforeId: string | undefined;
  readonly limit: number;
}

export const selectAuditEntries = (
  database: Queryable,
  workspaceId: number,
  { profileId, beforeId, limit }: AuditFilter,
) =>
  database.query<AuditEntry>(
    `select ${AUDIT_COLUMNS} from identity_audit
     where workspace_id = $1
       and ($2::uuid is null or profile_id = $2 or merged_profile_id = $2)
       and ($3::uuid is null or audit_id < $3)
     order by audit_id desc limit $4`,
    [workspaceId, profileId ?? null, beforeId ?? null, limit],
  );

/** A merge: its entry, and whether it can be undone. */
export interface MergeEntry extends AuditEntry {
  readonly action: "merge" | "identify";
  readonly mergedProfileId: string;
  readonly recorded: boolean | null;
  readonly undoneAt: Date | null;
}

const MERGE_COLUMNS = `${AUDIT_COLUMNS}, recorded, undone_at as "undoneAt"`;

export const selectMerges = (
  database: Queryable,
  workspaceId: number,
  {
    profileIds,
    beforeId,
    limit,
  }: Omit<AuditFilter, "profileId"> & {
    readonly profileIds: readonly string[] | undefined;
  },
) =>
  database.query<MergeEntry>(
    `select ${MERGE_COLUMNS} from identity_audit
     where workspace_id = $1 and merged_profile_id is not null
       and ($2::uuid[] is null or profile_id = any($2) or merged_profile_id = any($2))
       and ($3::uuid is null or audit_id < $3)
     order by audit_id desc limit $4`,
    [workspaceId, profileIds ?? null, beforeId ?? null, limit],
  );

export async function selectMerge(
  database: Queryable,
  workspaceId: number,
  mergeId: string,
): Promise<MergeEntry | undefined> {
  const [entry] = await database.query<MergeEntry>(
    `select ${MERGE_COLUMNS} from identity_audit
     where workspace_id = $1 and audit_id = $2 and merged_profile_id is not null`,
    [workspaceId, mergeId],
  );
  return entry;
}

/** The latest merge of a user into another one that was not undone. */
export async function selectMergeOf(
  database: Queryable,
  workspaceId: number,
  mergedId: string,
): Promise<MergeEntry | undefined> {
  const [entry] = await database.query<MergeEntry>(
    `select ${MERGE_COLUMNS} from identity_audit
     where workspace_id = $1 and merged_profile_id = $2 and undone_at is null
     order by audit_id desc limit 1`,
    [workspaceId, mergedId],
  );
  return entry;
}

/** The recorded merges into a user after another one, in their order, which were not undone. */
export const selectLaterMerges = (
  database: Queryable,
  workspaceId: number,
  {
    keptId,
    afterId,
    limit,
  }: { readonly keptId: string; readonly afterId: string; readonly limit: number },
) =>
  database.query<{ readonly id: string }>(
    `select audit_id as id from identity_audit
     where workspace_id = $1 and profile_id = $2 and bucket = $3::smallint and audit_id > $4::uuid
       and recorded and undone_at is null
     order by audit_id limit $5`,
    [workspaceId, keptId, bucketOfId(keptId), afterId, limit],
  );

export const markUndone = (
  tx: Transaction,
  workspaceId: number,
  { id, profileId }: Pick<MergeEntry, "id" | "profileId">,
  now: Date,
) =>
  tx.execute(
    `update identity_audit set undone_at = $4
     where workspace_id = $1 and audit_id = $2 and bucket = $3::smallint`,
    [workspaceId, id, bucketOfId(profileId), now],
  );

export const selectIdentityChanges = (
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  { before, since, limit }: TimelineRange,
) =>
  database.query<AuditEntry>(
    `select ${AUDIT_COLUMNS} from identity_audit
     where workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($7::smallint[])
       and ($3::timestamptz is null or (at, audit_id) < ($3, $4::uuid))
       and ($5::timestamptz is null or at >= $5)
     order by at desc, audit_id desc limit $6`,
    [
      workspaceId,
      profileIds,
      before?.at ?? null,
      before?.id ?? null,
      since ?? null,
      limit,
      bucketsOfIds(profileIds).all,
    ],
  );

export const deleteAllAuditEntries = (tx: Transaction, workspaceId: number) =>
  tx.execute("delete from identity_audit where workspace_id = $1", [workspaceId]);
