import type { Queryable, Transaction } from "../../core/database/database.ts";
import { listsOf } from "../../core/database/parameters/lists-of.ts";
import type {
  Campaign,
  CampaignKind,
  Declared,
  Message,
  MessageHead,
  TranslationMap,
} from "./campaign.ts";

/** The campaigns or the canvases of a workspace, by name. */
export const selectCampaigns = (database: Queryable, workspaceId: number, kind: CampaignKind) =>
  database.query<Campaign & Declared>(
    `select campaign_id as id, name, to_jsonb(step_ids) as "stepIds", declared from campaigns
     where workspace_id = $1 and kind = $2 order by name, campaign_id`,
    [workspaceId, kind],
  );

/** How many campaigns or canvases a workspace has. */
export async function countCampaigns(tx: Transaction, workspaceId: number, kind: CampaignKind) {
  const [row] = await tx.query<{ count: number }>(
    "select count(*)::int as count from campaigns where workspace_id = $1 and kind = $2",
    [workspaceId, kind],
  );
  return row?.count ?? 0;
}

/** How many messages a workspace has in campaigns and canvases together. */
export async function countMessages(tx: Transaction, workspaceId: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    "select count(*)::int as count from messages where workspace_id = $1",
    [workspaceId],
  );
  return row?.count ?? 0;
}

/** Creates or changes campaigns or canvases. A declared one stays declared. */
export async function upsertCampaigns(
  tx: Transaction,
  workspaceId: number,
  kind: CampaignKind,
  campaigns: readonly Campaign[],
  declared: boolean,
): Promise<void> {
  if (campaigns.length === 0) return;
  await tx.query(
    `insert into campaigns (workspace_id, kind, campaign_id, name, step_ids, declared)
     select $1, $2, id, name, array(select jsonb_array_elements_text(steps::jsonb))::uuid[], $6
     from unnest($3::uuid[], $4::text[], $5::text[]) as new (id, name, steps)
     on conflict (workspace_id, kind, campaign_id) do update set name = excluded.name,
       step_ids = excluded.step_ids, declared = campaigns.declared or excluded.declared`,
    [
      workspaceId,
      kind,
      ...listsOf(campaigns, "id", "name"),
      campaigns.map((each) => JSON.stringify(each.stepIds)),
      declared,
    ],
  );
}

/** Removes campaigns or canvases. Their messages are the caller's to remove. @returns how many. */
export const deleteCampaigns = (
  tx: Transaction,
  workspaceId: number,
  kind: CampaignKind,
  ids: readonly string[],
) =>
  tx.execute(
    `delete from campaigns
     where workspace_id = $1 and kind = $2 and campaign_id = any($3::uuid[])`,
    [workspaceId, kind, ids],
  );

export type MessageRow = Message & Declared & { readonly updatedAt: Date };

const HEAD_COLUMNS = `message_id as "messageId", kind, campaign_id as "campaignId",
  step_id as "stepId", channel, multi_language as "multiLanguage"`;

const MESSAGE_COLUMNS = `${HEAD_COLUMNS}, content, source, declared, updated_at as "updatedAt"`;

/** As `selectMessages`, but without the texts, which may take megabytes for each message. */
export const selectMessageHeads = (database: Queryable, workspaceId: number, kind: CampaignKind) =>
  database.query<MessageHead>(
    `select ${HEAD_COLUMNS} from messages where workspace_id = $1 and kind = $2 order by message_id`,
    [workspaceId, kind],
  );

/** The messages of a workspace's campaigns or canvases, by id. */
export const selectMessages = (database: Queryable, workspaceId: number, kind: CampaignKind) =>
  database.query<MessageRow>(
    `select ${MESSAGE_COLUMNS} from messages where workspace_id = $1 and kind = $2
     order by message_id`,
    [workspaceId, kind],
  );

