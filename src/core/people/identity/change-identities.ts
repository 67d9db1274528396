import type { WorkspaceContext } from "../../base/context/context.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import type { FairLine } from "../../base/fair-line.ts";
import type { Fault } from "../../base/problem.ts";
import { nextTurn, startTurns } from "../../base/turns.ts";
import { groupBy } from "../../base/values/group-by.ts";
import type { ItemPlace } from "../../base/verdicts.ts";
import { idInBucketOf } from "../../database/buckets.ts";
import {
  type Queryable,
  readTogether,
  settleAll,
  type Transaction,
} from "../../database/database.ts";
import { lockProfiles, selectProfiles } from "../profiles/store.ts";
import { type PeopleServices, writePeople } from "../profiles/write-people.ts";
import type { Written } from "../profiles/written.ts";
import type { EmailStateChange } from "../subscriptions/history-store.ts";
import { type StoredState, selectStoredStates } from "../subscriptions/spellings-store.ts";
import { writeSubscriptions } from "../subscriptions/states.ts";
import type { WaitingState } from "../subscriptions/waiting-state.ts";
import { recordAudit } from "./audit.ts";
import {
  type AuditedChange,
  joinBelongings,
  readBelongings,
  saveBelongings,
  withinBudget,
} from "./belongings.ts";
import type { Change, GraphChanges, IdentityGraph } from "./identity-graph.ts";
import type { Naming } from "./likely-holders.ts";
import { columnsWithinBudget, previewInLine } from "./load-budget.ts";
import { loadGraph } from "./load-graph.ts";
import type { RecordedEmailState } from "./merge-record.ts";
import { endRecords } from "./merge-records-store.ts";
import { recordingMessages, recordMerges } from "./record-merges.ts";
import { ChangedMeanwhile, findAbandoned, saveGraph } from "./save-graph.ts";

export interface IdentityServices extends PeopleServices {
  readonly largePreviews: FairLine;
}

/** One checked item of a request: the users it names, and what it does. */
export interface Step extends Naming {
  readonly place: ItemPlace;
  /** Applies the item to the graph. A fault says why it is valid but changes nothing. */
  apply(graph: IdentityGraph): Applied;
}

export type Applied =
  | { readonly fault: Fault }
  /** With the change if users were merged, removed or identified. */
  | { readonly done: Done; readonly change?: Change };

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
  readonly place: ItemPlace;
  readonly applied: Applied;
  readonly audited: AuditedChange | undefined;
}

interface Options {
  /** The line in which large previews wait: with it, the changes are reported and not made. */
  readonly previewLine?: FairLine | undefined;
  /** Whether the changes can do without attributes that are too many to load. */
  readonly canOmitAttributes?: boolean;
  /** See `WritePlan`. */
  readonly lockMs?: number | undefined;
}

export interface Request extends Options {
  readonly steps: readonly Step[];
  /** Runs in the transaction of the changes, and again with every retry. */
  alsoWrite?(tx: Transaction, results: readonly Result[]): Promise<void>;
}

export interface Call {
  readonly context: WorkspaceContext;
  readonly steps: readonly Step[];
}

/**
 * Applies the items of one request in order, in one transaction, with a constant number of statements.
 *
 * All users that the items name are read, the items are applied in memory, and the result is written with
 * checks: a profile must have the version that was read, an identifier must be free. Every write about a
 * user raises the version, so the check covers events, summaries and states too. If it fails, the
 * profiles are read again while they are locked. If other profiles are concerned by then, the
 * transaction rolls back and runs again (`writePeople`).
 *
 * @returns the outcome of each item, in order.
 */
export async function changeIdentities(
  services: PeopleServices,
  context: WorkspaceContext,
  { steps, alsoWrite, ...options }: Request,
): Promise<Result[]> {
  const [results] = await changeTogether(services, [{ context, steps }], options, (tx, [own]) =>
    alsoWrite ? alsoWrite(tx, own ?? []) : Promise.resolve(),
  );
  return results ?? [];
}

/**
 * As `changeIdentities`, for several callers in one workspace, one after the other, in one transaction.
 *
 * @returns for each caller the outcome of each item.
 */
