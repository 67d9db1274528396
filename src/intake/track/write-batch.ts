import type { Clock } from "../../base/clock.ts";
import type { WorkspaceContext } from "../../base/context/context.ts";
import type { Workspace } from "../../base/context/workspace.ts";
import type { Metrics } from "../../base/observe/metrics.ts";
import type { Tracing } from "../../base/observe/tracing.ts";
import { startTurns, type Turns } from "../../base/turns.ts";
import { bucketOfId, bucketOfValue } from "../../database/buckets.ts";
import {
  type Database,
  isAborted,
  isUnavailable,
  settleAll,
  type Transaction,
  withRetries,
} from "../../database/database.ts";
import { writePeopleOf } from "../../database/people-lock.ts";
import type { IdempotencyClaim, Reply } from "../../http/endpoint.ts";
import type { Idempotency } from "../../http/idempotency.ts";
import { addActivity } from "../../people/activity/write-activity.ts";
import type { AddressCache } from "../../people/profiles/address-cache.ts";
import { startRequestWork } from "../../people/profiles/attribute-rules/work-budgets.ts";
import type { IdCache } from "../../people/profiles/id-cache.ts";
import { selectIdRemovals, writePeopleAt } from "../../people/profiles/id-removals-store.ts";
import { knownIds, refreshIds } from "../../people/profiles/known-ids.ts";
import { loadPeople, readPeople, storeWritten } from "../../people/profiles/load-people.ts";
import type { People, PeopleChanges } from "../../people/profiles/people.ts";
import { savePeople } from "../../people/profiles/save-people.ts";
import type { BatchQuotas, Quotas } from "../../people/quotas/quotas.ts";
import { writeSubscriptions } from "../../people/subscriptions/states.ts";
import { applyItem, type Batch, startBatch, subscriptionChanges } from "./apply-item.ts";
import type { Item, Verdict } from "./item.ts";

/** The part of a request that is written. */
export interface WriteRequest {
  readonly context: WorkspaceContext;
  readonly items: readonly Item[];
  /**
   * The timestamp of each item in microseconds since the epoch, so that the most recently updated
   * user does not depend on the order of transactions. By default, the time at which the batch is
   * computed.
   */
  readonly moments?: readonly number[];
  /** An answer that is recorded in the same transaction, worked out from the verdicts. */
  readonly recorded?: {
    readonly claim: IdempotencyClaim;
    answer(verdicts: readonly Verdict[]): Reply;
  };
  /** What is committed with the items or not at all. It runs again whenever the batch does. */
  alsoWrite?(tx: Transaction, verdicts: readonly Verdict[]): Promise<void>;
  /**
   * Reads what the items left, in their transaction, before the answer is recorded. It runs again
   * whenever the batch does.
   */
  readBack?(tx: Transaction, verdicts: readonly Verdict[]): Promise<void>;
}

export interface WriteServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly idempotency: Idempotency;
  readonly idCache: IdCache;
  readonly addressCache: AddressCache;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly quotas: Quotas;
}

/** How often an aborted batch is retried. */
const TRIES = 20;

/**
 * From this retry on, profiles are locked before they are read. Not from the first: if two
 * processes create a user at once, the first retry simply finds the user, and locking profiles
 * before identifiers reverses the lock order, which occasionally costs a deadlock.
 */
const LOCKING_TRY = 3;

/**
 * Writes requests of one workspace in one transaction, in their order.
 *
 * The batch is read, computed in memory, and written with checks: a profile must still have the
 * version that was read, an identifier must still be free. If a check fails, another process was
 * faster: the batch is rolled back and retried, later attempts with the profiles locked first, so
 * that a user with constant writes cannot starve a batch. Always locking would write every row
 * twice to avoid a rare conflict.
 *
 * The first attempt is computed before the transaction begins. The transaction then takes one or
 * two round trips, and others wait no longer than that.
 *
 * @returns for each request the verdicts on its items.
 * @throws a serialization failure when every attempt had a stale read; KeyTaken
 *   (http/idempotency.ts).
 */
export async function writeBatch(
  services: WriteServices,
  requests: readonly WriteRequest[],
): Promise<Verdict[][]> {
  const [first] = requests;
  if (!first) return [];
  const { workspace } = first.context;
  const { database, clock } = services;
  const targets = requests.flatMap((request) => request.items);
  const { newId } = clock;
  const quotas = await services.quotas.of(workspace, targets);
  let cached = await knownIds(services, workspace.id);
  const holder = database.near?.([bucketOfValue(workspace.id, targets[0]?.identifier.value ?? "")]);
  const worked = await readPeople(holder ?? database, workspace.id, targets, { newId, cached })
    .then((people) => workOut(services, requests, people, quotas))
    .catch(holder ? unlessUnavailable : unlessAborted);
  const ahead = worked && (await saveAhead(services, workspace, worked, cached.removals));
  if (!ahead) cached = await refreshIds(services, workspace.id);
  const written =
    ahead ??
    (await withRetries(
      database,
      async (tx, attempt) => {
        const lock = attempt >= LOCKING_TRY;
        const people = await loadPeople(tx, workspace.id, targets, { newId, cached, lock });
        const worked = await workOut(services, requests, people, quotas);
        return save(tx, services, workspace, worked, writePeopleOf(tx, workspace.id));
      },
      TRIES,
    ));
  storeWritten(cached, workspace.id, written.changes);
  return written.verdicts;
}