export async function selectMessage(database: Queryable, workspaceId: number, messageId: string) {
  const [row] = await database.query<MessageRow>(
    `select ${MESSAGE_COLUMNS} from messages where workspace_id = $1 and message_id = $2`,
    [workspaceId, messageId],
  );
  return row;
}

/**
 * Creates or changes messages; a declared one stays declared.
 *
 * @param movable campaigns or canvases of the same kind that a message may be taken from.
 * @returns the ids that were written: a missing one belongs to another campaign or canvas.
 */
export async function upsertMessages(
  tx: Transaction,
  workspaceId: number,
  messages: readonly Message[],
  options: { readonly declared: boolean; readonly now: Date; readonly movable: readonly string[] },
): Promise<string[]> {
  if (messages.length === 0) return [];
  const rows = await tx.query<{ id: string }>(
    `insert into messages (workspace_id, message_id, kind, campaign_id, step_id, channel,
       multi_language, content, source, declared, updated_at)
     select $1, id, kind, campaign_id, step_id, channel, multi_language, content::jsonb,
       source::jsonb, $10, $11
     from unnest($2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], $7::boolean[],
       $8::text[], $9::text[])
       as new (id, kind, campaign_id, step_id, channel, multi_language, content, source)
     order by id
     on conflict (workspace_id, message_id) do update set campaign_id = excluded.campaign_id,
       step_id = excluded.step_id, channel = excluded.channel,
       multi_language = excluded.multi_language, content = excluded.content,
       source = excluded.source, declared = messages.declared or excluded.declared,
       updated_at = excluded.updated_at
     where messages.kind = excluded.kind and (messages.campaign_id = excluded.campaign_id
       or messages.campaign_id = any($12::uuid[]))
     returning message_id as id`,
    [
      workspaceId,
      ...listsOf(messages, "messageId", "kind", "campaignId", "stepId", "channel", "multiLanguage"),
      messages.map((message) => message.content && JSON.stringify(message.content)),
      messages.map((message) => JSON.stringify(message.source)),
      options.declared,
      options.now,
      options.movable,
    ],
  );
  return rows.map((row) => row.id);
}

/**
 * Marks a message as updated and locks it, so that translations written afterwards match the returned
 * source. @returns undefined if there is no such message.
 */
export async function touchMessage(
  tx: Transaction,
  workspaceId: number,
  messageId: string,
  now: Date,
): Promise<{ readonly source: TranslationMap } | undefined> {
  const [row] = await tx.query<{ source: TranslationMap }>(
    `update messages set updated_at = $3 where workspace_id = $1 and message_id = $2
     returning source`,
    [workspaceId, messageId, now],
  );
  return row;
}

/** Removes messages. Their translations are the caller's to remove afterwards. @returns the ids. */
export async function deleteMessages(
  tx: Transaction,
  workspaceId: number,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `delete from messages where workspace_id = $1 and message_id = any($2::uuid[])
     returning message_id as id`,
    [workspaceId, ids],
  );
  return rows.map((row) => row.id);
}

/** Removes all messages of campaigns or canvases. @returns the ids. */
export async function deleteMessagesOf(
  tx: Transaction,
  workspaceId: number,
  kind: CampaignKind,
  campaignIds: readonly string[],
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `delete from messages
     where workspace_id = $1 and kind = $2 and campaign_id = any($3::uuid[])
     returning message_id as id`,
    [workspaceId, kind, campaignIds],
  );
  return rows.map((row) => row.id);
}

/** Locks a campaign or canvas, so that it keeps its steps until the transaction ends. */
export async function lockCampaign(
  tx: Transaction,
  workspaceId: number,
  kind: CampaignKind,
  id: string,
) {
  const [row] = await tx.query<Pick<Campaign, "name" | "stepIds">>(
    `update campaigns set name = name
     where workspace_id = $1 and kind = $2 and campaign_id = $3
     returning name, to_jsonb(step_ids) as "stepIds"`,
    [workspaceId, kind, id],
  );
  return row;
}
