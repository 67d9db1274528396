import type { Clock } from "../clock.ts";
import type { Context, WorkspaceContext } from "../context/context.ts";
import type { Workspace } from "../context/workspace.ts";
import { idInBucketOf } from "../database/buckets.ts";
import {
  type Database,
  type Queryable,
  readTogether,
  settleAll,
  type Transaction,
  withRetries,
} from "../database/database.ts";
import type { PersonIdentifier } from "../people/identifiers.ts";
import { lockProfiles, selectProfiles } from "../people/store.ts";
import type { Fault } from "../problem.ts";
import { writeSubscriptions } from "../subscriptions/states.ts";
import { nextTurn, startTurns } from "../threads/turns.ts";
import { writePeopleOf } from "../workspaces/reset.ts";
import { recordAudit } from "./audit.ts";
import {
  type AuditedChange,
  joinBelongings,
  readBelongings,
  saveBelongings,
  withinBudget,
} from "./belongings.ts";
import type { Change, GraphChanges, IdentityGraph } from "./identity-graph.ts";
import { type LoadGraphOptions, loadGraph } from "./load-graph.ts";
import { findAbandoned, saveGraph } from "./save-graph.ts";

export interface IdentityServices {
  readonly database: Database;
  readonly clock: Clock;
}

/** The position of an item in its request. */
export interface Place {
  readonly array: string;
  readonly index: number;
}

/** One checked item of a request: the users it names, and what it does. */
export interface Step {
  readonly place: Place;
  readonly names: readonly PersonIdentifier[];
  /** Applies the item to the graph. A fault says why it is valid but changes nothing. */
  apply(graph: IdentityGraph): Applied;
}

export type Applied =
  | { readonly fault: Fault }
  /** With the change if users were merged, removed or identified. */
  | { readonly done: Done; readonly change?: Change };

/** The outcome of an item. */
export type Done =
  | "added"
  | "created"
  | "renamed"
  | "identified"
  | "merged"
  | "deleted"
  | "removed";

/** The outcome of an item, with the effects of its change. */
export interface Result {
  readonly place: Place;
  readonly applied: Applied;
  readonly audited: AuditedChange | undefined;
}

export interface Request {
  readonly steps: readonly Step[];
  /** How many users all identifiers together may match; undefined for any number. */
  readonly mostUsers?: number;
  /** Whether to report the changes without making them. */
  readonly isDryRun: boolean;
  /** Runs in the transaction of the changes, and again with every retry. */
  alsoWrite?(tx: Transaction, results: readonly Result[]): Promise<void>;
}

/**
 * Applies the items of one request in order, in one transaction, with a constant number of statements.
 *
 * All users that the items name are read, the items are applied in memory, and the result is written with
 * checks: a profile must have the version that was read, an identifier must be free. Every write about a
 * user raises the version, so the check covers events, summaries and states too. If it fails, the
 * transaction rolls back and runs again, from the fourth try on with the profiles locked before they are
 * read (docs/decisions/read-compute-write.md).
 *
 * @returns the outcome of each item, in order.
 */
export function changeIdentities(
  services: IdentityServices,
  context: WorkspaceContext,
  request: Request,
): Promise<Result[]> {
  const { workspace } = context;
  const { database } = services;
  if (request.isDryRun) {
    return readTogether(database, async (tx) => {
      const read = (ids: readonly string[]) => selectProfiles(tx, workspace.id, ids);
      return (await workOut(tx, services, workspace, request, read)).results;
    });
  }
  return withRetries(database, async (tx, attempt) => {
    const isLocked = attempt >= LOCKING_TRY;
    const readOrLock = isLocked ? lockProfiles : selectProfiles;
    const read = (ids: readonly string[]) => readOrLock(tx, workspace.id, ids);
    await writePeopleOf(tx, workspace.id);
    const work = await workOut(tx, services, workspace, request, read);
    await save(tx, services, context, work, isLocked);
    await request.alsoWrite?.(tx, work.results);
    return work.results;
  });
}

/** From which try on profiles are locked before they are read: see LOCKING_TRY in track/write-batch.ts. */
const LOCKING_TRY = 4;

interface Work {
  readonly results: Result[];
  readonly graph: IdentityGraph;
  readonly changes: readonly Change[];
  readonly before: Awaited<ReturnType<typeof readBelongings>>;
  readonly outcome: Awaited<ReturnType<typeof joinBelongings>>;
}

async function workOut(
  database: Queryable,
  services: IdentityServices,
  workspace: Workspace,
  { steps, mostUsers }: Request,
  read: LoadGraphOptions["read"],
): Promise<Work> {
  const names = steps.flatMap((step) => step.names);
  const graph = await loadGraph(database, workspace.id, names, {
    newId: (value) => idInBucketOf(services.clock.newId(), workspace.id, value),
    redirects: workspace.settings.redirect_merged_ids,
    mostUsers,
    read,
  });
  const turns = startTurns();
  const applied: Applied[] = [];
  for (const step of steps) {
    applied.push(step.apply(graph));
    if (turns.isOver()) await turns.next();
  }
  const changes = applied.flatMap((each) => ("change" in each && each.change ? [each.change] : []));
  const ids = await withinBudget(database, workspace.id, profilesIn(changes));
  const before = await readBelongings(database, workspace.id, ids);
  await nextTurn();
  const outcome = await joinBelongings(changes, before);
  const audited = new Map(outcome.audited.map((each) => [each.change, each]));
  const results = steps.map(({ place }, index): Result => {
    const each = applied[index] as Applied;
    const change = "change" in each ? each.change : undefined;
    return { place, applied: each, audited: change && audited.get(change) };
  });
  return { results, graph, changes, before, outcome };
}

/** Whose belongings a change touches. */
function profilesIn(changes: readonly Change[]) {
  const merged = new Set<string>();
  const deleted = new Set<string>();
  for (const change of changes) {
    if (change.kind === "merge") merged.add(change.kept.platformId).add(change.merged.platformId);
    if (change.kind === "delete") deleted.add(change.user.platformId);
  }
  return { merged: [...merged], deleted: [...deleted] };
}

async function save(
  tx: Transaction,
  { clock }: IdentityServices,
  context: WorkspaceContext,
  { graph, changes, before, outcome }: Work,
  isLocked: boolean,
): Promise<void> {
  const { workspace } = context;
  const now = clock.now();
  await nextTurn();
  const written = graph.changes(now);
  await saveGraph(tx, workspace.id, written, { isLocked, now });
  const abandonedEmails = await findAbandoned(tx, workspace.id, written);
  await settleAll([
    saveBelongings(tx, { changes, before, after: outcome.after, abandonedEmails }, context, clock),
    writeSubscriptions(tx, workspace.id, emailStates(written, context), clock),
    recordAudit(tx, context, outcome.audited, clock),
  ]);
}

const emailStates = ({ linkedEmailStates }: GraphChanges, context: Context) => ({
  groupStates: [],
  emailStates: [],
  linkedEmailStates: linkedEmailStates.map((row) => ({ ...row, context })),
});
