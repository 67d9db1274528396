import { refusingGrowth } from "../../core/admin/workspaces/most-entries.ts";
import { Problem } from "../../core/base/problem.ts";
import type { Transaction } from "../../core/database/database.ts";
import type { CampaignKind, Message } from "./campaign.ts";
import type { MessageExtension } from "./message-extension.ts";
import {
  countCampaigns,
  countMessages,
  deleteCampaigns,
  deleteMessages,
  deleteMessagesOf,
  upsertMessages,
} from "./store.ts";

/* Steps that manifests and the admin API share. */

/** Campaigns, canvases and messages gather over the years. */
const MOST_CAMPAIGNS = 5_000;
const MOST_MESSAGES = 10_000;

/** Runs a change of campaigns or canvases. @throws Problem INVALID_REQUEST if there would be too many. */
export const withinCampaigns = (
  tx: Transaction,
  workspaceId: number,
  kind: CampaignKind,
  change: () => Promise<void>,
): Promise<void> =>
  refusingGrowth(
    { noun: kind === "campaign" ? "campaigns" : "canvases", most: MOST_CAMPAIGNS },
    () => countCampaigns(tx, workspaceId, kind),
    change,
  );

/** Runs a change of messages. @throws Problem INVALID_REQUEST if there would be too many. */
export const withinMessages = (
  tx: Transaction,
  workspaceId: number,
  change: () => Promise<void>,
): Promise<void> =>
  refusingGrowth(
    { noun: "messages", most: MOST_MESSAGES },
    () => countMessages(tx, workspaceId),
    change,
  );

export type RemovedWithMessages = Pick<MessageExtension, "remove">;

/** Creates or changes messages. @throws Problem CONFLICT if one belongs to another campaign. */
export async function saveMessages(
  tx: Transaction,
  workspaceId: number,
  messages: readonly Message[],
  options: { readonly declared: boolean; readonly now: Date; readonly movable: readonly string[] },
): Promise<void> {
  const written = new Set(await upsertMessages(tx, workspaceId, messages, options));
  const foreign = messages.find((message) => !written.has(message.messageId));
  if (!foreign) return;
  const rule = "belongs to another campaign or canvas";
  throw new Problem("CONFLICT", `The message '${foreign.messageId}' ${rule}.`);
}

/** Removes campaigns with everything in them. @returns how many there were. */
export async function removeCampaignsOf(
  tx: Transaction,
  workspaceId: number,
  extension: RemovedWithMessages,
  kind: CampaignKind,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const removed = await deleteCampaigns(tx, workspaceId, kind, ids);
  const messages = await deleteMessagesOf(tx, workspaceId, kind, ids);
  await extension.remove(tx, workspaceId, messages);
  return removed;
}

/** Removes messages. @returns how many there were. */
export async function removeMessagesOf(
  tx: Transaction,
  workspaceId: number,
  extension: RemovedWithMessages,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const removed = await deleteMessages(tx, workspaceId, ids);
  await extension.remove(tx, workspaceId, removed);
  return removed.length;
}
