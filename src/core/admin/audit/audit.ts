import { createBatches } from "../../base/batches.ts";
import type { Clock } from "../../base/clock.ts";
import { RAPPORT } from "../../base/command.ts";
import {
  type Context,
  IN_THE_DASHBOARD,
  type WorkspaceContext,
} from "../../base/context/context.ts";
import { Problem } from "../../base/problem.ts";
import { type Cell, csvText } from "../../base/values/spreadsheets.ts";
import { isUuid } from "../../base/values/uuid.ts";
import { commitTogether } from "../../database/commit-together.ts";
import {
  type Database,
  type Queryable,
  type Transaction,
  withRetries,
} from "../../database/database.ts";
import type { StoringServices } from "../../database/storing-services.ts";
import { type ChainedEntry, chainTo, type StoredEntry, type UnchainedEntry } from "./chain.ts";
import { shortenedDetails } from "./shortened-details.ts";
import {
  type AuditFilter,
  insertEntries,
  lockHead,
  selectChain,
  selectEntries,
  selectLabels,
} from "./store.ts";

/*
 * The audit log has a row for every change to declared or administered things: who, what, when and
 * from where (docs/decisions/audit.md). The row commits or rolls back with the change. It never
 * contains a secret, nor data of the users of a workspace. The rows form a chain (chain.ts).
 */

