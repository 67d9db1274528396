import { type ConfigChange, describe, difference } from "../../core/admin/workspaces/resource.ts";
import type { Workspace } from "../../core/base/context/workspace.ts";
import { groupBy } from "../../core/base/values/group-by.ts";
import type { Transaction } from "../../core/database/database.ts";
import type { CampaignKind, Message } from "./campaign.ts";
import type { CampaignWithMessages } from "./declarations.ts";
import { refuseTwice } from "./manifest-path.ts";
import type { MessageExtension } from "./message-extension.ts";
import { selectCampaigns, selectMessages, upsertCampaigns } from "./store.ts";
import {
  removeCampaignsOf,
  removeMessagesOf,
  saveMessages,
  withinCampaigns,
  withinMessages,
} from "./write-campaigns.ts";

/**
 * Makes the declared campaigns or canvases match a manifest, with their messages and extensions.
 * Messages that the admin API or an update added to them stay.
 *
 * @throws Problem CONFLICT if a message belongs to another campaign.
 */
export async function applyCampaigns<Part>(
  tx: Transaction,
  { workspace, now }: { readonly workspace: Workspace; readonly now: Date },
  extension: MessageExtension<Part>,
  kind: CampaignKind,
  entries: readonly CampaignWithMessages<Part>[],
): Promise<ConfigChange[]> {
  const workspaceId = workspace.id;
  const place = [kind === "campaign" ? "campaigns" : "canvases"];
  const ids = entries.map((each) => each.id);
  refuseTwice(place, "id", ids);
  const messageIds = entries.flatMap((each) => each.messages).map((each) => each.messageId);
  refuseTwice(place, "message", messageIds);

  const { present, wanted } = await compare(tx, workspaceId, extension, kind, entries);
  const todo = difference(present, wanted, (each) => each.id);
  const goneIds = todo.removed.map((each) => each.id);
  const changedIds = new Set([...todo.created, ...todo.updated].map((each) => each.id));
  const changed = entries.filter((each) => changedIds.has(each.id));
  const before = present.filter((each) => changedIds.has(each.id)).flatMap((each) => each.messages);
  const after = changed.flatMap((each) => each.messages);
  await withinMessages(tx, workspaceId, async () => {
    await withinCampaigns(tx, workspaceId, kind, async () => {
      await removeCampaignsOf(tx, workspaceId, extension, kind, goneIds);
      await upsertCampaigns(tx, workspaceId, kind, changed, true);
    });
    await saveMessages(tx, workspaceId, after, { declared: true, now, movable: [...changedIds] });
    await removeMessagesOf(tx, workspaceId, extension, idsMissing(before, after));
  });
  await extension.replace(tx, workspaceId, before, after);
  return describe(kind, workspace.name, todo, (each) => each.name);
}

/** The present and the wanted declarations, in one form. */
async function compare<Part>(
  tx: Transaction,
  workspaceId: number,
  extension: MessageExtension<Part>,
  kind: CampaignKind,
  entries: readonly CampaignWithMessages<Part>[],
) {
  const campaigns = (await selectCampaigns(tx, workspaceId, kind)).filter(isDeclared);
  const messages = (await selectMessages(tx, workspaceId, kind)).filter(isDeclared);
  const messageIds = messages.map((message) => message.messageId);
  const partOf = await extension.declared(tx, workspaceId, messageIds);
  const messagesByCampaign = groupBy(
    messages.map(({ declared: _, updatedAt: __, ...message }) => ({
      ...message,
      part: partOf(message.messageId),
    })),
    (each) => each.campaignId,
  );
  const present = campaigns.map(({ id, name, stepIds }) => {
    return { id, name, stepIds, messages: messagesByCampaign.get(id) ?? [] };
  });
  // An omitted part is no difference.
  const wanted = entries.map((entry) => ({
    ...entry,
    messages: entry.messages.map((message) => ({
      ...message,
      part: message.part ?? partOf(message.messageId),
    })),
  }));
  return { present, wanted };
}

const isDeclared = (row: { readonly declared: boolean }): boolean => row.declared;

const idsMissing = (before: readonly Message[], after: readonly Message[]): string[] => {
  const kept = new Set(after.map((message) => message.messageId));
  return before.map((message) => message.messageId).filter((id) => !kept.has(id));
};
