import { bucketsOfIds } from "../database/buckets.ts";
import type { Queryable } from "../database/database.ts";

/** How many bytes the attributes and aliases of these profiles take as JSON. */
export async function measureProfiles(
  database: Queryable,
  workspaceId: number,
  ids: readonly string[],
): Promise<number> {
  const [row] = await database.query<{ bytes: number }>(
    `select coalesce(sum(octet_length(standard_attributes::text) +
       octet_length(custom_attributes::text) + octet_length(aliases::text)), 0)::bigint as bytes
     from profiles where workspace_id = $1 and profile_id = any($2::uuid[]) and bucket = any($3::smallint[])`,
    [workspaceId, ids, bucketsOfIds(ids).all],
  );
  return row?.bytes ?? 0;
}