export async function changeTogether(
  services: PeopleServices,
  calls: readonly Call[],
  options: Options,
  alsoWrite?: (tx: Transaction, results: readonly Result[][]) => Promise<void>,
): Promise<Result[][]> {
  const [first] = calls;
  if (!first) return [];
  const { workspace } = first.context;
  const { database } = services;
  const { previewLine, canOmitAttributes = false } = options;
  const steps = calls.flatMap((call) => call.steps);
  const change = () => changeNamed(services, { calls, workspace, steps }, options, alsoWrite);
  if (!previewLine) return change();
  const previewed = { steps, canOmitAttributes, line: previewLine };
  return previewInLine(database, workspace.id, previewed, change);
}

interface Named {
  readonly calls: readonly Call[];
  readonly workspace: Workspace;
  readonly steps: readonly Step[];
}

async function changeNamed(
  services: PeopleServices,
  { calls, workspace, steps }: Named,
  { previewLine, canOmitAttributes = false, lockMs }: Options,
  alsoWrite?: (tx: Transaction, results: readonly Result[][]) => Promise<void>,
): Promise<Result[][]> {
  const { database } = services;
  const read = (from: Queryable, lock?: Transaction) =>
    loadGraph(from, workspace.id, steps, {
      newId: (value) => idInBucketOf(services.clock.newId(), workspace.id, value),
      redirects: workspace.settings.redirect_merged_ids,
      async read(ids) {
        const columns = await columnsWithinBudget(from, workspace.id, ids, canOmitAttributes);
        return lock
          ? lockProfiles(lock, workspace.id, ids, columns)
          : selectProfiles(from, workspace.id, ids, columns);
      },
    });
  const compute = (graph: IdentityGraph, from: Queryable) =>
    workOut(from, workspace.id, calls, graph);
  if (previewLine) {
    return readTogether(database, async (tx) => (await compute(await read(tx), tx)).results);
  }
  const isRecorded = workspace.settings.undo_days > 0;
  const plan = { names: steps.flatMap(({ names }) => names), lockMs, removes: true as const };
  return writePeople(services, workspace, plan, async ({ reading: { from, lock }, write }) => {
    let work = await compute(await read(from, lock), from);
    await write(async (tx, isLocked) => {
      const saveWork = (lockedIds?: ReadonlySet<string>) =>
        save(tx, services, workspace.id, work, { isLocked, lockedIds, isRecorded });
      const written = await saveWork().catch(async (error) => {
        if (!(error instanceof ChangedMeanwhile)) throw error;
        // Now they are locked, so the second attempt finds them as it reads them.
        work = await compute(await read(tx), tx);
        return saveWork(error.lockedIds);
      });
      await alsoWrite?.(tx, work.results);
      return written;
    });
    return work.results;
  });
}

interface Work {
  readonly results: Result[][];
  readonly graph: IdentityGraph;
  readonly changes: readonly Change[];
  readonly before: Awaited<ReturnType<typeof readBelongings>>;
  readonly outcome: Awaited<ReturnType<typeof joinBelongings>>;
  readonly callers: Callers;
}

interface Callers {
  of(change: Change): WorkspaceContext;
  /** The user who linked an address with a pending state. */
  ofLinked(email: string): WorkspaceContext;
}

async function workOut(
  database: Queryable,
  workspaceId: number,
  calls: readonly Call[],
  graph: IdentityGraph,
): Promise<Work> {
  const { applied, changes, callers } = await applyAll(graph, calls);
  const ids = await withinBudget(database, workspaceId, profilesIn(changes));
  const before = await readBelongings(database, workspaceId, ids);
  await nextTurn();
  const outcome = await joinBelongings(changes, before);
  const audited = new Map(outcome.audited.map((each) => [each.change, each]));
  const results = calls.map(({ steps }, call) =>
    steps.map(({ place }, index): Result => {
      const each = applied[call]?.[index] as Applied;
      const change = "change" in each ? each.change : undefined;
      return { place, applied: each, audited: change && audited.get(change) };
    }),
  );
  return { results, graph, changes, before, outcome, callers };
}

