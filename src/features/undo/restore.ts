import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { settleAll, type Transaction } from "../../core/database/database.ts";
import {
  deleteKeyed,
  insertDropped,
  returnMoved,
} from "../../core/people/activity/returns-store.ts";
import { setSummaries } from "../../core/people/activity/write-activity.ts";
import type { IdentityServices } from "../../core/people/identity/change-identities.ts";
import type { MergeRecord } from "../../core/people/identity/merge-record.ts";
import { deleteRecord, selectPiece } from "../../core/people/identity/merge-records-store.ts";
import { markUndone } from "../../core/people/identity/store.ts";
import { StaleRead } from "../../core/people/profiles/stale-read.ts";
import {
  insertProfiles,
  type NewProfile,
  replaceProfiles,
} from "../../core/people/profiles/store.ts";
import { setTimes } from "../../core/people/profiles/times-store.ts";
import type { Written } from "../../core/people/profiles/written.ts";
import { returnSubscriptions } from "../../core/people/subscriptions/people-back.ts";
import type { Chain } from "./chain.ts";
import type { UndoableMerge } from "./find-merge.ts";
import type { Separation } from "./separate.ts";
import { eventOf, purchaseOf } from "./summaries.ts";

/** The returning user, and those who had been merged into them. */
export const originsOf = ({ merged }: MergeRecord): string[] => [
  merged.id,
  ...merged.redirects.flatMap(({ profileId, isRename }) => (isRename ? [] : [profileId])),
];

interface Restored {
  readonly merge: UndoableMerge;
  readonly separation: Separation;
  readonly chain: Chain;
  readonly now: Date;
}

/**
 * Writes both users. The transaction has locked the kept one, and taken the identifiers back.
 *
 * @throws StaleRead if the record is gone meanwhile.
 */
export async function restore(
  tx: Transaction,
  { database, clock }: Pick<IdentityServices, "database" | "clock">,
  context: WorkspaceContext,
  { merge, separation, chain, now }: Restored,
): Promise<Written> {
  const workspaceId = context.workspace.id;
  const { entry, record, kept } = merge;
  const { merged, extent } = record;
  const place = { mergeId: entry.id, keptId: kept.id };
  const returned: NewProfile = {
    ...merged.fields,
    id: merged.id,
    updatedAtMicros: merged.updatedAtMicros,
    createdAtMicros: merged.createdAtMicros,
  };
  const { fields, updatedAtMicros } = separation;
  const remaining: NewProfile = { ...fields, id: kept.id, updatedAtMicros };
  await insertProfiles(tx, workspaceId, [returned]);
  await replaceProfiles(tx, workspaceId, [remaining]);
  // Higher than any that was read before the merge: such a read is stale.
  await setTimes(tx, workspaceId, { ...returned, version: merged.version + 2 });
  await setTimes(tx, workspaceId, remaining);
  const isPartial = extent === "tokens_and_messages";
  await returnMoved(tx, workspaceId, {
    keptId: kept.id,
    returnedId: merged.id,
    origins: originsOf(record),
    hasOccurrences: !isPartial,
    isCluster: database.commitsInParts === true,
  });
  for (let piece = 1; ; piece++) {
    const rows = await selectPiece(tx, workspaceId, place, piece);
    if (!rows) break;
    await insertDropped(tx, workspaceId, merged.id, rows);
  }
  await restoreSummaries(tx, workspaceId, merge, separation);
  const subscriptions = await returnSubscriptions(tx, workspaceId, {
    keptId: kept.id,
    returnedId: merged.id,
    origins: originsOf(record),
    groups: merged.groups,
    leftGroups: separation.leftGroups,
    laterEntries: chain.laterEntries(),
    goneEntries: record.kept.groupEntries.filter(({ id }) => !chain.isShared(id)),
    groupHistory: merged.groupHistory,
    ...chain.ofAddress(),
    emailState: record.kept.emailState,
    isEmailState: chain.isEmailState,
    context,
    clock,
  });
  if (!(await deleteRecord(tx, workspaceId, place))) throw new StaleRead("the record is gone");
  await markUndone(tx, workspaceId, entry, now);
  const names = {
    kept: { platformId: kept.id, externalId: fields.externalId },
    merged: { platformId: merged.id, externalId: merged.fields.externalId },
  };
  return {
    identities: {
      profiles: {
        created: [returned],
        replaced: [remaining],
        touched: [kept],
        removedIds: [],
        forgottenIds: [],
      },
      changes: [{ kind: "unmerge", ...names }],
    },
    subscriptions,
  };
}

async function restoreSummaries(
  tx: Transaction,
  workspaceId: number,
  { record: { merged }, kept }: UndoableMerge,
  { events, purchases, apps, devices, interactions }: Separation,
): Promise<void> {
  const of = <Row extends object>(profileId: string, rows: readonly Row[]) =>
    rows.map((row) => ({ ...row, profileId }));
  const theirs = {
    events: merged.events.map(eventOf),
    purchases: merged.purchases.map(purchaseOf),
    apps: merged.apps.map((app) => ({
      ...app,
      firstUsedAt: new Date(app.firstUsedAt),
      lastUsedAt: new Date(app.lastUsedAt),
    })),
  };
  const gone = (part: Parameters<typeof deleteKeyed>[3], keys: readonly (readonly string[])[]) =>
    deleteKeyed(tx, workspaceId, kept.id, part, keys);
  await settleAll([
    gone(
      "events",
      events.gone.map(({ name }) => [name]),
    ),
    gone(
      "purchases",
      purchases.gone.map(({ productId, currency }) => [productId, currency]),
    ),
    gone(
      "apps",
      apps.gone.map(({ appId }) => [appId]),
    ),
    gone(
      "devices",
      devices.gone.map(({ deviceId }) => [deviceId]),
    ),
    gone(
      "interactions",
      interactions.gone.map(({ kind, id }) => [kind, id]),
    ),
    setSummaries(tx, workspaceId, {
      events: [...of(kept.id, events.set), ...of(merged.id, theirs.events)],
      purchases: [...of(kept.id, purchases.set), ...of(merged.id, theirs.purchases)],
      apps: [...of(kept.id, apps.set), ...of(merged.id, theirs.apps)],
      devices: of(merged.id, merged.devices),
      interactions: [...of(kept.id, interactions.set), ...of(merged.id, merged.interactions)],
    }),
  ]);
}
