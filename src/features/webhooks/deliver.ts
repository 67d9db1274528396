import type { Logger } from "pino";
import { recordChanges } from "../../core/admin/audit/audit.ts";
import { recordRefusal } from "../../core/admin/audit/refusals.ts";
import { readFeed, readWorkspaceNames } from "../../core/admin/workspaces/find-workspace.ts";
import { later } from "../../core/base/clock.ts";
import { BY_THE_SERVER } from "../../core/base/context/context.ts";
import type { Metrics } from "../../core/base/observe/metrics.ts";
import { type Database, settleAll } from "../../core/database/database.ts";
import { enqueueMail } from "../../core/mail/mail-job.ts";
import {
  MissingChanges,
  oldestPositions,
  readHeads,
} from "../../core/people/changes/read-changes.ts";
import { countDeadLetters, insertDeadLetter } from "./deliveries-store.ts";
import { MAIL_JOB } from "./mail.ts";
import { deleteLane, type Lane, type LaneUpdate, updateLane } from "./positions-store.ts";
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
class LaneLost extends Error {}

interface Work {
  readonly services: DeliverServices;
  readonly holder: string;
  /** As declared when the batch began. */
  readonly webhook: StoredWebhook;
  readonly feed: { readonly id: number; readonly feed: number };
  readonly hear: (outcome: Attempt["outcome"]) => void;
  readonly signal: AbortSignal;
}

/**
 * Delivers the changes of a partition until none are left or a batch fails. The partition is given
 * back at the end.
 *
 * @param hear learns how each attempt ended.
 * @param signal ends it before the next batch, or within one, which is sent again later.
 */
export async function deliverLane(
  services: DeliverServices,
  holder: string,
  claimed: Lane,
  hear: Work["hear"],
  signal: AbortSignal,
): Promise<void> {
  const { database } = services;
  const { workspaceId: id } = claimed;
  let lane: Lane | undefined = claimed;
  try {
    while (lane && !signal.aborted) {
      const [webhook, feed] = await settleAll([
        selectWebhook(database, claimed),
        readFeed(database, id),
      ]);
      if (!webhook) return;
      if (feed === null) throw new Error("The change feed of a workspace with a webhook is off.");
      const work = { services, holder, webhook, feed: { id, feed }, hear, signal };
      const isActive = webhook.state === "active" && webhook.pausedReason === null;
      lane = isActive ? await deliverNext(work, lane) : await giveBack(work, lane);
    }
  } catch (error) {
    if (!(error instanceof LaneLost)) throw error;
  }
}

/** One batch. @returns how the partition goes on at once; undefined if it was given back. */
async function deliverNext(work: Work, lane: Lane): Promise<Lane | undefined> {
  const part = await partOf(work, lane);
  if (part === "missing") return skipMissing(work, lane);
  const [first] = part.changes;
  if (!first) {
    // The changes in the batch were erased, or are no longer wanted; otherwise nothing is left.
    const isAtEnd = part.until === lane.position || part.until === lane.endsAt;
    return isAtEnd ? giveBack(work, at(lane, part.until)) : at(lane, part.until);
  }
  const { clock } = work.services;
  const batch = {
    ...lane,
    batchId: lane.batchId ?? `msg_${clock.newId()}`,
    batchUntil: part.until,
    behindSince: new Date(first.change.at),
  };
  if (lane.batchId === null) await save(work, batch);
  const body = bodyOf(part.changes.map(({ text }) => text));
  const sent = { id: batch.batchId, body };
  const attempt = await send(work.services, lane, work.webhook, sent, work.signal);
  return conclude(work, batch, part, attempt);
}

