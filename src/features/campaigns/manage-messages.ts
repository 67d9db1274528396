import { isDeepStrictEqual } from "node:util";
import { recordChangeIn } from "../../core/admin/audit/audit.ts";
import { changedMembers } from "../../core/admin/workspaces/field-changes.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { type Queryable, type Transaction, withRetries } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import type { Message, TranslationMap } from "./campaign.ts";
import { lockCampaign, type MessageRow, selectMessage, touchMessage } from "./store.ts";
import {
  type RemovedWithMessages,
  removeMessagesOf,
  saveMessages,
  withinMessages,
} from "./write-campaigns.ts";

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
 * @param patched the state that a PATCH was computed from.
 * @returns false, and writes nothing, if the message is no longer in that state.
 * @throws Problem NOT_FOUND for the campaign or step, CONFLICT if the message belongs to another one.
 */
export async function putMessage(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
  message: Message,
  patched?: MessageRow,
): Promise<boolean> {
  const { id } = context.workspace;
  const { kind, campaignId, stepId } = message;
  return withRetries(database, async (tx) => {
    const campaign = await lockCampaign(tx, id, kind, campaignId);
    if (!campaign) throw new Problem("NOT_FOUND", `There is no ${kind} '${campaignId}'.`);
    if (stepId !== null && !campaign.stepIds.includes(stepId)) {
      throw new Problem("NOT_FOUND", `The canvas '${campaignId}' has no step '${stepId}'.`);
    }
    const known = await selectMessage(tx, id, message.messageId);
    if (patched && !isDeepStrictEqual(known, patched)) return false;
    const options = { declared: false, now: clock.now(), movable: [] };
    await withinMessages(tx, id, () => saveMessages(tx, id, [message], options));
    if (known && isDeepStrictEqual(withoutLife(known), message)) return true;
    const details = patched
      ? changedMembers(auditedOf(patched), auditedOf(message))
      : auditedOf(message);
    await recordChangeIn(tx, clock, context, {
      action: known ? "updated" : "created",
      kind: "message",
      name: message.messageId,
      details: { name: `${message.channel} of ${campaign.name}`, ...details },
    });
    return true;
  });
}

const auditedOf = ({ kind, campaignId, channel, multiLanguage: multi_language }: Message) => ({
  [`${kind}_id`]: campaignId,
  channel,
  multi_language,
});

/** The message may change while the new texts are parsed; then they are parsed again. */
const MOST_TRIES = 20;

/**
 * Changes members of a message, as `putMessage` does.
 *
 * @param wanted the message with the changes, its texts parsed.
 * @throws Problem as `putMessage` does; CONFLICT if others keep changing the message.
 */
export async function patchMessage(
  services: StoringServices,
  context: WorkspaceContext,
  messageId: string,
  wanted: (present: MessageRow) => Promise<Message>,
): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const present = await findMessage(services.database, context.workspace.id, messageId);
    if (await putMessage(services, context, await wanted(present), present)) return;
  }
  throw new Problem("CONFLICT", "It is being changed by other requests. Try again.");
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
