import { erasedBy } from "../../core/admin/retention/retention.ts";
import type { Queryable, Transaction } from "../../core/database/database.ts";
import { MOST_DELIVERIES, type WebhookKey } from "./webhook.ts";

export interface Delivery {
  readonly id: string;
  /** The header webhook-id. */
  readonly messageId: string;
  readonly kind: "live" | "replay" | "dead_letter" | "test";
  readonly changes: number;
  readonly firstChangeId: string | null;
  readonly attempt: number;
  readonly at: Date;
  readonly durationMs: number;
  readonly outcome: "delivered" | "failed" | "refused" | "gone" | "missed";
  readonly status: number | null;
  readonly response: string | null;
  readonly error: string | null;
  readonly nextAttemptAt: Date | null;
}

export const insertDelivery = (
  database: Queryable,
  { workspaceId, webhookId }: WebhookKey,
  delivery: Delivery,
) =>
  database.execute(
    `insert into webhook_deliveries (workspace_id, webhook_id, delivery_id, message_id, kind, changes,
       first_change_id, attempt, at, duration_ms, outcome, status, response, error, next_attempt_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      workspaceId,
      webhookId,
      delivery.id,
      delivery.messageId,
      delivery.kind,
      delivery.changes,
      delivery.firstChangeId,
      delivery.attempt,
      delivery.at,
      delivery.durationMs,
      delivery.outcome,
      delivery.status,
      delivery.response,
      delivery.error,
      delivery.nextAttemptAt,
    ],
  );

/** Removes the oldest ones of a webhook. */
export const trimDeliveries = (database: Queryable, { workspaceId, webhookId }: WebhookKey) =>
  database.execute(
    `delete from webhook_deliveries
     where workspace_id = $1 and webhook_id = $2 and delivery_id <= (
       select delivery_id from webhook_deliveries
       where workspace_id = $1 and webhook_id = $2
       order by delivery_id desc offset $3::int limit 1)`,
    [workspaceId, webhookId, MOST_DELIVERIES],
  );

/** The latest ones of a webhook, the newest first. */
export const selectDeliveries = (
  database: Queryable,
  { workspaceId, webhookId }: WebhookKey,
  limit: number,
) =>
  database.query<Delivery>(
    `select delivery_id as id, message_id as "messageId", kind, changes,
       first_change_id as "firstChangeId", attempt, at, duration_ms as "durationMs", outcome, status,
       response, error, next_attempt_at as "nextAttemptAt"
     from webhook_deliveries where workspace_id = $1 and webhook_id = $2
     order by delivery_id desc limit $3`,
    [workspaceId, webhookId, limit],
  );

export interface DeadLetter {
  readonly id: string;
  /** The header webhook-id. */
  readonly messageId: string;
  readonly bucket: number;
  readonly position: number;
  readonly changeId: string;
  readonly type: string;
  readonly status: number | null;
  readonly at: Date;
}

/** Adds a dead letter in the place of an earlier one of the same change, which a replay can bring. */
export async function insertDeadLetter(
  tx: Transaction,
  { workspaceId, webhookId }: WebhookKey,
  letter: DeadLetter,
): Promise<void> {
  await tx.query(
    `delete from webhook_dead_letters
     where workspace_id = $1 and webhook_id = $2 and change_id = $3`,
    [workspaceId, webhookId, letter.changeId],
  );
  await tx.query(
    `insert into webhook_dead_letters (workspace_id, webhook_id, dead_letter_id, message_id, partition,
       position, change_id, type, status, at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      workspaceId,
      webhookId,
      letter.id,
      letter.messageId,
      letter.bucket,
      letter.position,
      letter.changeId,
      letter.type,
      letter.status,
      letter.at,
    ],
  );
}

export async function countDeadLetters(
  database: Queryable,
  { workspaceId, webhookId }: WebhookKey,
): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::int as count from webhook_dead_letters
     where workspace_id = $1 and webhook_id = $2`,
    [workspaceId, webhookId],
  );
  return row?.count ?? 0;
}

const LETTER = `dead_letter_id as id, message_id as "messageId", partition as bucket, position,
  change_id as "changeId", type, status, at`;

/** The latest ones of a webhook, the newest first. */
export const selectDeadLetters = (
  database: Queryable,
  { workspaceId, webhookId }: WebhookKey,
  { before, limit }: { readonly before: string | undefined; readonly limit: number },
) =>
  database.query<DeadLetter>(
    `select ${LETTER} from webhook_dead_letters
     where workspace_id = $1 and webhook_id = $2 and ($3::uuid is null or dead_letter_id < $3)
     order by dead_letter_id desc limit $4`,
    [workspaceId, webhookId, before ?? null, limit],
  );

export async function selectDeadLetter(
  database: Queryable,
  { workspaceId, webhookId }: WebhookKey,
  id: string,
) {
  const [row] = await database.query<DeadLetter>(
    `select ${LETTER} from webhook_dead_letters
     where workspace_id = $1 and webhook_id = $2 and dead_letter_id = $3::uuid`,
    [workspaceId, webhookId, id],
  );
  return row;
}

export const deleteDeadLetter = (
  database: Queryable,
  { workspaceId, webhookId }: WebhookKey,
  id: string,
) =>
  database.execute(
    `delete from webhook_dead_letters
     where workspace_id = $1 and webhook_id = $2 and dead_letter_id = $3::uuid`,
    [workspaceId, webhookId, id],
  );

/** Removes the dead letters whose changes are no longer in the feed. */
export const deleteOldDeadLetters = (database: Queryable, before: Date) =>
  database.execute("delete from webhook_dead_letters where at < $1", [before]);

export async function deleteAllDeliveries(tx: Transaction, workspaceId: number): Promise<void> {
  await tx.query("delete from webhook_deliveries where workspace_id = $1", [workspaceId]);
  await tx.query("delete from webhook_dead_letters where workspace_id = $1", [workspaceId]);
}

export const eraseResponsesNaming = erasedBy(
  `update webhook_deliveries set response = null
   where workspace_id = $1 and response ~* any($2::text[])`,
);
