import { isDeepStrictEqual } from "node:util";
import { type Origin, recordChanges } from "../audit/audit.ts";
import { readTogether, withRetries } from "../database/database.ts";
import { Problem } from "../problem.ts";
import { findWorkspace } from "../workspaces/find-workspace.ts";
import { removeEngagements } from "./apply-declarations.ts";
import { selectEngagements, selectMessages, upsertEngagements } from "./engagement-store.ts";
import type { ManageServices } from "./manage-locales.ts";
import type { Declared, Engagement, EngagementKind, Message } from "./message.ts";

/** The campaigns or canvases of a workspace with their messages, by name. @throws Problem NOT_FOUND. */
export async function listEngagements(
  { database }: ManageServices,
  workspaceName: string,
  kind: EngagementKind,
): Promise<(Engagement & Declared & { readonly messages: readonly Message[] })[]> {
  const { id } = await findWorkspace(database, workspaceName);
  return readTogether(database, async (tx) => {
    const engagements = await selectEngagements(tx, id, kind);
    const messages = await selectMessages(tx, id, kind);
    return engagements.map((engagement) => ({
      ...engagement,
      messages: messages.filter((message) => message.engagementId === engagement.id),
    }));
  });
}

/**
 * Makes a campaign or canvas, or gives it a name and steps. Its messages stay as they are.
 *
 * @throws Problem NOT_FOUND, CONFLICT where a step that would go still has messages.
 */
export async function putEngagement(
  { database, clock }: ManageServices,
  workspaceName: string,
  origin: Origin,
  kind: EngagementKind,
  engagement: Engagement,
): Promise<void> {
  const { id } = await findWorkspace(database, workspaceName);
  await withRetries(database, async (tx) => {
    const present = await selectEngagements(tx, id, kind);
    const known = present.find((each) => each.id === engagement.id);
    // Before the messages, because it locks: one put at the same time finds the steps as they are then.
    await upsertEngagements(tx, id, kind, [engagement], false);
    const messages = await selectMessages(tx, id, kind);
    const stranded = messages.find(
      ({ engagementId, stepId }) =>
        engagementId === engagement.id && stepId !== null && !engagement.stepIds.includes(stepId),
    );
    if (stranded) {
      const { stepId, messageId } = stranded;
      throw new Problem("CONFLICT", `The step '${stepId}' still has the message '${messageId}'.`);
    }
    if (known && isDeepStrictEqual(known, { ...engagement, declared: known.declared })) return;
    const { name, stepIds: step_ids } = engagement;
    const details = kind === "canvas" ? { step_ids } : undefined;
    const action = known ? "updated" : "created";
    await recordChanges(tx, clock, origin, [
      { action, kind, workspace: workspaceName, name, details },
    ]);
  });
}

/** Removes a campaign or canvas with its messages and their translations. @throws Problem NOT_FOUND. */
export async function removeEngagement(
  { database, clock }: ManageServices,
  workspaceName: string,
  origin: Origin,
  kind: EngagementKind,
  engagementId: string,
): Promise<void> {
  const { id } = await findWorkspace(database, workspaceName);
  await withRetries(database, async (tx) => {
    const present = await selectEngagements(tx, id, kind);
    const known = present.find((each) => each.id === engagementId);
    const removed = await removeEngagements(tx, id, kind, [engagementId]);
    if (removed === 0) throw new Problem("NOT_FOUND", `There is no ${kind} '${engagementId}'.`);
    const name = known?.name ?? engagementId;
    await recordChanges(tx, clock, origin, [
      { action: "removed", kind, workspace: workspaceName, name },
    ]);
  });
}
