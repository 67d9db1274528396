import type { Clock } from "../../base/clock.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import { streamTogether } from "../../database/cursor.ts";
import type { Database } from "../../database/database.ts";
import { type ExportQuery, readFilter } from "./export-filter.ts";
import { type ExportedKind, ROWS_OF } from "./exported-rows.ts";

/** How many exports a process runs; each holds a connection and a snapshot until its reader is done. */
export interface ExportSlots {
  /** @returns false if all are in use. */
  take(): boolean;
  give(): void;
}

/** Connections for long reads are few, and other work needs one of them too. */
const SLOTS = 2;

export function createExportSlots(): ExportSlots {
  let free = SLOTS;
  return {
    take: () => free > 0 && free-- > 0,
    give: () => void free++,
  };
}

export interface StreamServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly exportSlots: ExportSlots;
}

/**
 * Streams all rows of a kind as they are at one moment, one JSON object a line. The last line is
 * `{"export":{"complete":true,"rows":N}}`: where it is missing, the export broke off.
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
  return inSlot(exportSlots, () =>
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

/** About so many characters go to the reader at once. */
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

async function* inSlot<Value>(
  slots: ExportSlots,
  stream: () => AsyncGenerator<Value>,
): AsyncGenerator<Value> {
  if (!slots.take()) {
    throw new Problem(
      "UNAVAILABLE",
      `This server already runs ${SLOTS} exports. Try again when one has finished.`,
      { retryAfterSeconds: 10 },
    );
  }
  try {
    yield* stream();
  } finally {
    slots.give();
  }
}
