import type { WorkspaceContext } from "../../core/base/context/context.ts";
import type { Transaction } from "../../core/database/database.ts";
import { checkRequest } from "../../core/track/check-request.ts";
import type { InputArray, Item, Verdict } from "../../core/track/item.ts";
import { type WriteServices, writeBatch } from "../../core/track/write-batch.ts";
import { type Commit, noteOn, type RowNote } from "./import-kind.ts";

export async function importItems(
  array: InputArray,
  services: WriteServices,
  context: WorkspaceContext,
  rows: readonly unknown[],
  commit: Commit,
): Promise<void> {
  const capacity = { objects: rows.length };
  const now = services.clock.now();
  const checked = await checkRequest(context.workspace, { [array]: rows }, now, capacity);
  const notes: RowNote[] = [
    ...checked.faults.map(({ index, value }) => noteOn(index, "rejected", value)),
    ...checked.dropped.map(({ index, value }) => noteOn(index, "partial", value)),
  ];
  await writeItems(services, context, checked.items, (tx, judged) =>
    commit(tx, [...notes, ...judged.flatMap(noteOnVerdict)]),
  );
}

/** An item with what became of it. */
export interface Judged {
  readonly item: Item;
  readonly verdict: Verdict;
}

/** The note on a row that was skipped, rejected or written in part. */
export function noteOnVerdict({ item, verdict }: Judged): RowNote[] {
  if (verdict.outcome === "applied") {
    return verdict.note ? [noteOn(item.index, "partial", verdict.note)] : [];
  }
  if (verdict.outcome === "skipped") return [noteOn(item.index, "skipped", verdict.reason)];
  return [noteOn(item.index, "rejected", verdict.fault)];
}

/** As many objects share a budget of work as in a request to /users/track. */
const ITEMS_OF_A_REQUEST = 50;

/**
 * Writes items in one transaction.
 *
 * @param finish runs in the transaction, after all of them are written.
 */
export async function writeItems(
  services: WriteServices,
  context: WorkspaceContext,
  items: readonly Item[],
  finish: (tx: Transaction, judged: readonly Judged[]) => Promise<void>,
): Promise<void> {
  const parts: Item[][] = [];
  for (let start = 0; start < items.length; start += ITEMS_OF_A_REQUEST) {
    parts.push(items.slice(start, start + ITEMS_OF_A_REQUEST));
  }
  const verdicts: (readonly Verdict[])[] = [];
  const requests = parts.map((part, index) => ({
    context,
    items: part,
    async alsoWrite(_tx: Transaction, ofPart: readonly Verdict[]) {
      verdicts[index] = ofPart;
    },
  }));
  const withVerdicts = (): Judged[] => {
    const all = verdicts.flat();
    return items.map((item, place) => ({ item, verdict: all[place] as Verdict }));
  };
  const last = { context, items: [], readBack: (tx: Transaction) => finish(tx, withVerdicts()) };
  await writeBatch(services, [...requests, last]);
}
