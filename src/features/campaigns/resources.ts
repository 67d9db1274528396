import type { Resource } from "../../core/admin/workspaces/resource.ts";
import type { Queryable } from "../../core/database/database.ts";
import { applyCampaigns } from "./apply-campaigns.ts";
import type { CampaignKind, Message } from "./campaign.ts";
import {
  campaignOf,
  campaignSchema,
  canvasOf,
  canvasSchema,
  type DeclaredCampaign,
  type DeclaredCanvas,
  type DeclaredMessage,
  declaredTexts,
} from "./declarations.ts";
import type { MessageExtension } from "./message-extension.ts";
import { selectCampaigns, selectMessages } from "./store.ts";
import { judgeTexts } from "./texts.ts";

/** @param extension further declarations of a message. */
export function campaignResources<Part>(extension: MessageExtension<Part>): readonly Resource[] {
  const textsOf = (messages: readonly DeclaredMessage[]) => {
    const { maps, contents } = declaredTexts(messages);
    return { maps: [...maps, ...messages.flatMap(extension.textsOf)], contents };
  };
  const campaigns: Resource = {
    key: "campaigns",
    about: "Campaigns with their messages, and translations of them by locale key.",
    schema: campaignSchema(extension.members),
    identity: "id",
    check: ({ threads }, workspaceName, entries: readonly DeclaredCampaign[]) =>
      judgeTexts(threads, workspaceName, textsOf(entries.flatMap(({ messages = [] }) => messages))),
    async apply(tx, { clock }, { workspace }, entries: readonly DeclaredCampaign[]) {
      const readPart = await extension.reader(tx, workspace.id);
      const wanted = entries.map((each, index) => campaignOf(each, ["campaigns", index], readPart));
      return applyCampaigns(tx, { workspace, now: clock.now() }, extension, "campaign", wanted);
    },
    declaration: (database, _from, { workspace }) =>
      declareCampaigns(database, workspace.id, extension),
  };
  const canvases: Resource = {
    key: "canvases",
    about: "Canvases with their steps, whose messages are translated like those of campaigns.",
    schema: canvasSchema(extension.members),
    identity: "id",
    check: ({ threads }, workspaceName, entries: readonly DeclaredCanvas[]) => {
      const steps = entries.flatMap(({ steps = [] }) => steps);
      const messages = steps.flatMap(({ messages = [] }) => messages);
      return judgeTexts(threads, workspaceName, textsOf(messages));
    },
    async apply(tx, { clock }, { workspace }, entries: readonly DeclaredCanvas[]) {
      const readPart = await extension.reader(tx, workspace.id);
      const wanted = entries.map((each, index) => canvasOf(each, ["canvases", index], readPart));
      return applyCampaigns(tx, { workspace, now: clock.now() }, extension, "canvas", wanted);
    },
    declaration: (database, _from, { workspace }) =>
      declareCanvases(database, workspace.id, extension),
  };
  return [campaigns, canvases];
}

/* Campaigns and canvases as a manifest declares them, however they were created. */

type Extension = Pick<MessageExtension, "declaration">;

async function declareCampaigns(
  database: Queryable,
  workspaceId: number,
  extension: Extension,
): Promise<object[]> {
  const { campaigns, messagesOf } = await readAll(database, workspaceId, "campaign", extension);
  return campaigns.map(({ id, name }) => ({ id, name, messages: messagesOf(id, null) }));
}

async function declareCanvases(
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
