import type { Logger } from "pino";
import { recordChanges } from "../../core/admin/audit/audit.ts";
import { recordRefusal } from "../../core/admin/audit/refusals.ts";
import { readFeed, readWorkspaceNames } from "../../core/admin/workspaces/find-workspace.ts";
import { later } from "../../core/base/clock.ts";
import { BY_THE_SERVER } from "../../core/base/context/context.ts";
import type { Metrics } from "../../core/base/observe/metrics.ts";
import {
  type Database,
  type Queryable,
  settleAll,
  type Transaction,
} from "../../core/database/database.ts";
import { enqueueMail } from "../../core/mail/mail-job.ts";
import {
  MissingChanges,
  oldestPositions,
  readHeads,
} from "../../core/people/changes/read-changes.ts";
import { countDeadLetters, insertDeadLetter } from "./deliveries-store.ts";
import { MAIL_JOB } from "./mail.ts";
import { deletePosition, type PartitionPosition, updatePosition } from "./positions-store.ts";
import { type PartitionPart, readPartition } from "./read-partition.ts";
import { recordDelivery } from "./record-delivery.ts";
import { delayAfter, PAUSES_AFTER_MS } from "./retry.ts";
import { type Attempt, type SendServices, send } from "./send.ts";
import { pauseWebhook, selectWebhook } from "./store.ts";
import {
  bodyOf,
  MOST_BATCH_BYTES,
  MOST_CHANGES,
  MOST_DEAD_LETTERS,
  type StoredWebhook,
} from "./webhook.ts";

/*
 * Delivers one partition of the feed to one webhook, batch after batch. A batch is stored with its
 * id before it is sent, and the next one is not sent before it is accepted. This keeps the order,
 * loses nothing, and gives a batch that is sent again after a crash the same id.
 *
 *   at a position ─ changes ─▶ batch under way ─ delivered ─▶ at its end
 *                               ├─ failed ──▶ the same batch, due later; after three days the webhook pauses
 *                               ├─ refused ─▶ half of it; a single change is put aside, and it goes on at its end
 *                               └─ gone ────▶ the same batch, and the webhook pauses
 *   at a position ─ changes that are no longer kept ─▶ at the oldest that are
 *
 * `after` says which state follows an attempt. Only `enter` writes a state.
 */

export interface DeliverServices extends SendServices {
  readonly database: Database;
  readonly log: Logger;
  readonly metrics: Pick<Metrics, "webhook">;
}

/** For how long a partition is one process's: longer than a batch takes. */
export const LEASE = { seconds: 30 };

/** The pause of a replay after each batch, which leaves receivers time for new changes. */
const REPLAY_PAUSE = { seconds: 1 };

/** Another process has the partition, or it was moved or removed. */
class PartitionLost extends Error {}

interface DeliveryContext {
  readonly services: DeliverServices;
  readonly holder: string;
  /** As declared when the batch began. */
  readonly webhook: StoredWebhook;
  readonly feed: { readonly id: number; readonly feed: number };
  readonly hear: (outcome: Attempt["outcome"]) => void;
  readonly signal: AbortSignal;
}

/** The state that follows. */
interface Transition {
  readonly to: PartitionPosition;
  /** Gives the partition back, until `dueAt` if that is given. */
  readonly releases?: true;
  readonly dueAt?: Date | null;
  /** Writes something in the same transaction. */
  alsoWrite?(tx: Transaction): Promise<void>;
}

/** @returns the state if the partition goes on at once; undefined if it was given back. @throws PartitionLost */
async function enter(
  { services: { database, clock }, holder }: DeliveryContext,
  { to, releases, dueAt = null, alsoWrite }: Transition,
): Promise<PartitionPosition | undefined> {
  const isDone = releases && to.endsAt !== null && to.position >= to.endsAt;
  const leasedUntil = releases ? null : later(clock.now(), LEASE);
  const write = async (tx: Queryable) => {
    const isHeld = isDone
      ? await deletePosition(tx, holder, to)
      : await updatePosition(tx, holder, to, { dueAt, leasedUntil });
    if (!isHeld) throw new PartitionLost();
  };
  if (alsoWrite) {
    await database.transaction(async (tx) => {
      await write(tx);
      await alsoWrite(tx);
    });
  } else await write(database);
  return releases ? undefined : to;
}

/**
 * Delivers the changes of a partition until none are left or a batch fails. The partition is given
 * back at the end.
 *
 * @param hear learns how each attempt ended.
 * @param signal ends it before the next batch, or within one, which is sent again later.
 */
