import { recordUserChanges } from "../../core/admin/audit/audit.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { nextTurn } from "../../core/base/turns.ts";
import { type Queryable, readTogether, type Transaction } from "../../core/database/database.ts";
import { readBelongings } from "../../core/people/identity/belongings.ts";
import type { IdentityServices } from "../../core/people/identity/change-identities.ts";
import type { MergeRecord } from "../../core/people/identity/merge-record.ts";
import { readRecords, updateRecords } from "../../core/people/identity/merge-records-store.ts";
import { saveGraph } from "../../core/people/identity/save-graph.ts";
import { type MergeEntry, selectLaterMerges } from "../../core/people/identity/store.ts";
import { emailValue, type PersonIdentifier } from "../../core/people/profiles/identifiers.ts";
import {
  deleteIdentifiers,
  type FoundIdentifier,
  lockProfiles,
  type ProfileFields,
  type ProfileRow,
  selectProfiles,
} from "../../core/people/profiles/store.ts";
import { writePeople } from "../../core/people/profiles/write-people.ts";
import type { Name } from "../../core/people/profiles/written.ts";
import { type Chain, startChain } from "./chain.ts";
import { findUndoable, requireMerge, type UndoableMerge } from "./find-merge.ts";
import { readPresent } from "./read-present.ts";
import { restore } from "./restore.ts";
import { type Separation, separate, type UndoEffect } from "./separate.ts";
import { type TakenBack, takeBack } from "./take-back.ts";

export interface Undone {
  readonly merged: Name;
  readonly kept: Name;
  readonly effects: readonly UndoEffect[];
}

/**
 * Undoes a merge, in one transaction, with the checks of a merge: the kept user must have the version that was read, the
 * identifiers of the returning user must be free (docs/decisions/undo.md).
 *
 * @returns both users as they are afterwards, and the effects on the kept one.
 * @throws Problem NOT_FOUND if there is no such merge; CONFLICT with a code and what is in the way.
 */
export async function undoMerge(
  services: IdentityServices,
  context: WorkspaceContext,
  mergeId: string,
  isDryRun: boolean,
): Promise<Undone> {
  const { database, clock } = services;
  const { workspace } = context;
  const find = async (from: Queryable, lock?: Transaction): Promise<Found> => {
    const entry = await requireMerge(from, workspace.id, mergeId);
    const read: typeof selectProfiles = (any, id, ids) =>
      lock ? lockProfiles(lock, id, ids) : selectProfiles(any, id, ids);
    const merge = await findUndoable(from, workspace, entry, clock.now(), read);
    return { merge, identifiers: await takeBack(from, workspace.id, merge) };
  };
  if (isDryRun) {
    return readTogether(database, async (tx) => {
      const { merge } = await find(tx);
      const { separation } = await computeSeparation(tx, workspace.id, merge, async () => {});
      return undone(merge, separation);
    });
  }
  const entry = await requireMerge(database, workspace.id, mergeId);
  const plan = { names: namesOf(entry), removes: true as const, readsRows: true };
  return writePeople(services, workspace, plan, async ({ reading: { from, lock }, write }) => {
    const { merge, identifiers } = await find(from, lock);
    let result: Undone | undefined;
    await write(async (tx, isLocked) => {
      const now = clock.now();
      const found = { merge, identifiers };
      const { takesIds } = await lockAll(tx, workspace.id, found, { isLocked, now });
      const { separation, chain } = await computeSeparation(tx, workspace.id, merge, (changed) =>
        updateRecords(tx, workspace.id, merge.kept.id, changed),
      );
      await deleteIdentifiers(tx, workspace.id, addressesLost(merge.kept, separation.fields));
      const written = await restore(tx, services, context, { merge, separation, chain, now });
      result = undone(merge, separation);
      const { mergedProfileId, profileId } = merge.entry;
      const change = {
        action: "unmerged",
        kind: "user",
        workspace: workspace.name,
        name: mergedProfileId,
        details: { from: profileId, merge: mergeId },
      };
      await recordUserChanges(tx, clock, context, [change]);
      return { ...written, takesExternalIds: takesIds };
    });
    return result as Undone;
  });
}

interface Found {
  readonly merge: UndoableMerge;
  readonly identifiers: TakenBack;
}

const namesOf = ({ profileId, mergedProfileId }: MergeEntry): PersonIdentifier[] =>
  [profileId, mergedProfileId].map((value) => ({ kind: "platform_id", value }));

function lockAll(
  tx: Transaction,
  workspaceId: number,
  { merge: { kept }, identifiers }: Found,
  how: { readonly isLocked: boolean; readonly now: Date },
) {
  return saveGraph(
    tx,
    workspaceId,
    {
      created: [],
      replaced: [],
      touched: [kept],
      removedIds: [],
      addedIdentifiers: identifiers.added,
      removedIdentifiers: identifiers.removed,
      redirected: identifiers.redirected,
      forgottenIds: identifiers.forgottenIds,
      orphanIds: [],
      linkedEmailStates: [],
    },
    how,
  );
}

/** The address and the number that the kept user loses with the fields. Their profile is locked. */
const addressesLost = (kept: ProfileRow, after: ProfileFields): FoundIdentifier[] =>
  (["email", "phone"] as const).flatMap((kind) => {
    const value = kept[kind];
    if (value === null || after[kind] === value) return [];
    return [{ kind, value: kind === "email" ? emailValue(value) : value, profileId: kept.id }];
  });

/** How many later merges are read at a time, each portion of a few megabytes of their records alone. */
const PAGE = 100;

interface Computed {
  readonly separation: Separation;
  readonly chain: Chain;
}

/** A record of a later merge that changes with this one. */
interface ChangedRecord {
  readonly mergeId: string;
  readonly body: MergeRecord;
}

/** @param keep gets the changed records page by page: all together may be larger than the memory. */
async function computeSeparation(
  database: Queryable,
  workspaceId: number,
  merge: UndoableMerge,
  keep: (changed: readonly ChangedRecord[]) => Promise<void>,
): Promise<Computed> {
  const { entry, record, kept } = merge;
  const chain = startChain(record);
  let afterId = entry.id;
  for (;;) {
    const page = await selectLaterMerges(database, workspaceId, {
      keptId: kept.id,
      afterId,
      limit: PAGE,
    });
    const places = page.map(({ id }) => ({ mergeId: id, keptId: kept.id }));
    for await (const records of readRecords(database, workspaceId, places)) {
      const changed: ChangedRecord[] = [];
      for (const { mergeId, body: before } of records) {
        const after = before && chain.pass(before);
        if (after && JSON.stringify(after) !== JSON.stringify(before))
          changed.push({ mergeId, body: after });
      }
      if (changed.length > 0) await keep(changed);
      await nextTurn();
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    afterId = last.id;
  }
  const belongings = await readBelongings(database, workspaceId, [kept.id]);
  const present = await readPresent(database, workspaceId, merge, chain, belongings);
  return { separation: separate(record, chain, present), chain };
}

const undone = ({ record, kept }: UndoableMerge, { fields, effects }: Separation): Undone => ({
  merged: { platformId: record.merged.id, externalId: record.merged.fields.externalId },
  kept: { platformId: kept.id, externalId: fields.externalId },
  effects,
});