/**
 * Returns undefined if the transaction conflicted with another, so that the next attempt reads
 * again. @throws other errors.
 */
function unlessAborted(error: unknown): undefined {
  if (!isAborted(error)) throw error;
}

/** The same on a worker: if it fails, nothing was committed, and the batch runs again through the coordinator. */
function unlessUnavailable(error: unknown): undefined {
  if (isUnavailable(error)) throw error;
}

/** A batch as it is to be written. */
interface Worked {
  readonly requests: readonly WriteRequest[];
  readonly batch: Batch;
  readonly changes: PeopleChanges;
  /** For each request those on its items. */
  readonly verdicts: Verdict[][];
}

async function workOut(
  { clock }: WriteServices,
  requests: readonly WriteRequest[],
  people: People,
  quotas: BatchQuotas | undefined,
): Promise<Worked> {
  const batch = startBatch(people, clock, quotas);
  const verdicts: Verdict[][] = [];
  const turns = startTurns();
  for (const request of requests) verdicts.push(await applyAll(batch, request, turns));
  return { requests, batch, changes: people.changes(clock.now()), verdicts };
}

/** Between expensive items, other requests get a turn. */
async function applyAll(
  batch: Batch,
  { context, items, moments }: WriteRequest,
  turns: Turns,
): Promise<Verdict[]> {
  const work = startRequestWork();
  const verdicts: Verdict[] = [];
  for (const [index, item] of items.entries()) {
    verdicts.push(applyItem(batch, context, item, work, moments?.[index]));
    if (turns.isOver()) await turns.next();
  }
  return verdicts;
}

/**
 * Writes what was worked out before the transaction began: on the node of a cluster that has all of its rows, if one does.
 *
 * @returns undefined if the transaction conflicted with another.
 */
async function saveAhead(
  services: WriteServices,
  workspace: Workspace,
  worked: Worked,
  removals: number,
): Promise<Worked | undefined> {
  const { database } = services;
  const work =
    (started: (tx: Transaction) => Promise<void>) =>
    (tx: Transaction): Promise<Worked> =>
      save(tx, services, workspace, worked, started(tx));
  const at = work((tx) => writePeopleAt(tx, workspace.id, removals));
  if (!asksAllAtOnce(worked)) return database.transaction(at).catch(unlessAborted);
  const holder = database.near?.(bucketsOf(worked.changes, workspace.id));
  if (!holder) return database.transactionAtOnce(at).catch(unlessAborted);
  // Only the coordinator has the count. Asked for before the transaction locks anything: those who wait for its
  // locks may have all connections to the coordinator.
  if ((await selectIdRemovals(database, workspace.id)) !== removals) return undefined;
  const near = work((tx) => writePeopleOf(tx, workspace.id));
  return holder.transaction(near).catch(unlessUnavailable);
}

/** Where the rows lie that `save` writes if it asks all at once. */
function* bucketsOf(changes: PeopleChanges, workspaceId: number): Iterable<number> {
  for (const { id } of changes.updated) yield bucketOfId(id);
  for (const { id } of changes.created) yield bucketOfId(id);
  for (const { value } of changes.addedIdentifiers) yield bucketOfValue(workspaceId, value);
  for (const { value } of changes.removedIdentifiers) yield bucketOfValue(workspaceId, value);
}

/** Whether none of the statements of `save` depends on what another one finds. */
const asksAllAtOnce = ({ batch, changes, requests }: Worked): boolean =>
  changes.addressesOfNew.length === 0 &&
  batch.groupStates.length === 0 &&
  batch.emailStates.length === 0 &&
  batch.linkedEmailStates.size === 0 &&
  requests.every(({ recorded, alsoWrite, readBack }) => !recorded && !alsoWrite && !readBack);

/**
 * Sends all statements together if none depends on the result of another.
 *
 * @param started the statement that must come first: `writePeopleOf` or `writePeopleAt`.
 */
async function save(
  tx: Transaction,
  services: WriteServices,
  workspace: Workspace,
  worked: Worked,
  started: Promise<void>,
): Promise<Worked> {
  const { batch, changes } = worked;
  const readsBack = worked.requests.some((request) => request.readBack);
  const record = () => services.idempotency.record(tx, workspace, recordedAnswers(worked));
  const people = settleAll([
    started,
    savePeople(tx, workspace.id, changes, workspace.settings.profile_max_bytes),
  ]);
  // Looks before it writes, and what belongs to a person is written once the person is locked.
  if (changes.addressesOfNew.length > 0) await people;
  await settleAll([
    people,
    addActivity(tx, workspace.id, batch.events, batch.purchases),
    writeSubscriptions(tx, workspace.id, subscriptionChanges(batch), services.clock),
    ...worked.requests.flatMap(
      (request, index) => request.alsoWrite?.(tx, worked.verdicts[index] ?? []) ?? [],
    ),
    ...(readsBack ? [] : [record()]),
  ]);
  if (readsBack) {
    for (const [index, request] of worked.requests.entries()) {
      await request.readBack?.(tx, worked.verdicts[index] ?? []);
    }
    await record();
  }
  return worked;
}

const recordedAnswers = ({ requests, verdicts }: Worked) =>
  requests.flatMap(({ recorded }, index) =>
    recorded ? [{ claim: recorded.claim, reply: recorded.answer(verdicts[index] ?? []) }] : [],
  );