/** Applies the items to the graph in order, and yields to other requests in between. */
async function applyAll(graph: IdentityGraph, calls: readonly Call[]) {
  const turns = startTurns();
  const applied: Applied[][] = [];
  const contextOf = new Map<Change, WorkspaceContext>();
  const linked = new Map<string, { by: WorkspaceContext; state: WaitingState }>();
  for (const { context, steps } of calls) {
    const own: Applied[] = [];
    for (const step of steps) {
      const each = step.apply(graph);
      own.push(each);
      if ("change" in each && each.change) contextOf.set(each.change, context);
      if (turns.isOver()) await turns.next();
    }
    applied.push(own);
    for (const [email, state] of graph.linkedStates()) {
      if (linked.get(email)?.state !== state) linked.set(email, { by: context, state });
    }
  }
  const callers: Callers = {
    of: (change) => contextOf.get(change) as WorkspaceContext,
    ofLinked: (email) => linked.get(email)?.by as WorkspaceContext,
  };
  return { applied, changes: [...contextOf.keys()], callers };
}

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
  { clock, database }: PeopleServices,
  workspaceId: number,
  { graph, changes, before, outcome, callers }: Work,
  {
    isRecorded,
    ...locks
  }: {
    readonly isLocked: boolean;
    readonly lockedIds: ReadonlySet<string> | undefined;
    readonly isRecorded: boolean;
  },
): Promise<Written> {
  const now = clock.now();
  await nextTurn();
  const profiles = graph.changes(now);
  const saved = await saveGraph(tx, workspaceId, profiles, { ...locks, now });
  const removed = new Map(saved.removed.map((row) => [row.id, row]));
  const abandonedEmails = await findAbandoned(tx, workspaceId, profiles);
  const audited = outcome.audited.map((each) => ({
    id: clock.newId(),
    audited: each,
    isRecorded: isRecorded && each.change.kind === "merge",
  }));
  const recorded = audited.filter((each) => each.isRecorded);
  const emails = recorded.length > 0 ? profiles.linkedEmailStates.map(({ email }) => email) : [];
  const statesBefore = await readStates(tx, workspaceId, emails);
  const belongings = {
    changes,
    before,
    after: outcome.after,
    abandonedEmails,
    orphanIds: profiles.orphanIds,
    leavesActivity: isRecorded,
    onConflict: recorded.length > 0 ? recordingMessages(workspaceId, recorded) : undefined,
    isCluster: database.commitsInParts === true,
  };
  const [{ carried, forgotten }, linked] = await settleAll([
    saveBelongings(tx, workspaceId, belongings, callers.of, clock),
    writeSubscriptions(tx, workspaceId, emailStates(profiles, callers), clock),
    recordAudit(tx, workspaceId, audited, callers.of, clock),
    endRecords(tx, workspaceId, endedBy(changes, profiles)),
  ]);
  if (recorded.length > 0) {
    const statesAfter = await readStates(tx, workspaceId, emails);
    await recordMerges(
      tx,
      workspaceId,
      recorded,
      {
        ...forgotten,
        removed,
        groupStates: [...carried.states, ...forgotten.groupStates],
        groupEntries: carried.entries,
        emailStates: changedStates(statesBefore, statesAfter, linked.emailStates),
      },
      now,
    );
  }
  const subscriptions = { ...linked, groupStates: carried.received };
  const identities = { profiles, changes };
  return { identities, subscriptions, takesExternalIds: saved.takesIds };
}

/** The users whose merges cannot be undone any more, because the user who was kept is deleted. */
const endedBy = (changes: readonly Change[], { forgottenIds }: GraphChanges): readonly string[] =>
  changes.some(({ kind }) => kind === "delete") ? forgottenIds : [];

/** Few merges link a state to an address. */
const readStates = (tx: Transaction, workspaceId: number, emails: readonly string[]) =>
  emails.length > 0 ? selectStoredStates(tx, workspaceId, emails) : Promise.resolve([]);

function changedStates(
  before: readonly StoredState[],
  after: readonly StoredState[],
  entries: readonly EmailStateChange[],
): RecordedEmailState[] {
  const known = new Map(before.map((row) => [row.email, row]));
  const entriesOf = groupBy(entries, ({ email }) => email);
  return after.flatMap((row) => {
    const { email } = row;
    const stored = known.get(email) ?? null;
    if (stored?.state === row.state && stored.setAt === row.setAt) return [];
    const added = (entriesOf.get(email) ?? []).map(({ id }) => id);
    return [{ email, before: stored, after: row, entries: added }];
  });
}

const emailStates = ({ linkedEmailStates }: GraphChanges, callers: Callers) => ({
  groupStates: [],
  emailStates: [],
  linkedEmailStates: linkedEmailStates.map((row) => ({
    ...row,
    context: callers.ofLinked(row.email),
  })),
});
