import { addActivity } from "../activity/write-activity.ts";
import type { Clock } from "../clock.ts";
import type { WorkspaceContext } from "../context/context.ts";
import type { Workspace } from "../context/workspace.ts";
import {
  type Database,
  isAborted,
  settleAll,
  type Transaction,
  withRetries,
} from "../database/database.ts";
import type { IdempotencyClaim, Reply } from "../http/endpoint.ts";
import type { Idempotency } from "../http/idempotency.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { AddressCache } from "../people/address-cache.ts";
import { startRequestWork } from "../people/attribute-rules/work-budgets.ts";
import type { IdCache } from "../people/id-cache.ts";
import { selectIdRemovals, writePeopleAt } from "../people/id-removals-store.ts";
import { type Cached, loadPeople, readPeople, storeWritten } from "../people/load-people.ts";
import type { People, PeopleChanges } from "../people/people.ts";
import { savePeople } from "../people/save-people.ts";
import type { BatchQuotas, Quotas } from "../quotas/quotas.ts";
import { writeSubscriptions } from "../subscriptions/states.ts";
import { startTurns, type Turns } from "../threads/turns.ts";
import { writePeopleOf } from "../workspaces/reset.ts";
import { applyItem, type Batch, startBatch, subscriptionChanges } from "./apply-item.ts";
import type { Item, Verdict } from "./item.ts";

/** The part of a request that is written. */
export interface WriteRequest {
  readonly context: WorkspaceContext;
  readonly items: readonly Item[];
  /**
   * When each item counts as done, in microseconds since the epoch, so that who was updated last does
   * not depend on which transaction wrote it; without it, when the transaction is worked out.
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
  readonly quotas: Quotas;
}

/** How often an aborted batch is worked out again. */
const TRIES = 20;

/**
 * From which of them on profiles are locked before they are read. Not from the first: a person whom two
 * processes made at once is simply found then, and locking profiles before identifiers is the wrong
 * way round, which now and then costs a deadlock.
 */
const LOCKING_TRY = 3;

/**
 * Writes requests of one workspace in one transaction, in their order.
 *
 * The batch is read, worked out in memory, and written with checks: a profile must be at the version
 * that was read, an identifier must still be free. Where a check fails, another process was faster;
 * everything is rolled back and done again, in the end with the profiles locked before they are
 * read, so that a user who is written to all the time cannot starve a batch. Locking always would cost
 * a second write to every row, for a meeting that hardly ever happens.
 *
 * The first time it is worked out before the transaction begins, which then is one round trip long, or
 * two, and keeps others waiting no longer than that.
 *
 * @returns for each request the verdicts on its items.
 * @throws a serialization failure when it was outdated every time; KeyTaken (http/idempotency.ts).
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
  let cached = cachedIds(services, workspace) ?? (await refreshIds(services, workspace));
  const ahead = await readPeople(database, workspace.id, targets, { newId, cached })
    .then((people) => workOut(services, requests, people, quotas))
    .then((worked) => saveAhead(services, workspace, worked, cached.removals))
    .catch(unlessAborted);
  if (!ahead) cached = await refreshIds(services, workspace);
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

/** The id cache as it is; undefined where its count of removals was never read. */
function cachedIds(
  { idCache, addressCache }: WriteServices,
  { id }: Workspace,
): Cached | undefined {
  const removals = idCache.removals(id);
  return removals === undefined ? undefined : { idCache, addressCache, removals };
}

/** The id cache without what removals in any process have made stale. */
async function refreshIds(
  { database, idCache, addressCache }: WriteServices,
  { id }: Workspace,
): Promise<Cached> {
  const removals = await selectIdRemovals(database, id);
  idCache.expect(id, removals);
  return { idCache, addressCache, removals };
}

/** Undefined where another transaction was in the way: then the next try reads again. @throws others. */
function unlessAborted(error: unknown): undefined {
  if (!isAborted(error)) throw error;
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

/** Writes what was worked out before the transaction began. */
function saveAhead(
  services: WriteServices,
  workspace: Workspace,
  worked: Worked,
  removals: number,
): Promise<Worked> {
  const { database } = services;
  const work = (tx: Transaction) =>
    save(tx, services, workspace, worked, writePeopleAt(tx, workspace.id, removals));
  return asksAllAtOnce(worked) ? database.transactionAtOnce(work) : database.transaction(work);
}

/** Whether none of the statements of `save` depends on what another one finds. */
const asksAllAtOnce = ({ batch, changes, requests }: Worked): boolean =>
  changes.addressesOfNew.length === 0 &&
  batch.groupStates.length === 0 &&
  batch.emailStates.length === 0 &&
  batch.linkedEmailStates.size === 0 &&
  requests.every(({ recorded, alsoWrite, readBack }) => !recorded && !alsoWrite && !readBack);

/**
 * Sends all statements together, where none depends on what another one finds.
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
