import { isDeepStrictEqual } from "node:util";
import { recordChangeIn } from "../../core/admin/audit/audit.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { type Queryable, type Transaction, withRetries } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import type { Message, TranslationMap } from "./campaign.ts";
import { lockCampaign, type MessageRow, selectMessage, touchMessage } from "./store.ts";
import { type RemovedWithMessages, removeMessagesOf, saveMessages } from "./write-campaigns.ts";

export type { MessageRow };

/** @throws Problem NOT_FOUND. */
export const findMessage = async (
  database: Queryable,
  workspaceId: number,
  messageId: string,
): Promise<MessageRow> =>
  (await selectMessage(database, workspaceId, messageId)) ?? unknownMessage(messageId);

/**
 * Marks a write to a message and locks it until the transaction ends.
 *
 * @returns its strings in the original language; undefined if there is no such message.
 */
export const lockMessage = async (
  tx: Transaction,
  workspaceId: number,
  messageId: string,
  now: Date,
): Promise<TranslationMap | undefined> =>
  (await touchMessage(tx, workspaceId, messageId, now))?.source;

/**
 * Creates or changes a message. Its translations stay as they are: the source of new strings shows until
 * they are translated.
 *
 * @throws Problem NOT_FOUND for the campaign or step, CONFLICT if the message belongs to another one.
 */
export async function putMessage(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
  message: Message,
): Promise<void> {
  const { id } = context.workspace;
  const { kind, campaignId, stepId } = message;
  await withRetries(database, async (tx) => {
    const campaign = await lockCampaign(tx, id, kind, campaignId);
    if (!campaign) throw new Problem("NOT_FOUND", `There is no ${kind} '${campaignId}'.`);
    if (stepId !== null && !campaign.stepIds.includes(stepId)) {
      throw new Problem("NOT_FOUND", `The canvas '${campaignId}' has no step '${stepId}'.`);
    }
    const known = await selectMessage(tx, id, message.messageId);
    await saveMessages(tx, id, [message], { declared: false, now: clock.now(), movable: [] });
    if (known && isDeepStrictEqual(withoutLife(known), message)) return;
    const { channel, multiLanguage: multi_language } = message;
    await recordChangeIn(tx, clock, context, {
      action: known ? "updated" : "created",
      kind: "message",
      name: message.messageId,
      details: { [`${kind}_id`]: campaignId, channel, multi_language },
    });
  });
}

const withoutLife = ({ declared: _declared, updatedAt: _updatedAt, ...message }: MessageRow) =>
  message;

/** Removes a message with its data. @throws Problem NOT_FOUND. */
export async function removeMessage(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
  extension: RemovedWithMessages,
  messageId: string,
): Promise<void> {
  const { id } = context.workspace;
  await withRetries(database, async (tx) => {
    const removed = await removeMessagesOf(tx, id, extension, [messageId]);
    if (removed === 0) unknownMessage(messageId);
    const change = { action: "removed", kind: "message", name: messageId };
    await recordChangeIn(tx, clock, context, change);
  });
}

/** @throws Problem NOT_FOUND. */
export function unknownMessage(messageId: string): never {
  throw new Problem("NOT_FOUND", `There is no message '${messageId}'.`);
}
