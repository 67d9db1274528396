import type { Queryable, Transaction } from "../database/database.ts";
import type { Declared, Engagement, EngagementKind, Message, TranslationMap } from "./message.ts";

/** The campaigns or the canvases of a workspace, by name. */
export async function selectEngagements(
  database: Queryable,
  workspaceId: number,
  kind: EngagementKind,
): Promise<(Engagement & Declared)[]> {
  return database.query<Engagement & Declared>(
    `select engagement_id as id, name, to_jsonb(step_ids) as "stepIds", declared from engagements
     where workspace_id = $1 and kind = $2 order by name, engagement_id`,
    [workspaceId, kind],
  );
}

/** Makes or changes campaigns or canvases. One that is declared stays so. */
export async function upsertEngagements(
  tx: Transaction,
  workspaceId: number,
  kind: EngagementKind,
  engagements: readonly Engagement[],
  declared: boolean,
): Promise<void> {
  if (engagements.length === 0) return;
  await tx.query(
    `insert into engagements (workspace_id, kind, engagement_id, name, step_ids, declared)
     select $1, $2, id, name, array(select jsonb_array_elements_text(steps::jsonb))::uuid[], $6
     from unnest($3::uuid[], $4::text[], $5::text[]) as new (id, name, steps)
     on conflict (workspace_id, kind, engagement_id) do update set name = excluded.name,
       step_ids = excluded.step_ids, declared = engagements.declared or excluded.declared`,
    [
      workspaceId,
      kind,
      engagements.map((each) => each.id),
      engagements.map((each) => each.name),
      engagements.map((each) => JSON.stringify(each.stepIds)),
      declared,
    ],
  );
}

/** Removes campaigns or canvases. Their messages are the caller's to remove. @returns how many. */
export async function deleteEngagements(
  tx: Transaction,
  workspaceId: number,
  kind: EngagementKind,
  ids: readonly string[],
): Promise<number> {
  const rows = await tx.query(
    `delete from engagements
     where workspace_id = $1 and kind = $2 and engagement_id = any($3::uuid[]) returning 1`,
    [workspaceId, kind, ids],
  );
  return rows.length;
}

export type MessageRow = Message & Declared & { readonly updatedAt: Date };

const MESSAGE_COLUMNS = `message_id as "messageId", kind, engagement_id as "engagementId",
  step_id as "stepId", channel, multi_language as "multiLanguage", content, source, declared,
  updated_at as "updatedAt"`;

/** The messages of a workspace's campaigns or canvases, by id. */
export async function selectMessages(
  database: Queryable,
  workspaceId: number,
  kind: EngagementKind,
): Promise<MessageRow[]> {
  return database.query<MessageRow>(
    `select ${MESSAGE_COLUMNS} from messages where workspace_id = $1 and kind = $2
     order by message_id`,
    [workspaceId, kind],
  );
}

export async function selectMessage(
  database: Queryable,
  workspaceId: number,
  messageId: string,
): Promise<MessageRow | undefined> {
  const [row] = await database.query<MessageRow>(
    `select ${MESSAGE_COLUMNS} from messages where workspace_id = $1 and message_id = $2`,
    [workspaceId, messageId],
  );
  return row;
}

/**
 * Makes or changes messages; one that is declared stays so.
 *
 * @param movable campaigns or canvases of the same kind that a message may be taken from.
 * @returns the ids written: one that is missing belongs to another campaign or canvas.
 */
export async function upsertMessages(
  tx: Transaction,
  workspaceId: number,
  messages: readonly Message[],
  options: { readonly declared: boolean; readonly now: Date; readonly movable: readonly string[] },
): Promise<string[]> {
  if (messages.length === 0) return [];
  const rows = await tx.query<{ id: string }>(
    `insert into messages (workspace_id, message_id, kind, engagement_id, step_id, channel,
       multi_language, content, source, declared, updated_at)
     select $1, id, kind, engagement_id, step_id, channel, multi_language, content::jsonb,
       source::jsonb, $10, $11
     from unnest($2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], $7::boolean[],
       $8::text[], $9::text[])
       as new (id, kind, engagement_id, step_id, channel, multi_language, content, source)
     order by id
     on conflict (workspace_id, message_id) do update set engagement_id = excluded.engagement_id,
       step_id = excluded.step_id, channel = excluded.channel,
       multi_language = excluded.multi_language, content = excluded.content,
       source = excluded.source, declared = messages.declared or excluded.declared,
       updated_at = excluded.updated_at
     where messages.kind = excluded.kind and (messages.engagement_id = excluded.engagement_id
       or messages.engagement_id = any($12::uuid[]))
     returning message_id as id`,
    [
      workspaceId,
      messages.map((message) => message.messageId),
      messages.map((message) => message.kind),
      messages.map((message) => message.engagementId),
      messages.map((message) => message.stepId),
      messages.map((message) => message.channel),
      messages.map((message) => message.multiLanguage),
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
 * Marks a write to a message and locks it: what is written to its translations afterwards goes with
 * the source that comes back. @returns undefined where there is no such message.
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
  kind: EngagementKind,
  engagementIds: readonly string[],
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `delete from messages
     where workspace_id = $1 and kind = $2 and engagement_id = any($3::uuid[])
     returning message_id as id`,
    [workspaceId, kind, engagementIds],
  );
  return rows.map((row) => row.id);
}

/** Locks a campaign or canvas, so that it keeps its steps until the transaction ends. */
export async function lockEngagement(
  tx: Transaction,
  workspaceId: number,
  kind: EngagementKind,
  id: string,
): Promise<Pick<Engagement, "stepIds"> | undefined> {
  const [row] = await tx.query<Pick<Engagement, "stepIds">>(
    `update engagements set name = name
     where workspace_id = $1 and kind = $2 and engagement_id = $3
     returning to_jsonb(step_ids) as "stepIds"`,
    [workspaceId, kind, id],
  );
  return row;
}
