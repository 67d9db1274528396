import type { Workspace } from "../access/workspace.ts";
import type { Clock } from "../clock.ts";
import { type Database, type Transaction, withRetries } from "../database/database.ts";
import type { IdempotencyClaim, Reply } from "../http/endpoint.ts";
import type { Idempotency } from "../http/idempotency.ts";
import type { Metrics } from "../metrics.ts";
import { loadPeople } from "../profiles/load-people.ts";
import { savePeople } from "../profiles/save-people.ts";
import { writeSubscriptions } from "../subscriptions/states.ts";
import { applyItem, startBatch, subscriptionChanges } from "./apply-item.ts";
import type { Item, Verdict } from "./item.ts";
import { insertEvents, insertPurchases } from "./store.ts";

/** The part of a request that is written: checked items, and how their verdicts become an answer. */
export interface WriteRequest {
  readonly workspace: Workspace;
  readonly items: readonly Item[];
  /** Recorded with the answer, in the same transaction. */
  readonly claim: IdempotencyClaim | undefined;
  answer(verdicts: readonly Verdict[]): Reply;
}

export interface WriteServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly idempotency: Idempotency;
  readonly metrics: Metrics;
}

/** How often a batch is worked out anew because somebody else was faster. */
const TRIES = 10;

/**
 * Writes requests of one workspace in one transaction, in their order, and answers each.
 *
 * The batch is read, worked out in memory, and written with checks: a profile must be at the version
 * that was read, an identifier must still be free. Where a check fails, another process was faster;
 * everything is rolled back and done again, this time with the profiles locked before they are read,
 * so that a person whom everybody writes to cannot starve a batch. Locking always would cost a
 * second write to every row, for a meeting that hardly ever happens.
 *
 * @throws a serialization failure when it was outdated every time; KeyTaken (http/idempotency.ts).
 */
export const writeBatch = (
  services: WriteServices,
  requests: readonly WriteRequest[],
): Promise<Reply[]> =>
  withRetries(
    services.database,
    (tx, careful) => writeOnce(tx, services, requests, careful),
    TRIES,
  );

async function writeOnce(
  tx: Transaction,
  services: WriteServices,
  requests: readonly WriteRequest[],
  lock: boolean,
): Promise<Reply[]> {
  const [first] = requests;
  if (!first) return [];
  const { workspace } = first;
  const now = services.clock.now();
  const { newId } = services.clock;
  const needs = requests.flatMap((request) => request.items);
  const people = await loadPeople(tx, workspace.id, needs, newId, lock);

  const batch = startBatch(people, newId);
  const replies = requests.map((request) =>
    request.answer(request.items.map((item) => applyItem(batch, workspace, item))),
  );

  await savePeople(tx, workspace.id, people.changes(now));
  await Promise.all([
    insertEvents(tx, workspace.id, batch.events),
    insertPurchases(tx, workspace.id, batch.purchases),
    writeSubscriptions(tx, workspace.id, subscriptionChanges(batch), now),
    services.idempotency.record(tx, workspace, answersWithKeys(requests, replies)),
  ]);
  return replies;
}

const answersWithKeys = (requests: readonly WriteRequest[], replies: readonly Reply[]) =>
  requests.flatMap(({ claim }, index) => {
    const reply = replies[index];
    return claim && reply ? [{ claim, reply }] : [];
  });