export interface AuditedChange {
  /** `created`, `updated`, `removed`, or a verb of the kind's own, such as `rotated`. */
  readonly action: string;
  /** The kind of the changed thing, in the singular: `api_key`, `subscription_group`, `dashboard_user`. */
  readonly kind: string;
  /** Empty or absent for resources of the company. */
  readonly workspace?: string;
  /** The name or id of the changed resource; absent if there is only one of its kind. */
  readonly name?: string;
  /** The new state, or the action. Visible to administrators; never a secret. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Records changes in the transaction that makes them, in their order. Call it last: other
 * transactions that record changes wait until this one ends.
 */
export async function recordChanges(
  tx: Transaction,
  clock: Clock,
  context: Context,
  changes: readonly AuditedChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await append(tx, clock, (at) => changes.map((change) => entryOf(clock, at, context, change)));
}

/** Adds rows to the end of the chain, which stays locked until the transaction ends. */
async function append(
  tx: Transaction,
  clock: Clock,
  rowsAt: (at: Date) => readonly UnchainedEntry[],
): Promise<void> {
  const head = await lockHead(tx);
  if (!head) throw cannotContinue();
  const entries = chainTo(head, rowsAt(clock.now()));
  const last = entries.at(-1) as ChainedEntry;
  await insertEntries(tx, entries, { entries: last.position, hash: last.hash });
}

const entryOf = (
  clock: Clock,
  at: Date,
  context: Context,
  { workspace, action, kind, name = "", details }: AuditedChange,
): UnchainedEntry => ({
  id: clock.newId(),
  at,
  workspace: workspace || null,
  action,
  kind,
  name,
  details: details === undefined ? null : shortenedDetails(details),
  actor: context.actor,
  actorName: context.actorName,
  call: context.call || null,
  requestId: context.requestId || null,
  address: context.address,
});

/** The same in a transaction that writes rows of users. */
export async function recordUserChanges(
  ...[tx, ...change]: Parameters<typeof recordChanges>
): Promise<void> {
  await commitTogether(tx);
  await recordChanges(tx, ...change);
}

/** Records one change in the workspace of the context. */
export const recordChangeIn = (
  tx: Transaction,
  clock: Clock,
  context: WorkspaceContext,
  change: Omit<AuditedChange, "workspace">,
): Promise<void> =>
  recordChanges(tx, clock, context, [{ ...change, workspace: context.workspace.name }]);

/** A read of personal data and its reader, before it is a row of the audit. */
interface AuditedRead {
  readonly context: Context;
  readonly read: AuditedChange;
}

/** Resolves when a read is recorded. */
export type ReadRecorder = (read: AuditedRead) => Promise<void>;

/**
 * Records reads. All reads that arrive while a transaction runs are recorded by the next one,
 * because each transaction waits for the end of the chain. docs/decisions/audit-chain.md
 */
export const createReadRecorder = ({ database, clock }: StoringServices): ReadRecorder =>
  createBatches(async (reads) => {
    await withRetries(database, (tx) =>
      append(tx, clock, (at) => reads.map((each) => entryOf(clock, at, each.context, each.read))),
    );
    return [];
  });

export type AuditingServices = { readonly recordAuditedRead: ReadRecorder };

/**
 * Records that personal data was read through the admin API: the call, the workspace, and the
 * number of users (a stream of unknown length counts as all). Call it before the response, so that
 * nothing is shown that is not recorded.
 */
export async function recordRead(
  { recordAuditedRead }: AuditingServices,
  context: WorkspaceContext,
  kind: string,
  users: number | "all",
): Promise<void> {
  const { name } = context.workspace;
  const read = { action: "read", kind, workspace: name, name, details: { users } };
  await recordAuditedRead({ context, read });
}

/**
 * Reads a page of the audit log, newest first.
 *
 * @returns at most `limit` entries, fewer if they are large, and the cursor of the next page if there is one.
 */
export async function readAuditLog(
  services: NamingServices,
  filter: AuditFilter,
  limit: number,
): Promise<AuditPage> {
  const { rows, hasMore } = await selectEntries(services.database, filter, limit);
  const last = rows.at(-1);
  const next = hasMore && last ? { next_cursor: last.id } : {};
  return { rows: await withLabels(services, rows), next };
}

interface AuditPage {
  readonly rows: LabelledEntry[];
  readonly next: { readonly next_cursor?: string };
}

export interface NamingServices {
  readonly database: Database;
  readonly namesOfColleagues: (
    database: Queryable,
    ids: readonly string[],
  ) => Promise<ReadonlyMap<string, string>>;
}

/** An entry with the name of its thing, if that is another text than `name`, which is often an id. */
export type LabelledEntry = StoredEntry & { readonly label: string | null };

/**
 * Things are named as entries name them, so that removed ones have names too. A colleague of whom no entry has the name is named
 * as they are called now.
 */
async function withLabels(
  { database, namesOfColleagues }: NamingServices,
  entries: readonly StoredEntry[],
): Promise<LabelledEntry[]> {
  const ids = [...new Set(entries.map(({ name }) => name))].filter(isUuid);
  if (ids.length === 0) return entries.map((entry) => ({ ...entry, label: null }));
  const labels = await selectLabels(database, ids);
  const others = await namesOfColleagues(
    database,
    ids.filter((id) => !labels.has(id)),
  );
  return entries.map((entry) => {
    const label = labels.get(entry.name) ?? others.get(entry.name) ?? null;
    return { ...entry, label: label === entry.name ? null : label };
  });
}

const PAGE_OF_FILE = 500;

const COLUMNS = [
  "time",
  "by",
  "from",
  "action",
  "kind",
  "name",
  "id",
  "workspace",
  "before",
  "after",
  "address",
  "request",
] as const;

/** The entries that match a filter as CSV, newest first. */
export async function* auditFile(
  services: NamingServices,
  filter: AuditFilter,
): AsyncGenerator<string> {
  yield csvText([COLUMNS], { bom: true });
  for (let { before } = filter; ; ) {
    const { rows, next } = await readAuditLog(services, { ...filter, before }, PAGE_OF_FILE);
    if (rows.length > 0) yield csvText(rows.map(cellsOf));
    if (next.next_cursor === undefined) return;
    before = next.next_cursor;
  }
}

function cellsOf({ details, ...entry }: LabelledEntry): Cell[] {
  const isPatch = details !== null && ("before" in details || "after" in details);
  const { before, after } = isPatch ? details : { before: undefined, after: details ?? undefined };
  return [
    entry.at.toISOString(),
    entry.actorName === IN_THE_DASHBOARD ? "administrator" : (entry.actorName ?? entry.actor),
    originOf(entry),
    entry.action,
    entry.kind,
    entry.label ?? entry.name,
    entry.label === null ? null : entry.name,
    entry.workspace,
    before === undefined ? null : JSON.stringify(before),
    after === undefined ? null : JSON.stringify(after),
    entry.address,
    entry.requestId,
  ];
}

/** Where a change was made, in a word for people. */
export function originOf({ actor, actorName }: Pick<StoredEntry, "actor" | "actorName">): string {
  if (actor === "dashboard_user" || actorName === IN_THE_DASHBOARD) return "dashboard";
  return ORIGINS[actor] ?? actor;
}

const ORIGINS: Readonly<Record<string, string>> = {
  administrator: "admin API",
  key: "API",
  scim: "SCIM",
  job: "job",
  server: "server",
  anybody: "sign-in",
};

/** At most `limit` rows of the chain after a position, oldest first, in pieces that fit in memory. */
export async function* readAuditChain(
  { database }: { readonly database: Queryable },
  after: number,
  since: Date | undefined,
  limit: number,
): AsyncGenerator<readonly ChainedEntry[]> {
  for (let [position, left] = [after, limit]; left > 0; ) {
    const rows = await selectChain(database, position, since, left);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    position = last.position;
    left -= rows.length;
  }
}

/** Removing the end of the chain must not start a new chain: audited changes are refused instead. */
const cannotContinue = () =>
  new Problem(
    "UNAVAILABLE",
    "The audit chain cannot be continued, so audited changes are refused: the record of the end of the chain " +
      `was removed from the table audit_heads. \`${RAPPORT} audit verify\` shows the state; restore the row from a backup.`,
    { retryAfterSeconds: 60 },
  );