async function partOf(
  { services: { database }, webhook, feed }: Work,
  { bucket, position, batchUntil, endsAt, atMost }: Lane,
): Promise<PartitionPart | "missing"> {
  try {
    return await readPartition(database, feed, {
      bucket,
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
const at = (lane: Lane, position: number): Lane => ({
  ...lane,
  position,
  batchId: null,
  batchUntil: null,
  attempts: 0,
  failingSince: null,
  behindSince: null,
});

type Rest = Partial<Pick<LaneUpdate, "dueAt" | "leasedUntil">>;

const updateOf = (lane: Lane, rest: Rest, leasedUntil: Date): LaneUpdate => ({
  position: lane.position,
  batchId: lane.batchId,
  batchUntil: lane.batchUntil,
  attempts: lane.attempts,
  failingSince: lane.failingSince,
  atMost: lane.atMost,
  narrowedUntil: lane.narrowedUntil,
  behindSince: lane.behindSince,
  dueAt: null,
  leasedUntil,
  ...rest,
});

/** @throws LaneLost */
async function save({ services, holder }: Work, lane: Lane, rest: Rest = {}): Promise<void> {
  const { database, clock } = services;
  const update = updateOf(lane, rest, later(clock.now(), LEASE));
  if (!(await updateLane(database, holder, lane, update))) throw new LaneLost();
}

async function giveBack(work: Work, lane: Lane, rest: Rest = {}): Promise<undefined> {
  const isDone = lane.endsAt !== null && lane.position >= lane.endsAt;
  if (isDone) await deleteLane(work.services.database, work.holder, lane);
  else await save(work, lane, { ...rest, leasedUntil: null });
}

/** Changes that the feed keeps no longer cannot be delivered: it goes on with the oldest that are kept. */
async function skipMissing(work: Work, lane: Lane): Promise<Lane> {
  const { database, log, clock } = work.services;
  const [oldest, heads] = await settleAll([
    oldestPositions(database, work.feed),
    readHeads(database, work.feed),
  ]);
  const first = oldest.get(lane.bucket) ?? 0;
  const position = first > lane.position ? first : (heads.get(lane.bucket) ?? 0);
  const next = { ...at(lane, position), atMost: null, narrowedUntil: null };
  // If a reset has moved the partition meanwhile, nothing was missed.
  await save(work, next);
  log.warn({ webhook: lane.webhookId, bucket: lane.bucket }, "changes of a webhook were missed");
  await recordDelivery(work.services, lane, {
    messageId: lane.batchId ?? "",
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
  return next;
}

type Batch = Lane & { readonly batchId: string; readonly batchUntil: number };

async function conclude(
  work: Work,
  batch: Batch,
  part: PartitionPart,
  attempt: Attempt,
): Promise<Lane | undefined> {
  const { services, webhook } = work;
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
  work.hear(attempt.outcome);
  switch (attempt.outcome) {
    case "delivered":
      return accepted(work, batch);
    case "refused":
      return refused(work, batch, part, attempt);
    case "gone":
      return pause(work, batch, "The receiver responded with 410: it wants no more deliveries.");
    case "failed": {
      // Once for each batch that fails, not for each attempt.
      if (attempt.isRefusal && failures === 1) await recordRefusedHost(work, batch, attempt);
      if (isLong) {
        const last = attempt.error ?? `The last response was ${attempt.status}.`;
        return pause(
          work,
          failing,
          `Deliveries to '${webhook.name}' failed for three days. ${last}`,
        );
      }
      return giveBack(work, failing, { dueAt: nextAttemptAt });
    }
  }
}

/** The host now resolves to an address that Rapport may not call. */
async function recordRefusedHost(
  { services, webhook, feed }: Work,
  { webhookId }: Lane,
  { error }: Attempt,
): Promise<void> {
  const { database, log } = services;
  const name = (await readWorkspaceNames(database)).get(feed.id) ?? "";
  log.warn({ webhook: webhookId, reason: error }, "the host of a webhook may not be called");
  const context = { ...BY_THE_SERVER, workspace: { name } };
  const reaching = { kind: "webhook", name: webhook.name };
  await recordRefusal(services, context, reaching, error ?? "");
}

async function accepted(work: Work, batch: Batch): Promise<Lane | undefined> {
  const isNarrow = batch.narrowedUntil !== null && batch.batchUntil < batch.narrowedUntil;
  const next = {
    ...at(batch, batch.batchUntil),
    ...(!isNarrow && { atMost: null, narrowedUntil: null }),
  };
  const isDone = next.endsAt !== null && next.position >= next.endsAt;
  if (batch.isReplay) {
    const dueAt = later(work.services.clock.now(), REPLAY_PAUSE);
    return giveBack(work, next, isDone ? {} : { dueAt });
  }
  await save(work, next);
  return next;
}

/**
 * A batch is halved until the change is found that the receiver refuses; only that one is put aside. The partition is given
 * back each time, because a receiver that refuses gets no next batch at once.
 */
async function refused(
  work: Work,
  batch: Batch,
  { changes }: PartitionPart,
  { status, at: refusedAt }: Attempt,
): Promise<undefined> {
  const { services, holder } = work;
  const { database, clock } = services;
  const [only] = changes;
  if (changes.length > 1 || !only) {
    const smaller = {
      ...at(batch, batch.position),
      behindSince: batch.behindSince,
      atMost: Math.ceil(changes.length / 2),
      narrowedUntil: Math.max(batch.narrowedUntil ?? 0, batch.batchUntil),
    };
    return giveBack(work, smaller);
  }
  if ((await countDeadLetters(database, batch)) >= MOST_DEAD_LETTERS) {
    const reason = `The receiver has refused ${MOST_DEAD_LETTERS} changes, the last one with ${status}.`;
    return pause(work, batch, reason);
  }
  const next = { ...at(batch, batch.batchUntil), atMost: null, narrowedUntil: null };
  const { change, position } = only;
  const update = updateOf(next, {}, later(clock.now(), LEASE));
  await database.transaction(async (tx) => {
    if (!(await updateLane(tx, holder, batch, update))) throw new LaneLost();
    const { id: changeId, type } = change;
    const letter = { id: clock.newId(), messageId: batch.batchId, bucket: batch.bucket };
    await insertDeadLetter(tx, batch, {
      ...letter,
      position,
      changeId,
      type,
      status,
      at: refusedAt,
    });
  });
  return giveBack(work, next);
}

/**
 * Stops the deliveries of a webhook and tells the log, the audit and its contacts. It keeps its place and the batch,
 * so that the batch has the same id when the webhook goes on.
 */
async function pause(work: Work, lane: Lane, reason: string): Promise<undefined> {
  const { database, clock, log } = work.services;
  const { name } = work.webhook;
  const { workspaceId, webhookId } = lane;
  await database.transaction(async (tx) => {
    if (!(await pauseWebhook(tx, lane, reason, clock.now()))) return;
    log.error({ webhook: webhookId, reason }, "a webhook has paused");
    await enqueueMail(tx, clock, { workspaceId, kind: MAIL_JOB, subject: webhookId });
    const workspace = (await readWorkspaceNames(tx)).get(workspaceId) ?? "";
    const change = { action: "paused", kind: "webhook", workspace, name };
    await recordChanges(tx, clock, BY_THE_SERVER, [{ ...change, details: { reason } }]);
  });
  return giveBack(work, lane);
}
