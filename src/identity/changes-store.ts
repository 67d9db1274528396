import { bucketsOfIds } from "../database/buckets.ts";
import type { Queryable } from "../database/database.ts";
import type { AuditEntry } from "./store.ts";

/** A part of the history of identities; what is undefined does not narrow. */
export interface IdentityRange {
  /** Only what has a time and id before these; the id decides between equal times. */
  readonly before: { readonly at: Date; readonly id: string } | undefined;
  /** Included. */
  readonly since: Date | undefined;
  readonly limit: number;
}

/** What happened to the profiles with these ids, the newest first. */
export async function selectIdentityChanges(
  database: Queryable,
  workspaceId: number,
  profileIds: readonly string[],
  { before, since, limit }: IdentityRange,
): Promise<AuditEntry[]> {
  return database.query<AuditEntry>(
    `select audit_id as id, at, action, call, key_name as "keyName", request_id as "requestId",
       profile_id as "profileId", merged_profile_id as "mergedProfileId", effects
     from identity_audit
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
}
