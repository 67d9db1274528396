import type { Transaction } from "../../database/database.ts";
import type { OnConflict } from "../activity/moves-store.ts";
import type { IdentifiedChange } from "./audit.ts";
import { type FoundByMerge, indexFound, recordOf } from "./merge-record.ts";
import { insertPiece, insertRecords, type NewRecord } from "./merge-records-store.ts";

/** A merge with the id of its entry in the audit. */
type Identified = Pick<IdentifiedChange, "id" | "audited">;

/** Records merges, so that they can be undone (docs/decisions/undo.md). */
export async function recordMerges(
  tx: Transaction,
  workspaceId: number,
  merges: readonly Identified[],
  found: FoundByMerge,
  now: Date,
): Promise<void> {
  const lastOf = new Map<string, string>();
  for (const { id, audited } of merges) {
    const email = audited.change.kind === "merge" ? audited.change.sides.linkedEmail : undefined;
    if (email !== undefined) lastOf.set(email, id);
  }
  const ofMerge = indexFound(found);
  const records = merges.flatMap(({ id, audited: { change, belongings } }): NewRecord[] => {
    if (change.kind !== "merge" || !belongings) return [];
    const { extent, sides } = change;
    const ownsEmail = lastOf.get(sides.linkedEmail ?? "") === id;
    const record = recordOf({ extent, sides, belongings }, ofMerge, { now, ownsEmail });
    return [{ mergeId: id, keptId: change.kept.platformId, body: JSON.stringify(record) }];
  });
  await insertRecords(tx, workspaceId, records);
}

/** Records the messages that both users of a merge have, piece by piece: there may be any number. */
export function recordingMessages(workspaceId: number, merges: readonly Identified[]): OnConflict {
  const pieces = new Map<string, number>();
  const mergeOf = new Map(
    merges.flatMap(({ id, audited: { change } }) =>
      change.kind === "merge"
        ? [[change.merged.platformId, { mergeId: id, keptId: change.kept.platformId }] as const]
        : [],
    ),
  );
  return async (tx, fromId, rows) => {
    const merge = mergeOf.get(fromId);
    if (!merge) return;
    const piece = (pieces.get(fromId) ?? 0) + 1;
    pieces.set(fromId, piece);
    await insertPiece(tx, workspaceId, { ...merge, body: `[${rows.join()}]` }, piece);
  };
}
