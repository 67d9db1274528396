import type { Workspace } from "../../core/base/context/workspace.ts";
import { describeError } from "../../core/base/observe/log.ts";
import { Problem } from "../../core/base/problem.ts";
import type { JsonObject } from "../../core/base/values/plain-json.ts";
import { isUnavailable } from "../../core/database/database.ts";
import { SourceUnfit } from "../../core/outbound/unfit.ts";
import { checkDeletion, checkRow, type RowFault, readPayload } from "./check-row.ts";
import { type ResolvedWarehouse, warehouseOf } from "./resolve-warehouse.ts";
import type { SyncServices } from "./run.ts";
import { listTables, openSource } from "./sources/kinds.ts";
import {
  BEGINNING,
  type Selection,
  type Source,
  SourceFailed,
  type SourceRow,
  sourceTime,
  type TableList,
} from "./sources/source.ts";
import type { IntegrationRow } from "./store.ts";
import type { StoredWarehouse } from "./stored-warehouse.ts";
import { isRefusal, messageFor } from "./sync.ts";
import { readTableShape } from "./table-shape.ts";

/* Previews a sync: the source is opened, five of its rows are read, nothing is written. */

export type TestServices = Pick<
  SyncServices,
  "database" | "sealing" | "outbound" | "clock" | "log"
>;

interface Failure {
  /** Why a sync would fail; null if it would not. */
  readonly problem: string | null;
  /** Whether it is that the caller may not read the place. */
  readonly isRefused: boolean;
}

export interface SourceTest extends Failure {
  /** The columns of the table and the field that each is read as; null for an ignored column. */
  readonly columns: readonly { readonly name: string; readonly readAs: string | null }[];
  /** The first UPDATED_AT to read; null from the beginning. */
  readonly from: string | null;
  /** How many rows the next sync reads; null if that was not found out. */
  readonly rowsToRead: number | null;
  /** The first of them. */
  readonly rows: readonly TestedRow[];
  readonly unreadable: number | null;
  readonly future: number | null;
}

export interface TestedRow {
  readonly row: SourceRow;
  /** The object in its payload; null if there is none. */
  readonly item: JsonObject | null;
  readonly fault: RowFault | null;
}

const NOTHING: SourceTest = {
  problem: null,
  isRefused: false,
  columns: [],
  from: null,
  rowsToRead: null,
  rows: [],
  unreadable: null,
  future: null,
};

const ROWS = 5;

/** More columns than a table needs; the answer is bounded. */
const MOST_COLUMNS = 200;

/** A caller waits for it. */
const LONGEST_MS = 25_000;

/** A test may cost as much memory as a sync. */
const MOST_AT_ONCE = 2;

/** The workspaces that test a source, and those that list tables. */
const testing = new Set<number>();
const listing = new Set<number>();

/** An integration that is stored, or one that is not saved yet. */
export type Tested = Pick<
  IntegrationRow,
  "id" | "name" | "type" | "warehouse" | "processedThrough"
>;

/**
 * Tries the source of an integration.
 *
 * @param resolve the settings of its source: by default those that are stored.
 * @throws Problem RATE_LIMITED while the workspace tests another one, or two others do.
 */
export async function testSource(
  services: TestServices,
  workspace: Workspace,
  integration: Tested,
  resolve = (): Promise<ResolvedWarehouse> => warehouseOf(services, workspace, integration),
): Promise<SourceTest> {
  const found = { ...NOTHING };
  const failure = await attempt(services, testing, workspace, integration, async (signal) => {
    const { warehouse, outbound } = await resolve();
    const source = await openSource(warehouse, { signal, outbound });
    try {
      await read(services, workspace, integration, source, found);
    } finally {
      await source.close();
    }
  });
  return { ...found, ...failure };
}

export interface ListedTables extends TableList, Failure {}

