import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { invalidCursor } from "../../core/base/pages.ts";
import { type Database, type Queryable, readTogether } from "../../core/database/database.ts";
import type { MergeRecord } from "../../core/people/identity/merge-record.ts";
import {
  selectMergedNamed,
  selectRecordBytes,
  selectRecords,
} from "../../core/people/identity/merge-records-store.ts";
import { type MergeEntry, selectMerges } from "../../core/people/identity/store.ts";
import { findHolders } from "../../core/people/profiles/find-holders.ts";
import { emailValue, isProfileId } from "../../core/people/profiles/identifiers.ts";
import { undoableUntil } from "./find-merge.ts";

export interface ListedMerge {
  readonly entry: MergeEntry;
  /** Undefined if it is not kept, or not any more. */
  readonly record: MergeRecord | undefined;
  readonly undoableUntil: Date | undefined;
}

export interface MergesPage {
  readonly merges: readonly ListedMerge[];
  readonly cursor: string | null;
}

const MOST_NAMED = 100;

/** Of the records that one page reads: a page with large ones ends earlier. */
const MOST_BYTES = 16 * 1_048_576;

/**
 * Merges, newest first.
 *
 * @param query.user a platform_id, or the external_id, address or number of a user who was kept or merged, or an alias name of a merged one.
 * @throws Problem INVALID_REQUEST for a cursor that is none.
 */
export async function listMerges(
  { database }: { readonly database: Database },
  { workspace }: WorkspaceContext,
  {
    user,
    cursor,
    limit,
  }: { readonly user?: string; readonly cursor?: string; readonly limit: number },
): Promise<MergesPage> {
  if (cursor !== undefined && !isProfileId(cursor)) throw invalidCursor();
  return readTogether(database, async (tx) => {
    const profileIds = user === undefined ? undefined : await findNamed(tx, workspace.id, user);
    const entries = await selectMerges(tx, workspace.id, {
      profileIds,
      beforeId: cursor,
      limit: limit + 1,
    });
    const sizes = await selectRecordBytes(tx, workspace.id, placesOf(entries.slice(0, limit)));
    let bytes = 0;
    const page = entries.slice(0, limit).filter(({ id }, index) => {
      bytes += sizes.get(id) ?? 0;
      return index === 0 || bytes <= MOST_BYTES;
    });
    const places = placesOf(page);
    const records = await selectRecords(tx, workspace.id, places);
    const bodies = new Map(records.map(({ mergeId, body }) => [mergeId, body ?? undefined]));
    return {
      merges: page.map((entry) => ({
        entry,
        record: bodies.get(entry.id),
        undoableUntil: undoableUntil(entry, workspace),
      })),
      cursor: entries.length > page.length ? (page.at(-1)?.id ?? null) : null,
    };
  });
}

const placesOf = (entries: readonly MergeEntry[]) =>
  entries
    .filter(({ recorded, undoneAt }) => recorded && !undoneAt)
    .map(({ id, profileId }) => ({ mergeId: id, keptId: profileId }));

/** Present users of this name, and the merged ones who had it. */
async function findNamed(tx: Queryable, workspaceId: number, user: string): Promise<string[]> {
  if (isProfileId(user.toLowerCase())) return [user.toLowerCase()];
  const names = [
    { kind: "external_id" as const, value: user },
    { kind: "email" as const, value: emailValue(user) },
    { kind: "phone" as const, value: user },
  ];
  const holders = await findHolders(tx, workspaceId, names, MOST_NAMED);
  const merged = await selectMergedNamed(tx, workspaceId, user, emailValue(user), MOST_NAMED);
  return [...new Set([...[...holders.values()].flat(), ...merged])];
}
