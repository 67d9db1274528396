import { isDeepStrictEqual } from "node:util";
import { recordChangeIn } from "../../core/admin/audit/audit.ts";
import { changedMembers } from "../../core/admin/workspaces/field-changes.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import type { ThreadPool } from "../../core/base/threads/thread-pool.ts";
import { readTogether, withRetries } from "../../core/database/database.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import type { Campaign, CampaignKind, Declared, MessageHead } from "./campaign.ts";
import { lockCampaign, selectCampaigns, selectMessageHeads, upsertCampaigns } from "./store.ts";
import { type RemovedWithMessages, removeCampaignsOf, withinCampaigns } from "./write-campaigns.ts";

/* Every change is audited, without texts. */

export type TextServices = StoringServices & { readonly threads: ThreadPool };

/** The campaigns of one kind with their messages, by name. */
export async function listCampaigns(
  { database }: StoringServices,
  context: WorkspaceContext,
  kind: CampaignKind,
): Promise<(Campaign & Declared & { readonly messages: readonly MessageHead[] })[]> {
  const { id } = context.workspace;
  return readTogether(database, async (tx) => {
    const campaigns = await selectCampaigns(tx, id, kind);
    const messages = await selectMessageHeads(tx, id, kind);
    return campaigns.map((campaign) => ({
      ...campaign,
      messages: messages.filter((message) => message.campaignId === campaign.id),
    }));
  });
}

/**
 * Creates a campaign, or gives it a name and steps. Its messages stay as they are.
 *
 * @param wanted what it becomes; undefined stands for one that does not exist.
 * @param isPatch whether the audit row has what changed, before and after.
 * @throws Problem NOT_FOUND, CONFLICT if a step that would be removed still has messages; INVALID_REQUEST if there are too
 * many campaigns.
 */
export async function putCampaign(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
  kind: CampaignKind,
  campaignId: string,
  wanted: (present: Campaign | undefined) => Campaign,
  isPatch = false,
): Promise<void> {
  const { id } = context.workspace;
  await withRetries(database, async (tx) => {
    // Concurrent patches of different members all hold.
    if (isPatch) await lockCampaign(tx, id, kind, campaignId);
    const present = await selectCampaigns(tx, id, kind);
    const known = present.find((each) => each.id === campaignId);
    const campaign = wanted(known);
    // Before the messages are read, because it locks: a message saved meanwhile sees the new steps.
    await withinCampaigns(tx, id, kind, () => upsertCampaigns(tx, id, kind, [campaign], false));
    const messages = await selectMessageHeads(tx, id, kind);
    const stranded = messages.find(
      ({ campaignId, stepId }) =>
        campaignId === campaign.id && stepId !== null && !campaign.stepIds.includes(stepId),
    );
    if (stranded) {
      const { stepId, messageId } = stranded;
      throw new Problem("CONFLICT", `The step '${stepId}' still has the message '${messageId}'.`);
    }
    if (known && isDeepStrictEqual(known, { ...campaign, declared: known.declared })) return;
    const { name, stepIds: step_ids } = campaign;
    const details = kind === "canvas" ? { step_ids } : undefined;
    if (isPatch && known) {
      const before = { name: known.name, step_ids: known.stepIds };
      const changed = changedMembers(before, { name, step_ids });
      const change = { action: "updated", kind, name, details: changed };
      return recordChangeIn(tx, clock, context, change);
    }
    const action = known ? "updated" : "created";
    await recordChangeIn(tx, clock, context, { action, kind, name, details });
  });
}

/** Removes a campaign with its messages and their data. @throws Problem NOT_FOUND. */
export async function removeCampaign(
  { database, clock }: StoringServices,
  context: WorkspaceContext,
  extension: RemovedWithMessages,
  kind: CampaignKind,
  campaignId: string,
): Promise<void> {
  const { id } = context.workspace;
  await withRetries(database, async (tx) => {
    const present = await selectCampaigns(tx, id, kind);
    const known = present.find((each) => each.id === campaignId);
    const removed = await removeCampaignsOf(tx, id, extension, kind, [campaignId]);
    if (removed === 0) throw new Problem("NOT_FOUND", `There is no ${kind} '${campaignId}'.`);
    const name = known?.name ?? campaignId;
    await recordChangeIn(tx, clock, context, { action: "removed", kind, name });
  });
}