/** Lists what a source may be. @throws Problem as `testSource`. */
export async function listSource(
  services: TestServices,
  workspace: Workspace,
  warehouse: StoredWarehouse,
  resolve: () => Promise<ResolvedWarehouse>,
): Promise<ListedTables> {
  let found: TableList = { tables: [], hasMore: false };
  const failure = await attempt(services, listing, workspace, { warehouse }, async (signal) => {
    const { warehouse: opened, outbound } = await resolve();
    found = await listTables(opened, { signal, outbound });
  });
  return { ...found, problem: null, isRefused: false, ...failure };
}

/** @returns why it failed, if it did. */
async function attempt(
  services: TestServices,
  running: Set<number>,
  workspace: Workspace,
  integration: Pick<Tested, "warehouse">,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<Failure | undefined> {
  if (running.has(workspace.id) || running.size >= MOST_AT_ONCE) {
    throw new Problem("RATE_LIMITED", "Another source is being tested", { retryAfterSeconds: 10 });
  }
  running.add(workspace.id);
  const signal = AbortSignal.timeout(LONGEST_MS);
  try {
    await work(signal);
    return undefined;
  } catch (error) {
    const problem = problemOf(services, integration, error, signal);
    return { problem, isRefused: isRefusal(error) };
  } finally {
    running.delete(workspace.id);
  }
}

/** Fills in results as they are found, so that a failure half-way leaves the first half. */
async function read(
  { clock }: TestServices,
  workspace: Workspace,
  integration: Tested,
  source: Source,
  found: { -readonly [Key in keyof SourceTest]: SourceTest[Key] },
): Promise<void> {
  if (!source.columns) {
    found.problem = "There is no file to read.";
    return;
  }
  found.columns = source.columns.slice(0, MOST_COLUMNS).map(({ name }) => ({ name, readAs: null }));
  const shape = readTableShape(source.columns, integration.type);
  const parts = new Map([
    [shape.updatedAt.name, "UPDATED_AT"],
    ...shape.identifiers.map(({ name, part }) => [name, part.toUpperCase()] as const),
    ...(shape.payload ? [[shape.payload.name, "PAYLOAD"] as const] : []),
  ]);
  found.columns = found.columns.map(({ name }) => ({ name, readAs: parts.get(name) ?? null }));
  found.from = integration.processedThrough;
  const now = clock.now();
  const range = { from: found.from ?? BEGINNING, until: sourceTime(now) };
  const selection = await source.select(shape, range);
  found.rowsToRead = selection.count;
  found.rows = (await firstRows(selection)).map((row) => {
    const { type } = integration;
    const checked = type === "delete" ? checkDeletion(row) : checkRow(workspace, type, row, now);
    const payload = type === "delete" ? undefined : readPayload(row);
    return {
      row,
      item: payload && "object" in payload ? payload.object : null,
      fault: "fault" in checked ? checked.fault : null,
    };
  });
  const { unreadable, future } = await selection.strays(sourceTime(now), 1);
  found.unreadable = unreadable;
  found.future = future;
}

async function firstRows(selection: Selection): Promise<SourceRow[]> {
  const rows: SourceRow[] = [];
  for await (const page of selection.rows()) {
    rows.push(...page.slice(0, ROWS - rows.length));
    if (rows.length === ROWS) break;
  }
  return rows;
}

/** @throws the error itself if Rapport's own database is unreachable. */
function problemOf(
  { log }: TestServices,
  integration: Pick<Tested, "warehouse">,
  error: unknown,
  signal: AbortSignal,
): string {
  if (signal.aborted) {
    return `The source did not answer within ${LONGEST_MS / 1_000} seconds. A sync waits longer.`;
  }
  if (error instanceof SourceFailed || error instanceof SourceUnfit) {
    const message = messageFor(integration, error);
    if (message !== error.message) log.warn(describeError(error), "a connection failed");
    return message;
  }
  if (isUnavailable(error)) throw error;
  log.error(describeError(error), "the test of a source failed");
  return "Rapport failed: see its log.";
}
