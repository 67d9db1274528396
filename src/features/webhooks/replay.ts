import { recordChangeIn } from "../../core/admin/audit/audit.ts";
import { recordRefusal } from "../../core/admin/audit/refusals.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { createSlots, type Slots } from "../../core/base/pool.ts";
import { Problem } from "../../core/base/problem.ts";
import { parseTime } from "../../core/base/values/times.ts";
import { withRetries } from "../../core/database/database.ts";
import type { Positions } from "../../core/people/changes/cursor.ts";
import { inFeed, MissingChanges, startOf } from "../../core/people/changes/read-changes.ts";
import type { DeliverServices } from "./deliver.ts";
import { deleteDeadLetter } from "./deliveries-store.ts";
import { findDeadLetter, findWebhook, keyIn, webhookChange } from "./manage.ts";
import { insertPositions, selectLive } from "./positions-store.ts";
import { positionsAt, readPartition } from "./read-partition.ts";
import { recordDelivery } from "./record-delivery.ts";
import { type Attempt, type Message, send } from "./send.ts";
import {
  bodyOf,
  MOST_BATCH_BYTES,
  type StoredWebhook,
  TEST_BODY,
  type WebhookKey,
} from "./webhook.ts";

export type ReplayServices = DeliverServices & { readonly sendSlots: Slots };

/** How many deliveries that an administrator asks for run at a time, of a workspace and of all. */
export const createSendSlots = (): Slots => createSlots(2, 32);

/** Sends a signed delivery without a change in it, whether the webhook is paused or not. */
export async function testWebhook(
  services: ReplayServices,
  context: WorkspaceContext,
  id: string,
): Promise<Attempt> {
  const { database, clock } = services;
  const key = keyIn(context, id);
  const webhook = await findWebhook(database, key);
  const sent = { id: `msg_${clock.newId()}`, body: JSON.stringify(TEST_BODY) };
  const attempt = await sendAtOnce(services, key, webhook, sent);
  if (attempt.isRefusal) {
    const reaching = { kind: "webhook", name: webhook.name };
    await recordRefusal(services, context, reaching, attempt.error ?? "");
  }
  await withRetries(database, (tx) =>
    recordChangeIn(
      tx,
      clock,
      context,
      webhookChange("tested", webhook, { outcome: attempt.outcome }),
    ),
  );
  await recordDelivery(services, key, {
    ...attempt,
    kind: "test",
    messageId: sent.id,
    changes: 0,
    firstChangeId: null,
    attempt: 1,
    nextAttemptAt: null,
  });
  return attempt;
}

/** @throws Problem RATE_LIMITED where others are under way. */
async function sendAtOnce(
  services: ReplayServices,
  key: WebhookKey,
  webhook: StoredWebhook,
  message: Message,
): Promise<Attempt> {
  const leave = services.sendSlots.take(`${key.workspaceId}`);
  if (!leave) {
    const sentence = "Other deliveries of this workspace are being tried out.";
    throw new Problem("RATE_LIMITED", sentence, { retryAfterSeconds: 5 });
  }
  try {
    return await send(services, key, webhook, message, new AbortController().signal);
  } finally {
    leave();
  }
}

/**
 * Sends a dead letter again, with its id; an accepted one is no longer a dead letter. @throws
 * Problem
 */
export async function replayDeadLetter(
  services: ReplayServices,
  context: WorkspaceContext,
  id: string,
  letterId: string,
): Promise<Attempt> {
  const { database, clock } = services;
  const { workspace } = context;
  const key = keyIn(context, id);
  const webhook = await findWebhook(database, key);
  const letter = await findDeadLetter(database, key, letterId);
  const { bucket, position } = letter;
  const place = { bucket, after: position - 1, until: position, limit: 1, types: [] };
  const [found] = await inFeed(database, workspace, async () => {
    const feed = { id: workspace.id, feed: workspace.feed };
    const wanted = { ...place, mostBytes: MOST_BATCH_BYTES };
    return (await readPartition(database, feed, wanted).catch(orMissing)).changes;
  });
  if (!found) throw new Problem("GONE", "The change is not in the change feed any more.");
  const attempt = await sendAtOnce(services, key, webhook, {
    id: letter.messageId,
    body: bodyOf([found.text]),
  });
  await withRetries(database, async (tx) => {
    if (attempt.outcome === "delivered") await deleteDeadLetter(tx, key, letter.id);
    const details = { change_id: letter.changeId, outcome: attempt.outcome };
    await recordChangeIn(tx, clock, context, webhookChange("replayed", webhook, details));
  });
  await recordDelivery(services, key, {
    ...attempt,
    kind: "dead_letter",
    messageId: letter.messageId,
    changes: 1,
    firstChangeId: letter.changeId,
    attempt: 1,
    nextAttemptAt: null,
  });
  return attempt;
}

function orMissing(error: unknown): { readonly changes: [] } {
  if (error instanceof MissingChanges) return { changes: [] };
  throw error;
}

/**
 * Delivers earlier changes once more, in the background and beside new ones: the same changes with
 * the same ids. A replay that is under way begins again.
 *
 * @param from a cursor of the feed, `beginning`, or a time.
 * @throws Problem INVALID_REQUEST, GONE
 */
export async function replayFrom(
  { database, clock }: Pick<ReplayServices, "database" | "clock">,
  context: WorkspaceContext,
  id: string,
  from: string,
): Promise<void> {
  const { workspace } = context;
  const key = keyIn(context, id);
  await findWebhook(database, key);
  const time = parseTime(from);
  const starts: Positions = await inFeed(database, workspace, () =>
    time
      ? positionsAt(database.for("analysis"), workspace, time)
      : startOf(database, workspace, from),
  );
  await withRetries(database, async (tx) => {
    const webhook = await findWebhook(tx, key);
    const places = (await selectLive(tx, key)).flatMap(({ partition, position }) => {
      const start = starts.get(partition) ?? 0;
      return start < position ? [{ partition, position: start, endsAt: position }] : [];
    });
    if (places.length > 0) await insertPositions(tx, key, places);
    await recordChangeIn(tx, clock, context, webhookChange("replayed", webhook, { from }));
  });
}
