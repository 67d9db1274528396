import type { Workspace } from "../access/workspace.ts";
import type { Clock } from "../clock.ts";
import {
  allDone,
  type Database,
  isSacrificed,
  type Transaction,
  withRetries,
} from "../database/database.ts";
import type { IdempotencyClaim, Reply } from "../http/endpoint.ts";
import type { Idempotency } from "../http/idempotency.ts";
import type { Metrics } from "../metrics.ts";
import type { KnownIds } from "../profiles/known-ids.ts";
import { loadPeople, readPeople, rememberAll } from "../profiles/load-people.ts";
import type { People, PeopleChanges } from "../profiles/people.ts";
import { savePeople } from "../profiles/save-people.ts";
import { writeSubscriptions } from "../subscriptions/states.ts";
import { writePeopleOf } from "../workspaces/reset.ts";
import {
  applyItem,
  type Batch,
  type Behalf,
  startBatch,
  subscriptionChanges,
} from "./apply-item.ts";
import type { Item, Verdict } from "./item.ts";
import { insertEvents, insertPurchases } from "./store.ts";

/** The part of a request that is written. */
export interface WriteRequest extends Behalf {
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
}

export interface WriteServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly idempotency: Idempotency;
  readonly knownIds: KnownIds;
  readonly metrics: Metrics;
}

/** How often a batch is worked out anew because somebody else was faster. */
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
 * read, so that a person whom everybody writes to cannot starve a batch. Locking always would cost
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
  const { workspace } = first;
  const { database, knownIds, clock } = services;
  const needs = requests.flatMap((request) => request.items);
  const { newId } = clock;
  const ahead = await readPeople(database, workspace.id, needs, { newId, knownIds })
    .then((people) => saveAhead(services, workspace, workOut(services, requests, people)))
    .catch(unlessSacrificed);
  const written =
    ahead ??
    (await withRetries(
      database,
      async (tx, attempt) => {
        const lock = attempt >= LOCKING_TRY;
        const people = await loadPeople(tx, workspace.id, needs, { newId, knownIds, lock });
        return save(tx, services, workspace, workOut(services, requests, people));
      },
      TRIES,
    ));
  rememberAll(knownIds, workspace.id, written.changes.addedIdentifiers);
  return written.verdicts;
}

/** Undefined where another transaction was in the way: then the next try reads again. @throws others. */
function unlessSacrificed(error: unknown): undefined {
  if (!isSacrificed(error)) throw error;
}

/** A batch as it is to be written. */
interface Worked {
  readonly requests: readonly WriteRequest[];
  readonly batch: Batch;
  readonly changes: PeopleChanges;
  /** For each request those on its items. */
  readonly verdicts: Verdict[][];
}

function workOut(
  { clock }: WriteServices,
  requests: readonly WriteRequest[],
  people: People,
): Worked {
  const batch = startBatch(people, clock.newId);
  const verdicts = requests.map((request) =>
    request.items.map((item, index) => applyItem(batch, request, item, request.moments?.[index])),
  );
  return { requests, batch, changes: people.changes(clock.now()), verdicts };
}

/** Writes what was worked out before the transaction began. */
function saveAhead(services: WriteServices, workspace: Workspace, worked: Worked): Promise<Worked> {
  const { database } = services;
  const work = (tx: Transaction) => save(tx, services, workspace, worked);
  return asksAllAtOnce(worked) ? database.transactionAtOnce(work) : database.transaction(work);
}

/** Whether none of the statements of `save` depends on what another one finds. */
const asksAllAtOnce = ({ batch, changes, requests }: Worked): boolean =>
  changes.addressesOfNew.length === 0 &&
  batch.groupStates.length === 0 &&
  batch.emailStates.length === 0 &&
  batch.initialEmailStates.size === 0 &&
  requests.every(({ recorded, alsoWrite }) => !recorded && !alsoWrite);

/** Sends all statements together, where none depends on what another one finds. */
async function save(
  tx: Transaction,
  services: WriteServices,
  workspace: Workspace,
  worked: Worked,
): Promise<Worked> {
  const { batch, changes } = worked;
  const people = allDone([writePeopleOf(tx, workspace.id), savePeople(tx, workspace.id, changes)]);
  // Looks before it writes, and what belongs to a person is written once the person is locked.
  if (changes.addressesOfNew.length > 0) await people;
  await allDone([
    people,
    insertEvents(tx, workspace.id, batch.events),
    insertPurchases(tx, workspace.id, batch.purchases),
    writeSubscriptions(tx, workspace.id, subscriptionChanges(batch), services.clock),
    services.idempotency.record(tx, workspace, recordedAnswers(worked)),
    ...worked.requests.flatMap(
      (request, index) => request.alsoWrite?.(tx, worked.verdicts[index] ?? []) ?? [],
    ),
  ]);
  return worked;
}

const recordedAnswers = ({ requests, verdicts }: Worked) =>
  requests.flatMap(({ recorded }, index) =>
    recorded ? [{ claim: recorded.claim, reply: recorded.answer(verdicts[index] ?? []) }] : [],
  );
