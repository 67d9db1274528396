import { type AuditedChange, recordChangeIn } from "../../core/admin/audit/audit.ts";
import type { Sealing } from "../../core/admin/secrets/sealing.ts";
import { lockForApply } from "../../core/admin/workspaces/administer.ts";
import { later } from "../../core/base/clock.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { forwardPage, invalidCursor } from "../../core/base/pages.ts";
import { Problem } from "../../core/base/problem.ts";
import { isUuid } from "../../core/base/values/uuid.ts";
import { type Queryable, settleAll, withRetries } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import {
  type DeadLetter,
  type Delivery,
  deleteDeadLetter,
  selectDeadLetter,
  selectDeadLetters,
  selectDeliveries,
} from "./deliveries-store.ts";
import { selectBehind } from "./positions-store.ts";
import { placeOf } from "./secrets.ts";
import { newSigningSecret } from "./sign.ts";
import { selectWebhook, selectWebhooks, upsertWebhook } from "./store.ts";
import { MOST_DELIVERIES, type StoredWebhook, type WebhookKey } from "./webhook.ts";

/* The deliveries of a webhook as administrators see and manage them. */

export const keyIn = ({ workspace }: WorkspaceContext, webhookId: string): WebhookKey => ({
  workspaceId: workspace.id,
  webhookId,
});

/** @throws Problem NOT_FOUND */
export async function findWebhook(database: Queryable, key: WebhookKey): Promise<StoredWebhook> {
  const found = await selectWebhook(database, key);
  if (found) return found;
  throw new Problem("NOT_FOUND", `There is no webhook '${key.webhookId}'.`);
}

export interface WebhookState extends StoredWebhook {
  /** When the oldest change was written that is under way; null if there is none. */
  readonly behindSince: Date | null;
  /** Since when a batch fails; null if none does. */
  readonly failingSince: Date | null;
}

/** The webhooks of a workspace, by id, with how far they are. */
export async function readWebhooks(
  database: Queryable,
  workspaceId: number,
): Promise<WebhookState[]> {
  const [all, behind] = await settleAll([
    selectWebhooks(database, workspaceId),
    selectBehind(database, workspaceId),
  ]);
  return all.map((webhook) => {
    const found = behind.find(({ webhookId }) => webhookId === webhook.id);
    return {
      ...webhook,
      behindSince: found?.since ?? null,
      failingSince: found?.failingSince ?? null,
    };
  });
}

export const webhookChange = (
  action: string,
  { name }: StoredWebhook,
  details?: AuditedChange["details"],
) => ({ action, kind: "webhook", name, details });

/** The latest attempts, the newest first. While a webhook is paused none of them is tried again. */
export async function listDeliveries(
  { database }: StoringServices,
  context: WorkspaceContext,
  id: string,
): Promise<Delivery[]> {
  const key = keyIn(context, id);
  const { state, pausedReason } = await findWebhook(database, key);
  const found = await selectDeliveries(database, key, MOST_DELIVERIES);
  const isActive = state === "active" && pausedReason === null;
  return isActive ? found : found.map((delivery) => ({ ...delivery, nextAttemptAt: null }));
}

/** A page of refused changes, the newest first. @throws Problem */
export async function listDeadLetters(
  { database }: StoringServices,
  context: WorkspaceContext,
  id: string,
  { cursor, limit }: { readonly cursor: string | undefined; readonly limit: number },
) {
  if (cursor !== undefined && !isUuid(cursor)) throw invalidCursor();
  const key = keyIn(context, id);
  await findWebhook(database, key);
  const found = await selectDeadLetters(database, key, { before: cursor, limit: limit + 1 });
  return forwardPage(found, limit, (letter) => letter.id);
}

/** @throws Problem NOT_FOUND */
export async function findDeadLetter(
  database: Queryable,
  key: WebhookKey,
  id: string,
): Promise<DeadLetter> {
  const found = isUuid(id) ? await selectDeadLetter(database, key, id) : undefined;
  if (found) return found;
  throw new Problem("NOT_FOUND", `There is no dead letter '${id}'.`);
}

export async function discardDeadLetter(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
  id: string,
  letterId: string,
): Promise<void> {
  const key = keyIn(context, id);
  await withRetries(database, async (tx) => {
    const webhook = await findWebhook(tx, key);
    const letter = await findDeadLetter(tx, key, letterId);
    await deleteDeadLetter(tx, key, letter.id);
    const details = { change_id: letter.changeId };
    await recordChangeIn(tx, clock, context, webhookChange("discarded", webhook, details));
  });
}

/** Gives a webhook a new secret; the previous one also signs for a while. */
export async function rotateSecret(
  { database, clock, sealing }: StoringServices & { readonly sealing: Sealing },
  context: WorkspaceContext,
  id: string,
  overlapSeconds: number,
): Promise<{ readonly secret: string; readonly previousUntil: Date }> {
  const key = keyIn(context, id);
  const secret = newSigningSecret();
  const now = clock.now();
  const previousUntil = later(now, { seconds: overlapSeconds });
  await withRetries(database, async (tx) => {
    // The whole webhook is written: no change to it may happen in between.
    await lockForApply(tx);
    const webhook = await findWebhook(tx, key);
    const rotated = {
      ...webhook,
      secret: await sealing.seal(tx, secret, placeOf(key)),
      previousSecret: webhook.secret,
      previousUntil,
    };
    await upsertWebhook(tx, key.workspaceId, rotated, now);
    const details = { previous_until: previousUntil.toISOString() };
    await recordChangeIn(tx, clock, context, webhookChange("rotated", webhook, details));
  });
  return { secret, previousUntil };
}
