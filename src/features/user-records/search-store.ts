import type { Queryable } from "../../core/database/database.ts";
import type { IdentifierKind } from "../../core/people/profiles/identifiers.ts";
import type { FoundIdentifier } from "../../core/people/profiles/store.ts";

/** Identifiers of one kind whose values are in a range, in the order of their bytes. */
export interface IdentifierRange {
  readonly kind: IdentifierKind;
  /** Included. */
  readonly from: string;
  /** Not included. */
  readonly below: string;
  /** Only entries after this one. */
  readonly after: { readonly value: string; readonly profileId: string } | undefined;
  readonly limit: number;
}

/**
 * Reads a range. The kind is in the text of the statement, because the planner has to see that a
 * partial index holds it (`identifiers_of_one`, `identifiers_of_many`).
 */
export async function selectIdentifierRange(
  database: Queryable,
  workspaceId: number,
  { kind, from, below, after, limit }: IdentifierRange,
): Promise<FoundIdentifier[]> {
  const isShared = kind === "email" || kind === "phone";
  const behind = isShared ? "(value, profile_id) > ($2, $5::uuid)" : "value > $2";
  return database.query<FoundIdentifier>(
    `select kind, value, profile_id as "profileId" from identifiers
     where workspace_id = $1 and kind = '${kind}' and ${after ? behind : "value >= $2"} and value < $3
     order by value${isShared ? ", profile_id" : ""} limit $4`,
    [
      workspaceId,
      after?.value ?? from,
      below,
      limit,
      ...(after && isShared ? [after.profileId] : []),
    ],
  );
}
