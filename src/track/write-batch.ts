import type { Clock } from "../clock.ts";
import { allDone, type Database, type Transaction, withRetries } from "../database/database.ts";
import type { IdempotencyClaim, Reply } from "../http/endpoint.ts";
import type { Idempotency } from "../http/idempotency.ts";
import type { Metrics } from "../metrics.ts";
import type { KnownIds } from "../profiles/known-ids.ts";
import { loadPeople } from "../profiles/load-people.ts";
import { savePeople } from "../profiles/save-people.ts";
import { writeSubscriptions } from "../subscriptions/states.ts";
import { applyItem, type Behalf, startBatch, subscriptionChanges } from "./apply-item.ts";
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
 * From which try on profiles are locked before they are read. Not from the second: a person whom two
 * processes made at once is simply found then, and locking profiles before identifiers is the wrong
 * way round, which now and then costs a deadlock.
 */
const LOCKING_TRY = 4;

/**
 * Writes requests of one workspace in one transaction, in their order.
 *
 * The batch is read, worked out in memory, and written with checks: a profile must be at the version
 * that was read, an identifier must still be free. Where a check fails, another process was faster;
 * everything is rolled back and done again, in the end with the profiles locked before they are
 * read, so that a person whom everybody writes to cannot starve a batch. Locking always would cost
 * a second write to every row, for a meeting that hardly ever happens.
 *
 * @returns for each request the verdicts on its items.
 * @throws a serialization failure when it was outdated every time; KeyTaken (http/idempotency.ts).
 */
export async function writeBatch(
  services: WriteServices,
  requests: readonly WriteRequest[],
): Promise<Verdict[][]> {
  const verdicts = await withRetries(
    services.database,
    (tx, attempt) => writeOnce(tx, services, requests, attempt),
    TRIES,
  );
  rememberPeople(services.knownIds, requests, verdicts);
  return verdicts;
}

async function writeOnce(
  tx: Transaction,
  services: WriteServices,
  requests: readonly WriteRequest[],
  attempt: number,
): Promise<Verdict[][]> {
  const [first] = requests;
  if (!first) return [];
  const { workspace } = first;
  const now = services.clock.now();
  const { newId } = services.clock;
  const people = await loadPeople(
    tx,
    workspace.id,
    requests.flatMap((request) => request.items),
    {
      newId,
      lock: attempt >= LOCKING_TRY,
      ...(attempt === 1 && { knownIds: services.knownIds }),
    },
  );

  const batch = startBatch(people, newId);
  const verdicts = requests.map((request) =>
    request.items.map((item, index) => applyItem(batch, request, item, request.moments?.[index])),
  );

  await savePeople(tx, workspace.id, people.changes(now));
  await allDone([
    insertEvents(tx, workspace.id, batch.events),
    insertPurchases(tx, workspace.id, batch.purchases),
    writeSubscriptions(tx, workspace.id, subscriptionChanges(batch), services.clock),
    services.idempotency.record(tx, workspace, recordedAnswers(requests, verdicts)),
  ]);
  return verdicts;
}

const recordedAnswers = (requests: readonly WriteRequest[], verdicts: readonly Verdict[][]) =>
  requests.flatMap(({ recorded }, index) =>
    recorded ? [{ claim: recorded.claim, reply: recorded.answer(verdicts[index] ?? []) }] : [],
  );

/** Once it is committed: who an external_id leads to. */
function rememberPeople(
  knownIds: KnownIds,
  requests: readonly WriteRequest[],
  verdicts: readonly Verdict[][],
): void {
  for (const [index, { workspace, items }] of requests.entries()) {
    for (const [place, { who }] of items.entries()) {
      const verdict = verdicts[index]?.[place];
      if (who.kind !== "external_id" || verdict?.outcome !== "applied") continue;
      knownIds.remember(workspace.id, who.value, verdict.profileId);
    }
  }
}