export async function deliverPartition(
  services: DeliverServices,
  holder: string,
  claimed: PartitionPosition,
  hear: DeliveryContext["hear"],
  signal: AbortSignal,
): Promise<void> {
  const { database } = services;
  const { workspaceId: id } = claimed;
  let place: PartitionPosition | undefined = claimed;
  try {
    while (place && !signal.aborted) {
      const [webhook, feed] = await settleAll([
        selectWebhook(database, claimed),
        readFeed(database, id),
      ]);
      if (!webhook) return;
      if (feed === null) throw new Error("The change feed of a workspace with a webhook is off.");
      const context = { services, holder, webhook, feed: { id, feed }, hear, signal };
      const isActive = webhook.state === "active" && webhook.pausedReason === null;
      place = isActive
        ? await deliverNext(context, place)
        : await enter(context, { to: place, releases: true });
    }
  } catch (error) {
    if (!(error instanceof PartitionLost)) throw error;
  }
}

/** One batch. @returns the position to continue from, or undefined once the partition is given back. */
async function deliverNext(
  context: DeliveryContext,
  place: PartitionPosition,
): Promise<PartitionPosition | undefined> {
  const part = await partOf(context, place);
  if (part === "missing") return skipMissing(context, place);
  const [first] = part.changes;
  if (!first) {
    // The changes in the batch were erased, or are no longer wanted; otherwise nothing is left.
    const isAtEnd = part.until === place.position || part.until === place.endsAt;
    const to = at(place, part.until);
    return isAtEnd ? enter(context, { to, releases: true }) : to;
  }
  const { services, webhook, signal } = context;
  const batch = {
    ...place,
    batchId: place.batchId ?? `msg_${services.clock.newId()}`,
    batchUntil: part.until,
    behindSince: new Date(first.change.at),
  };
  if (place.batchId === null) await enter(context, { to: batch });
  const body = bodyOf(part.changes.map(({ text }) => text));
  const attempt = await send(services, place, webhook, { id: batch.batchId, body }, signal);
  return enter(context, await after(context, batch, part, attempt));
}

async function partOf(
  { services: { database }, webhook, feed }: DeliveryContext,
  { partition, position, batchUntil, endsAt, atMost }: PartitionPosition,
): Promise<PartitionPart | "missing"> {
  try {
    return await readPartition(database, feed, {
      bucket: partition,
      after: position,
      until: batchUntil ?? endsAt ?? undefined,
      limit: atMost ?? MOST_CHANGES,
      mostBytes: MOST_BATCH_BYTES,
      types: webhook.types,
    });
  } catch (error) {
    if (error instanceof MissingChanges) return "missing";
    throw error;
  }
}

/** The partition after a batch. */
const at = (place: PartitionPosition, position: number): PartitionPosition => ({
  ...place,
  position,
  batchId: null,
  batchUntil: null,
  attempts: 0,
  failingSince: null,
  behindSince: null,
});

/** Changes that the feed keeps no longer cannot be delivered: it goes on with the oldest that are kept. */
async function skipMissing(
  context: DeliveryContext,
  place: PartitionPosition,
): Promise<PartitionPosition> {
  const { database, log, clock } = context.services;
  const { partition, webhookId } = place;
  const [oldest, heads] = await settleAll([
    oldestPositions(database, context.feed),
    readHeads(database, context.feed),
  ]);
  const first = oldest.get(partition) ?? 0;
  const position = first > place.position ? first : (heads.get(partition) ?? 0);
  const to = { ...at(place, position), atMost: null, narrowedUntil: null };
  // If a reset has moved the partition meanwhile, nothing was missed.
  await enter(context, { to });
  log.warn({ webhook: webhookId, bucket: partition }, "changes of a webhook were missed");
  await recordDelivery(context.services, place, {
    messageId: place.batchId ?? "",
    changes: 0,
    firstChangeId: null,
    attempt: 0,
    at: clock.now(),
    durationMs: 0,
    outcome: "missed",
    status: null,
    response: null,
    error: "Changes were deleted from the change feed before they were delivered.",
    nextAttemptAt: null,
  });
  return to;
}

type Batch = PartitionPosition & { readonly batchId: string; readonly batchUntil: number };

