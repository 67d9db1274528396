import type { WorkspaceContext } from "../../core/base/context/context.ts";
import type { Workspace } from "../../core/base/context/workspace.ts";
import { createSlots, type Slots } from "../../core/base/pool.ts";
import { Problem } from "../../core/base/problem.ts";
import { streamTogether } from "../../core/database/cursor.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { type ExportQuery, readFilter } from "./export-filter.ts";
import { type ExportedKind, ROWS_OF } from "./exported-rows.ts";

/** Each export holds a connection and a snapshot until its reader is done. One connection is left for other work. */
const OF_A_PROCESS = 4;

/** Slow readers of one workspace never hold all of them. */
const OF_A_WORKSPACE = 2;

export const createExportSlots = (): Slots => createSlots(OF_A_WORKSPACE, OF_A_PROCESS);

export type StreamServices = StoringServices & { readonly exportSlots: Slots };

/**
 * Streams all rows of a kind from one snapshot, one JSON object per line. The last line is
 * `{"export":{"complete":true,"rows":N}}`: without it the export is incomplete.
 *
 * @throws Problem INVALID_REQUEST for a filter; UNAVAILABLE while as many exports run as may.
 */
export function exportRows(
  { database, clock, exportSlots }: StreamServices,
  { workspace }: WorkspaceContext,
  kind: ExportedKind,
  query: ExportQuery,
): AsyncGenerator<string | Uint8Array> {
  const filter = readFilter(query);
  const now = clock.now();
  return inSlot(exportSlots, workspace, () =>
    streamTogether(database.for("analysis"), async function* (tx) {
      let count = 0;
      for await (const rows of ROWS_OF[kind]({ tx, workspace, filter, now })) {
        count += rows.length;
        yield* piecesOf(rows);
      }
      yield `${JSON.stringify({ export: { complete: true, rows: count } })}\n`;
    }),
  );
}

/** About how many characters go to the reader at once. */
const PIECE_CHARACTERS = 262_144;

function* piecesOf(rows: readonly object[]): Generator<string> {
  let piece = "";
  for (const row of rows) {
    piece += `${JSON.stringify(row)}\n`;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = "";
  }
  if (piece) yield piece;
}

const NO_SLOT =
  `This server already runs ${OF_A_WORKSPACE} exports of the workspace, or ${OF_A_PROCESS} in all. ` +
  "Try again when one has finished.";

async function* inSlot<Value>(
  slots: Slots,
  { id }: Workspace,
  stream: () => AsyncGenerator<Value>,
): AsyncGenerator<Value> {
  const leave = slots.take(`${id}`);
  if (!leave) throw new Problem("UNAVAILABLE", NO_SLOT, { retryAfterSeconds: 10 });
  try {
    yield* stream();
  } finally {
    leave();
  }
}
