import type { Queryable } from "../database/database.ts";
import { identifierKey, isProfileId } from "./identifiers.ts";
import { selectIdentifiers } from "./store.ts";

/** What a request looks a person up by: an identifier, or the profile's own id. */
export interface LookedUp {
  readonly kind: "external_id" | "alias" | "email" | "phone" | "platform_id";
  readonly value: string;
}

/**
 * The ids of the profiles behind each identifier, by `identifierKey`, in one statement. A platform_id
 * stands for itself: whether it exists is told by reading the profile.
 */
export async function findHolders(
  database: Queryable,
  workspaceId: number,
  wanted: readonly LookedUp[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const holders = new Map<string, string[]>();
  const values: string[] = [];
  for (const identifier of wanted) {
    if (identifier.kind !== "platform_id") values.push(identifier.value);
    const isId = identifier.kind === "platform_id" && isProfileId(identifier.value);
    holders.set(identifierKey(identifier), isId ? [identifier.value] : []);
  }
  for (const row of await selectIdentifiers(database, workspaceId, values)) {
    holders.get(identifierKey(row))?.push(row.profileId);
  }
  return holders;
}
