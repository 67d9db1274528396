import { later } from "../../core/base/clock.ts";
import type { Workspace } from "../../core/base/context/workspace.ts";
import { Problem } from "../../core/base/problem.ts";
import type { Queryable } from "../../core/database/database.ts";
import type { MergeRecord } from "../../core/people/identity/merge-record.ts";
import {
  type StoredRecord,
  selectRecords,
} from "../../core/people/identity/merge-records-store.ts";
import { type MergeEntry, selectMerge, selectMergeOf } from "../../core/people/identity/store.ts";
import { type ProfileRow, selectProfiles } from "../../core/people/profiles/store.ts";

/** A refusal, with its code and what is in the way. */
export const refused = (code: string, message: string, details: object = {}): Problem =>
  new Problem("CONFLICT", message, { body: { code, ...details } });

/** Until when a merge can be undone; undefined if it never could, or was undone. */
export const undoableUntil = (
  { at, recorded, undoneAt }: MergeEntry,
  { settings }: Pick<Workspace, "settings">,
): Date | undefined =>
  recorded && !undoneAt ? later(at, { days: settings.undo_days }) : undefined;

/** @throws Problem NOT_FOUND if there is no such merge. */
export async function requireMerge(
  database: Queryable,
  workspaceId: number,
  mergeId: string,
): Promise<MergeEntry> {
  const entry = await selectMerge(database, workspaceId, mergeId);
  if (entry) return entry;
  throw new Problem("NOT_FOUND", `There is no merge '${mergeId}'.`);
}

export interface UndoableMerge {
  readonly entry: MergeEntry;
  readonly record: MergeRecord;
  readonly kept: ProfileRow;
}

/**
 * A merge that can be undone as far as its record and the kept user say; whether its identifiers are free is another question.
 *
 * @param readProfiles reads and perhaps locks profiles.
 * @throws Problem CONFLICT with the code of the first reason against it.
 */
export async function findUndoable(
  database: Queryable,
  workspace: Pick<Workspace, "id" | "settings">,
  entry: MergeEntry,
  now: Date,
  readProfiles: typeof selectProfiles = selectProfiles,
): Promise<UndoableMerge> {
  const { id, profileId: keptId, mergedProfileId, at, undoneAt } = entry;
  if (undoneAt) {
    throw refused("UNDO_DONE", `The merge was undone at ${undoneAt.toISOString()}.`);
  }
  if (!entry.recorded) {
    const why = "by an earlier version of Rapport, or while 'undo_days' was 0";
    throw refused("UNDO_NOT_RECORDED", `What an undo needs was not recorded: it merged ${why}.`);
  }
  const [stored] = await selectRecords(database, workspace.id, [{ mergeId: id, keptId }]);
  const until = undoableUntil(entry, workspace);
  if (!stored || !until || until <= now) {
    const days = workspace.settings.undo_days;
    const merged = `The users were merged at ${at.toISOString()}`;
    throw refused("UNDO_TOO_LATE", `${merged}, and a merge can be undone for ${days} days.`);
  }
  const record = recordIn(stored, keptId);
  const [kept] = await readProfiles(database as never, workspace.id, [keptId]);
  if (kept) return { entry, record, kept };
  const next = await selectMergeOf(database, workspace.id, keptId);
  if (!next) throw keptGone(keptId);
  throw refused(
    "UNDO_LATER_FIRST",
    `The kept user '${keptId}' was merged into '${next.profileId}' at ${next.at.toISOString()}. ` +
      `Undo that merge first, and then the one of '${mergedProfileId}': the later merge is '${next.id}'.`,
    { later: next.id },
  );
}

function recordIn({ ended, body }: StoredRecord, keptId: string): MergeRecord {
  if (body) return body;
  if (ended === "deleted") throw keptGone(keptId);
  throw refused("UNDO_ERASED", "One of the users was erased, and what an undo needs with them.");
}

const keptGone = (keptId: string): Problem =>
  refused("UNDO_KEPT_GONE", `The kept user '${keptId}' was deleted.`);
