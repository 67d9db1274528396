import type { Queryable, Transaction } from "../../core/database/database.ts";
import type { StoredWebhook, WebhookKey } from "./webhook.ts";

const COLUMNS = `webhook_id as id, name, url, to_jsonb(types) as types,
  to_jsonb(contact_emails) as "contactEmails", state, secret, previous_secret as "previousSecret",
  previous_until as "previousUntil", paused_reason as "pausedReason", declared`;

export const selectWebhooks = (database: Queryable, workspaceId: number) =>
  database.query<StoredWebhook>(
    `select ${COLUMNS} from webhooks where workspace_id = $1 order by webhook_id`,
    [workspaceId],
  );

export async function selectWebhook(database: Queryable, { workspaceId, webhookId }: WebhookKey) {
  const [row] = await database.query<StoredWebhook>(
    `select ${COLUMNS} from webhooks where workspace_id = $1 and webhook_id = $2`,
    [workspaceId, webhookId],
  );
  return row;
}

export const upsertWebhook = (
  tx: Transaction,
  workspaceId: number,
  webhook: StoredWebhook,
  now: Date,
) =>
  tx.execute(
    `insert into webhooks (workspace_id, webhook_id, name, url, types, contact_emails, state, secret,
       previous_secret, previous_until, paused_reason, declared, changed_at)
     values ($1, $2, $3, $4, $5::text[], $6::text[], $7, $8, $9, $10, $11, $12, $13)
     on conflict (workspace_id, webhook_id) do update set name = excluded.name, url = excluded.url,
       types = excluded.types, contact_emails = excluded.contact_emails, state = excluded.state,
       secret = excluded.secret, previous_secret = excluded.previous_secret,
       previous_until = excluded.previous_until, paused_reason = excluded.paused_reason,
       declared = excluded.declared, changed_at = excluded.changed_at`,
    [
      workspaceId,
      webhook.id,
      webhook.name,
      webhook.url,
      webhook.types,
      webhook.contactEmails,
      webhook.state,
      webhook.secret,
      webhook.previousSecret,
      webhook.previousUntil,
      webhook.pausedReason,
      webhook.declared,
      now,
    ],
  );

/** Removes webhooks, and all that is known about their deliveries. */
export async function deleteWebhooks(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  for (const table of [
    "delete from webhooks",
    "delete from webhook_positions",
    "delete from webhook_deliveries",
    "delete from webhook_dead_letters",
  ]) {
    await tx.query(`${table} where workspace_id = $1 and webhook_id = any($2::text[])`, [
      workspaceId,
      ids,
    ]);
  }
}

/** @returns whether it was active until now. */
export async function pauseWebhook(
  tx: Transaction,
  { workspaceId, webhookId }: WebhookKey,
  reason: string,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query(
    `update webhooks set paused_reason = $3, changed_at = $4
     where workspace_id = $1 and webhook_id = $2 and paused_reason is null returning 1`,
    [workspaceId, webhookId, reason, now],
  );
  return rows.length > 0;
}

export async function countPaused(database: Queryable): Promise<number> {
  const [row] = await database.query<{ paused: number }>(
    "select count(*)::int as paused from webhooks where paused_reason is not null",
  );
  return row?.paused ?? 0;
}

export interface SealedSecret extends WebhookKey {
  readonly isPrevious: boolean;
  readonly sealed: string;
}

export const selectSecrets = (database: Queryable) =>
  database.query<SealedSecret>(
    `select workspace_id as "workspaceId", webhook_id as "webhookId", false as "isPrevious",
       secret as sealed from webhooks
     union all
     select workspace_id, webhook_id, true, previous_secret from webhooks
     where previous_secret is not null
     order by 1, 2, 3`,
  );

export async function updateSecrets(
  tx: Queryable,
  secrets: readonly SealedSecret[],
): Promise<void> {
  for (const { workspaceId, webhookId, isPrevious, sealed } of secrets) {
    await tx.query(
      `update webhooks set secret = case when $3::boolean then secret else $4 end,
         previous_secret = case when $3::boolean then $4 else previous_secret end
       where workspace_id = $1 and webhook_id = $2`,
      [workspaceId, webhookId, isPrevious, sealed],
    );
  }
}
