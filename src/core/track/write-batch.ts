import type { WorkspaceContext } from "../base/context/context.ts";
import type { Workspace } from "../base/context/workspace.ts";
import type { Metrics } from "../base/observe/metrics.ts";
import type { Tracing } from "../base/observe/tracing.ts";
import { startTurns, type Turns } from "../base/turns.ts";
import { settleAll, type Transaction } from "../database/database.ts";
import type { StoringServices } from "../database/storing-services.ts";
import type { IdempotencyClaim, Reply } from "../http/endpoint.ts";
import type { Idempotency } from "../http/idempotency.ts";
import { addActivity } from "../people/activity/write-activity.ts";
import type { AddressCache } from "../people/profiles/address-cache.ts";
import type { IdCache } from "../people/profiles/id-cache.ts";
import { readPeople, type Target } from "../people/profiles/load-people.ts";
import type { People, PeopleChanges } from "../people/profiles/people.ts";
import type { PeopleOrder } from "../people/profiles/people-order.ts";
import type { RemovedProfiles } from "../people/profiles/removed-profiles.ts";
import { savePeople } from "../people/profiles/save-people.ts";
import { writePeople } from "../people/profiles/write-people.ts";
import type { Written } from "../people/profiles/written.ts";
import type { BatchQuotas, Quotas } from "../people/quotas/quotas.ts";
import { refuseTooManyStates } from "../people/subscriptions/sharers.ts";
import { writeSubscriptions } from "../people/subscriptions/states.ts";
import {
  applyItem,
  type Batch,
  startBatch,
  startRequest,
  subscriptionChanges,
} from "./apply-item.ts";
import type { Item, Verdict } from "./item.ts";

/** The part of a request that is written. */
export interface WriteRequest {
  readonly context: WorkspaceContext;
  readonly items: readonly Item[];
  /**
   * The timestamp of each item in microseconds since the epoch, so that the most recently updated
   * user does not depend on the order of transactions. By default the time when the batch is
   * computed.
   */
  readonly moments?: readonly number[];
  /** An answer that is recorded in the same transaction, worked out from the verdicts. */
  readonly recorded?: {
    readonly claim: IdempotencyClaim;
    answer(verdicts: readonly Verdict[]): Reply;
  };
  /**
   * Further writes that are committed together with the items or not at all. It runs again whenever
   * the batch does.
   */
  alsoWrite?(tx: Transaction, verdicts: readonly Verdict[]): Promise<void>;
  /**
   * Reads the results of the items, in their transaction, before the response is recorded. It runs
   * again whenever the batch does.
   */
  readBack?(tx: Transaction, verdicts: readonly Verdict[]): Promise<void>;
}

/** The rows that a batch writes. */
export type BatchWritten = Required<Pick<Written, "people" | "events" | "purchases">>;

export type OnWritten = (workspaceId: number, written: BatchWritten) => void;

export interface WriteServices extends StoringServices {
  readonly idempotency: Idempotency;
  readonly idCache: IdCache;
  readonly addressCache: AddressCache;
  readonly peopleOrder: PeopleOrder;
  readonly removedProfiles: RemovedProfiles;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly quotas: Quotas;
  /** Learns what a transaction has written once it has committed. */
  readonly onWritten: OnWritten;
}

/**
 * Writes requests of one workspace in one transaction, in their order (`writePeople`).
 *
 * @param lockMs see `WritePlan`.
 * @returns for each request the verdicts on its items; and a moment later than all that they did, in microseconds since the epoch.
 * @throws a serialization failure when every attempt had a stale read; KeyTaken
 *   (core/http/idempotency.ts).
 */