/** Records an attempt. @returns the state that follows it. */
async function after(
  context: DeliveryContext,
  batch: Batch,
  part: PartitionPart,
  attempt: Attempt,
): Promise<Transition> {
  const { services, webhook } = context;
  const failures = batch.attempts + 1;
  const failing = { ...batch, attempts: failures, failingSince: batch.failingSince ?? attempt.at };
  const isLong = attempt.at.getTime() - failing.failingSince.getTime() >= PAUSES_AFTER_MS;
  const delayMs = delayAfter(failures, attempt.retryAfterMs);
  const isRetried = attempt.outcome === "failed" && !isLong;
  const nextAttemptAt = isRetried ? later(attempt.at, { ms: delayMs }) : null;
  await recordDelivery(services, batch, {
    messageId: batch.batchId,
    changes: part.changes.length,
    firstChangeId: part.changes[0]?.change.id ?? null,
    attempt: failures,
    nextAttemptAt,
    ...attempt,
  });
  context.hear(attempt.outcome);
  switch (attempt.outcome) {
    case "delivered":
      return delivered(services.clock.now(), batch);
    case "refused":
      return refused(context, batch, part, attempt);
    case "gone":
      return pause(context, batch, "The receiver responded with 410: it wants no more deliveries.");
    case "failed": {
      // Once for each batch that fails, not for each attempt.
      if (attempt.isRefusal && failures === 1) await recordRefusedHost(context, batch, attempt);
      if (!isLong) return { to: failing, releases: true, dueAt: nextAttemptAt };
      const last = attempt.error ?? `The last response was ${attempt.status}.`;
      const reason = `Deliveries to '${webhook.name}' failed for three days. ${last}`;
      return pause(context, failing, reason);
    }
  }
}

/** The host now resolves to an address that Rapport may not call. */
async function recordRefusedHost(
  { services, webhook, feed }: DeliveryContext,
  { webhookId }: PartitionPosition,
  { error }: Attempt,
): Promise<void> {
  const { database, log } = services;
  const name = (await readWorkspaceNames(database)).get(feed.id) ?? "";
  log.warn({ webhook: webhookId, reason: error }, "the host of a webhook may not be called");
  const context = { ...BY_THE_SERVER, workspace: { name } };
  const reaching = { kind: "webhook", name: webhook.name };
  await recordRefusal(services, context, reaching, error ?? "");
}

function delivered(now: Date, batch: Batch): Transition {
  const isNarrow = batch.narrowedUntil !== null && batch.batchUntil < batch.narrowedUntil;
  const to = {
    ...at(batch, batch.batchUntil),
    ...(!isNarrow && { atMost: null, narrowedUntil: null }),
  };
  return batch.isReplay ? { to, releases: true, dueAt: later(now, REPLAY_PAUSE) } : { to };
}

/**
 * A batch is halved until the change is found that the receiver refuses; only that one is put aside. The partition is given
 * back each time, because a receiver that refuses gets no next batch at once.
 */
async function refused(
  context: DeliveryContext,
  batch: Batch,
  { changes }: PartitionPart,
  { status, at: refusedAt }: Attempt,
): Promise<Transition> {
  const { database, clock } = context.services;
  const [only] = changes;
  if (changes.length > 1 || !only) {
    const smaller = {
      ...at(batch, batch.position),
      behindSince: batch.behindSince,
      atMost: Math.ceil(changes.length / 2),
      narrowedUntil: Math.max(batch.narrowedUntil ?? 0, batch.batchUntil),
    };
    return { to: smaller, releases: true };
  }
  if ((await countDeadLetters(database, batch)) >= MOST_DEAD_LETTERS) {
    const reason = `The receiver has refused ${MOST_DEAD_LETTERS} changes, the last one with ${status}.`;
    return pause(context, batch, reason);
  }
  const { change, position } = only;
  return {
    to: { ...at(batch, batch.batchUntil), atMost: null, narrowedUntil: null },
    releases: true,
    alsoWrite: (tx) =>
      insertDeadLetter(tx, batch, {
        id: clock.newId(),
        messageId: batch.batchId,
        bucket: batch.partition,
        position,
        changeId: change.id,
        type: change.type,
        status,
        at: refusedAt,
      }),
  };
}

/**
 * Stops the deliveries of a webhook and tells the log, the audit and its contacts. It keeps its place and the batch,
 * so that the batch has the same id when the webhook goes on.
 */
async function pause(
  { services, webhook: { name } }: DeliveryContext,
  place: PartitionPosition,
  reason: string,
): Promise<Transition> {
  const { database, clock, log } = services;
  const { workspaceId, webhookId } = place;
  await database.transaction(async (tx) => {
    if (!(await pauseWebhook(tx, place, reason, clock.now()))) return;
    log.error({ webhook: webhookId, reason }, "a webhook has paused");
    await enqueueMail(tx, clock, { workspaceId, kind: MAIL_JOB, subject: webhookId });
    const workspace = (await readWorkspaceNames(tx)).get(workspaceId) ?? "";
    const change = { action: "paused", kind: "webhook", workspace, name };
    await recordChanges(tx, clock, BY_THE_SERVER, [{ ...change, details: { reason } }]);
  });
  return { to: place, releases: true };
}
