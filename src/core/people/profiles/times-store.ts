import { bucketOfId } from "../../database/buckets.ts";
import type { Transaction } from "../../database/database.ts";
import { timestamps } from "../../database/parameters/typed-list.ts";
import type { NewProfile } from "./store.ts";

/** Sets what no other write changes back, where a merge is undone. The profile is locked. */
export const setTimes = (
  tx: Transaction,
  workspaceId: number,
  {
    id,
    updatedAtMicros,
    createdAtMicros,
    version,
  }: Pick<NewProfile, "id" | "updatedAtMicros" | "createdAtMicros"> & { readonly version?: number },
) =>
  tx.execute(
    `update profiles set updated_at = times.updated_at,
       created_at = coalesce(times.created_at, profiles.created_at), version = coalesce($6, version)
     from unnest($4::timestamptz[], $5::timestamptz[]) as times (updated_at, created_at)
     where workspace_id = $1 and profile_id = $2 and bucket = $3::smallint`,
    [
      workspaceId,
      id,
      bucketOfId(id),
      timestamps([updatedAtMicros]),
      createdAtMicros === undefined ? [null] : timestamps([createdAtMicros]),
      version ?? null,
    ],
  );
