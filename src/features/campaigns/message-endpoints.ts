import Type, { type Static } from "typebox";
import { MERGED, patchingOf } from "../../core/admin/workspaces/merge-patch.ts";
import type { Entry } from "../../core/admin/workspaces/resource.ts";
import type { WorkspaceContext } from "../../core/base/context/context.ts";
import { Problem } from "../../core/base/problem.ts";
import { ClosedObject, OnlySuccess } from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import type { Message, MessageAddress } from "./campaign.ts";
import { declaredTexts, messageMembers, messageOf, Uuid } from "./declarations.ts";
import type { TextServices } from "./manage-campaigns.ts";
import { type MessageRow, patchMessage, putMessage, removeMessage } from "./manage-messages.ts";
import { judgeTexts } from "./texts.ts";
import type { RemovedWithMessages } from "./write-campaigns.ts";

/* Saving and removing messages in the admin API. A message is read with its translations. */

export const MESSAGE_PATH = "/admin/v1/workspaces/:name/messages/:id";

export const OfMessage = Type.Object({ name: Type.String(), id: Uuid });

export const MessageAddressFields = {
  campaign_id: Type.Optional(Uuid),
  canvas_id: Type.Optional(Uuid),
  step_id: Type.Optional(Uuid),
};

const MessageBody = ClosedObject({ ...MessageAddressFields, ...messageMembers });

const putEndpoint = endpoint({
  name: "putMessage",
  method: "PUT",
  path: MESSAGE_PATH,
  summary: "Creates or changes a message of a campaign or of a step of a canvas.",
  access: byAdministratorOfWorkspace("send_campaigns_canvases"),
  params: OfMessage,
  description: "Either `campaign_id`, or `canvas_id` and `step_id`.",
  examples: {
    "Of a campaign": {
      campaign_id: "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03",
      channel: "email",
      multi_language: true,
      content: { subject: "{% translation id_0 %}Hello{% endtranslation %}" },
    },
  },
  body: MessageBody,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: TextServices, context, { params, body }) => {
  await putMessage(services, context, await wantedMessage(services, context, params.id, body));
  return success();
});

async function wantedMessage(
  { threads }: TextServices,
  { workspace }: WorkspaceContext,
  messageId: string,
  body: Static<typeof MessageBody>,
): Promise<Message> {
  const address = { ...readAddress(body), messageId };
  await judgeTexts(threads, workspace.id, declaredTexts([body]));
  return messageOf(body, address, []);
}

const PATCHING = patchingOf(MessageBody);

const patchEndpoint = endpoint({
  name: "patchMessage",
  method: "PATCH",
  path: MESSAGE_PATH,
  summary: `Changes the given fields of a message; ${MERGED}`,
  refusals: ["NOT_FOUND", "CONFLICT"],
  access: byAdministratorOfWorkspace("send_campaigns_canvases"),
  params: OfMessage,
  description: "The strings follow the content, if the message has one.",
  examples: {
    "Its subject": { content: { subject: "{% translation id_0 %}Welcome{% endtranslation %}" } },
  },
  body: PATCHING.body,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: TextServices, context, { params: { id }, body }) => {
  await patchMessage(services, context, id, (present) => {
    const wanted = patchedBody(present, body as Entry) as Static<typeof MessageBody>;
    return wantedMessage(services, context, present.messageId, wanted);
  });
  return success();
});

function patchedBody(
  { kind, campaignId, stepId, channel, multiLanguage, content, source }: MessageRow,
  patch: Entry,
): Entry {
  const address =
    kind === "campaign" ? { campaign_id: campaignId } : { canvas_id: campaignId, step_id: stepId };
  const hasContent = patch.content === undefined ? content !== null : patch.content !== null;
  return PATCHING.apply(
    {
      ...address,
      channel,
      multi_language: multiLanguage,
      ...(content && { content }),
      // The content has them.
      ...(!hasContent && { source }),
    },
    patch,
  );
}

function readAddress({
  campaign_id,
  canvas_id,
  step_id,
}: Static<ReturnType<typeof Type.Object<typeof MessageAddressFields>>>): Omit<
  MessageAddress,
  "messageId"
> {
  if (campaign_id !== undefined && canvas_id === undefined && step_id === undefined) {
    return { kind: "campaign", campaignId: campaign_id.toLowerCase(), stepId: null };
  }
  if (campaign_id === undefined && canvas_id !== undefined && step_id !== undefined) {
    const stepId = step_id.toLowerCase();
    return { kind: "canvas", campaignId: canvas_id.toLowerCase(), stepId };
  }
  throw new Problem(
    "INVALID_REQUEST",
    "Either 'campaign_id', or 'canvas_id' and 'step_id', must be given.",
  );
}

const removeEndpoint = (extension: RemovedWithMessages) =>
  endpoint({
    name: "deleteMessage",
    method: "DELETE",
    path: MESSAGE_PATH,
    summary: "Removes a message with its translations.",
    access: byAdministratorOfWorkspace("send_campaigns_canvases"),
    params: OfMessage,
    replies: { 200: OnlySuccess },
  }).handledBy(async (services: StoringServices, context, { params }) => {
    await removeMessage(services, context, extension, params.id);
    return success();
  });

/** @param extension data that is removed with messages. */
export const messageEndpoints = (extension: RemovedWithMessages) => [
  putEndpoint,
  patchEndpoint,
  removeEndpoint(extension),
];
