import type { WorkspaceContext } from "../../core/base/context/context.ts";
import type { Fault } from "../../core/base/problem.ts";
import type { Transaction } from "../../core/database/database.ts";
import { deleteNamed } from "../../core/people/identity/delete-users.ts";
import type { PersonIdentifier } from "../../core/people/profiles/identifiers.ts";
import type { InputArray, Item, Verdict } from "../../core/track/item.ts";
import { type WriteServices, writeBatch } from "../../core/track/write-batch.ts";
import { type CheckedRow, checkDeletion, checkRow, type RowFault, withField } from "./check-row.ts";
import type { SourceRow } from "./sources/source.ts";

/** Why a row was not simply applied, by its index. */
export interface Note {
  readonly index: number;
  readonly outcome: "failed" | "skipped";
  readonly fault: RowFault;
}

/** Written together with the rows, in their transaction. */
type Commit = (tx: Transaction, notes: readonly Note[]) => Promise<void>;

/** Writes rows of attributes, events or purchases by the path of /users/track. */
export async function trackRows(
  services: WriteServices,
  context: WorkspaceContext,
  type: InputArray,
  rows: readonly SourceRow[],
  commit: Commit,
): Promise<void> {
  const now = services.clock.now();
  const { taken: items, rejected } = checkEach(rows, (row, index): CheckedRow<Item> => {
    const checked = checkRow(context.workspace, type, row, now);
    return "fault" in checked ? checked : { value: { ...checked.value, array: type, index } };
  });
  const notesOn = (verdicts: readonly Verdict[]) =>
    verdicts.flatMap((verdict, place) => noteOn(verdict, items[place]?.index ?? 0));
  await writeBatch(services, [
    {
      context,
      items,
      alsoWrite: (tx, verdicts) => commit(tx, [...rejected, ...notesOn(verdicts)]),
    },
  ]);
}

function noteOn(verdict: Verdict, index: number): Note[] {
  if (verdict.outcome === "applied") return verdict.note ? [skipped(index, verdict.note)] : [];
  if (verdict.outcome === "skipped") return [skipped(index, verdict.reason)];
  return [{ index, outcome: "failed", fault: withField(verdict.fault) }];
}

export async function deleteRows(
  services: WriteServices,
  context: WorkspaceContext,
  rows: readonly SourceRow[],
  commit: Commit,
): Promise<void> {
  const { taken, rejected } = checkEach(rows, (row, index): CheckedRow<NamedRow> => {
    const checked = checkDeletion(row);
    return "fault" in checked ? checked : { value: { identifier: checked.value, index } };
  });
  const notesOn = (faults: readonly (Fault | undefined)[]) =>
    faults.flatMap((fault, place) => (fault ? [skipped(taken[place]?.index ?? 0, fault)] : []));
  await deleteNamed(services, context, {
    names: taken.map(({ identifier }) => identifier),
    alsoWrite: (tx, faults) => commit(tx, [...rejected, ...notesOn(faults)]),
  });
}

interface NamedRow {
  readonly identifier: PersonIdentifier;
  readonly index: number;
}

const skipped = (index: number, reason: Fault): Note => ({
  index,
  outcome: "skipped",
  fault: withField(reason),
});

/** Checks rows one by one: the values of accepted rows, and notes on the others. */
function checkEach<Value>(
  rows: readonly SourceRow[],
  check: (row: SourceRow, index: number) => CheckedRow<Value>,
): { taken: Value[]; rejected: Note[] } {
  const taken: Value[] = [];
  const rejected: Note[] = [];
  for (const [index, row] of rows.entries()) {
    const checked = check(row, index);
    if ("value" in checked) taken.push(checked.value);
    else rejected.push({ index, outcome: "failed", fault: checked.fault });
  }
  return { taken, rejected };
}
