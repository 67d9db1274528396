import type { Queryable } from "../../core/database/database.ts";
import {
  type Dates,
  selectEventDates,
  selectPurchaseDates,
} from "../../core/people/activity/returns-store.ts";
import { type Belongings, NO_BELONGINGS } from "../../core/people/identity/combine/whole.ts";
import { selectNewestEntries } from "../../core/people/subscriptions/history-store.ts";
import type { Chain } from "./chain.ts";
import type { UndoableMerge } from "./find-merge.ts";
import { originsOf } from "./restore.ts";
import type { Present } from "./separate.ts";
import { eventKey, needsRows, purchaseKey } from "./summaries.ts";

/** What the kept user has now. Events are read only where the records do not say the dates. */
export async function readPresent(
  database: Queryable,
  workspaceId: number,
  { kept, record }: UndoableMerge,
  chain: Chain,
  all: ReadonlyMap<string, Belongings>,
): Promise<Present> {
  const belongings = all.get(kept.id) ?? NO_BELONGINGS;
  const origins = originsOf(record);
  const { events, purchases } = chain.summaries;
  const names = belongings.events.flatMap((row) => {
    const each = events.get(eventKey(row));
    return each && needsRows(row, each) ? [row.name] : [];
  });
  const products = belongings.purchases.flatMap((row) => {
    const each = purchases.get(purchaseKey(row));
    return each && needsRows(row, each) ? [row.productId] : [];
  });
  const eventDates = new Map<string, Dates>();
  const purchaseDates = new Map<string, Dates>();
  if (names.length > 0) {
    const rows = await selectEventDates(database, workspaceId, kept.id, origins, names);
    for (const row of rows) eventDates.set(eventKey(row), row);
  }
  if (products.length > 0) {
    const rows = await selectPurchaseDates(database, workspaceId, kept.id, origins, products);
    for (const row of rows) purchaseDates.set(purchaseKey(row), row);
  }
  const entries = new Set(record.kept.groupEntries.map(({ id }) => id));
  const taken = record.kept.groups;
  const groupIds = [
    ...new Set([...taken, ...record.kept.groupEntries.map(({ groupId }) => groupId)]),
  ];
  const ignored = chain.laterEntries().filter((id) => !entries.has(id));
  const newest = await selectNewestEntries(database, workspaceId, kept.id, groupIds, ignored);
  const newestIn = new Map(newest.map(({ groupId, id }) => [groupId, id]));
  const untouched = groupIds.filter((groupId) => {
    const newestId = newestIn.get(groupId);
    // Merges of one request share their entries, or have none where the kept user was merged too.
    return newestId === undefined ? taken.includes(groupId) : entries.has(newestId);
  });
  return {
    fields: kept,
    updatedAtMicros: kept.updatedAtMicros,
    belongings,
    untouchedGroups: new Set(untouched),
    eventDates,
    purchaseDates,
  };
}
