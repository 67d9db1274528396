import type { Queryable } from "../../database/database.ts";
import type { CampaignKind, Message } from "./campaign.ts";
import type { MessageExtension } from "./message-extension.ts";
import { selectCampaigns, selectMessages } from "./store.ts";

/* Campaigns and canvases as a manifest declares them, however they were created. */

type Extension = Pick<MessageExtension, "declaration">;

/** The campaigns of a workspace as a manifest declares them. */
export async function declareCampaigns(
  database: Queryable,
  workspaceId: number,
  extension: Extension,
): Promise<object[]> {
  const { campaigns, messagesOf } = await readAll(database, workspaceId, "campaign", extension);
  return campaigns.map(({ id, name }) => ({ id, name, messages: messagesOf(id, null) }));
}

/** The canvases of a workspace as a manifest declares them. */
export async function declareCanvases(
  database: Queryable,
  workspaceId: number,
  extension: Extension,
): Promise<object[]> {
  const { campaigns, messagesOf } = await readAll(database, workspaceId, "canvas", extension);
  return campaigns.map(({ id, name, stepIds }) => ({
    id,
    name,
    steps: stepIds.map((stepId) => ({ id: stepId, messages: messagesOf(id, stepId) })),
  }));
}

async function readAll(
  database: Queryable,
  workspaceId: number,
  kind: CampaignKind,
  extension: Extension,
) {
  const campaigns = await selectCampaigns(database, workspaceId, kind);
  const messages = await selectMessages(database, workspaceId, kind);
  const ids = messages.map(({ messageId }) => messageId);
  const partOf = await extension.declaration(database, workspaceId, ids);
  const messagesOf = (campaignId: string, stepId: string | null) =>
    messages
      .filter((message) => message.campaignId === campaignId && message.stepId === stepId)
      .map((message) => ({ ...declarationOf(message), ...partOf(message.messageId) }));
  return { campaigns, messagesOf };
}

/** A content contains its strings. */
const declarationOf = ({ messageId, channel, multiLanguage, content, source }: Message) => ({
  id: messageId,
  channel,
  multi_language: multiLanguage,
  ...(content === null ? { source } : { content }),
});