export async function writeBatch(
  services: WriteServices,
  requests: readonly WriteRequest[],
  lockMs?: number,
): Promise<{ verdicts: Verdict[][]; nextMoment: number }> {
  const [first] = requests;
  if (!first) return { verdicts: [], nextMoment: 0 };
  const { workspace } = first.context;
  const items = requests.flatMap((request) => request.items);
  const targets = namedFor(workspace, items);
  const { newId } = services.clock;
  const quotas = await services.quotas.of(workspace, items);
  const plan = {
    names: targets.map(({ identifier }) => identifier),
    lockMs,
    readsRows: targets.some(({ reads, addresses }) => reads || addresses.length > 0),
    keepsPlans: requests.every(({ alsoWrite, readBack }) => !alsoWrite && !readBack),
  };
  const { verdicts, changes, batch } = await writePeople(
    services,
    workspace,
    plan,
    async ({ reading, write }) => {
      const people = await readPeople(reading, workspace.id, targets, { newId });
      const worked = await workOut(services, requests, people, quotas);
      const sent = asksAllAtOnce(worked) ? writtenAtOnce(worked) : undefined;
      await write((tx) => save(tx, services, workspace, worked), sent);
      return worked;
    },
  );
  services.onWritten(workspace.id, writtenAtOnce({ changes, batch }));
  return { verdicts, nextMoment: batch.nextMoment };
}

/**
 * The items as they are read. The change feed names users by their external_id and aliases, so
 * users named in another way are read.
 */
const namedFor = ({ feed }: Workspace, items: readonly Item[]): readonly Target[] =>
  feed === null
    ? items
    : items.map(({ identifier, reads, addresses, affectsSharers }) => ({
        identifier,
        reads: reads || identifier.kind !== "external_id",
        addresses,
        affectsSharers,
      }));

const writtenAtOnce = ({
  changes,
  batch: { events, purchases },
}: Pick<Worked, "changes" | "batch">): BatchWritten => ({ people: changes, events, purchases });

/** A batch ready to be written. */
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
  for (const request of requests) {
    verdicts.push(await applyAll(batch, request, turns));
    if (requests.length > 1) refuseTooManyStates(batch.groupStates.length);
  }
  return { requests, batch, changes: people.changes(clock.now()), verdicts };
}

/** Between expensive items, other requests get a turn. */
async function applyAll(
  batch: Batch,
  { context, items, moments }: WriteRequest,
  turns: Turns,
): Promise<Verdict[]> {
  const work = startRequest();
  const verdicts: Verdict[] = [];
  for (const [index, item] of items.entries()) {
    verdicts.push(applyItem(batch, context, item, work, moments?.[index]));
    if (turns.isOver()) await turns.next();
  }
  return verdicts;
}

/** Whether none of the statements of `save` depends on what another one finds. */
const asksAllAtOnce = ({ batch, changes, requests }: Worked): boolean =>
  changes.addressesOfNew.length === 0 &&
  batch.groupStates.length === 0 &&
  batch.emailStates.length === 0 &&
  batch.linkedEmailStates.size === 0 &&
  requests.every(({ recorded, alsoWrite, readBack }) => !recorded && !alsoWrite && !readBack);

/** Sends all statements together if none depends on the result of another. */
async function save(
  tx: Transaction,
  services: WriteServices,
  workspace: Workspace,
  worked: Worked,
): Promise<Written> {
  const { batch, changes } = worked;
  const { events, purchases } = batch;
  const readsBack = worked.requests.some((request) => request.readBack);
  const record = () => services.idempotency.record(tx, workspace, recordedAnswers(worked));
  const people = savePeople(tx, workspace.id, changes, workspace.settings.profile_max_bytes);
  // Reads before it writes; the data of a person is written after the person is locked.
  if (changes.addressesOfNew.length > 0) await people;
  const [, , subscriptions] = await settleAll([
    people,
    addActivity(tx, workspace.id, events, purchases),
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
  return { people: changes, events, purchases, subscriptions };
}

const recordedAnswers = ({ requests, verdicts }: Worked) =>
  requests.flatMap(({ recorded }, index) =>
    recorded ? [{ claim: recorded.claim, reply: recorded.answer(verdicts[index] ?? []) }] : [],
  );
