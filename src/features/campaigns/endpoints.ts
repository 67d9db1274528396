import Type from "typebox";
import { Name } from "../../core/admin/workspaces/manifest.ts";
import { MERGED, type Patching, patchingOf } from "../../core/admin/workspaces/merge-patch.ts";
import { Problem } from "../../core/base/problem.ts";
import {
  ClosedObject,
  named,
  OfWorkspace,
  OnlySuccess,
  succeeding,
} from "../../core/base/values/schemas.ts";
import type { StoringServices } from "../../core/database/storing-services.ts";
import { byAdministratorOfWorkspace, endpoint, success } from "../../core/http/endpoint.ts";
import type { Campaign, CampaignKind, MessageHead } from "./campaign.ts";
import { stepIdsOf, Uuid } from "./declarations.ts";
import { listCampaigns, putCampaign, removeCampaign } from "./manage-campaigns.ts";
import { messageEndpoints } from "./message-endpoints.ts";
import type { RemovedWithMessages } from "./write-campaigns.ts";

/* Campaigns and canvases in the admin API; their messages are in message-endpoints.ts. */

const OfCampaign = Type.Object({ name: Type.String(), id: Uuid });

const Messages = Type.Array(
  named("MessageHead", {
    id: Type.String(),
    channel: Type.String(),
    multi_language: Type.Boolean(),
  }),
);

const messageView = ({ messageId, channel, multiLanguage }: MessageHead) => ({
  id: messageId,
  channel,
  multi_language: multiLanguage,
});

const listCampaignsEndpoint = endpoint({
  name: "listCampaigns",
  method: "GET",
  path: "/admin/v1/workspaces/:name/campaigns",
  summary: "Lists the campaigns of a workspace.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfWorkspace,
  replies: succeeding({
    campaigns: Type.Array(
      named("Campaign", {
        id: Type.String(),
        name: Type.String(),
        declared: Type.Boolean(),
        messages: Messages,
      }),
    ),
  }),
}).handledBy(async (services: StoringServices, context) => {
  const found = await listCampaigns(services, context, "campaign");
  const campaigns = found.map(({ id, name, declared, messages }) => ({
    id,
    name,
    declared,
    messages: messages.map(messageView),
  }));
  return success({ campaigns });
});

const listCanvasesEndpoint = endpoint({
  name: "listCanvases",
  method: "GET",
  path: "/admin/v1/workspaces/:name/canvases",
  summary: "Lists the canvases of a workspace.",
  access: byAdministratorOfWorkspace("basic_access"),
  params: OfWorkspace,
  replies: succeeding({
    canvases: Type.Array(
      named("Canvas", {
        id: Type.String(),
        name: Type.String(),
        declared: Type.Boolean(),
        steps: Type.Array(named("CanvasStep", { id: Type.String(), messages: Messages })),
      }),
    ),
  }),
}).handledBy(async (services: StoringServices, context) => {
  const found = await listCampaigns(services, context, "canvas");
  const canvases = found.map(({ id, name, declared, stepIds, messages }) => ({
    id,
    name,
    declared,
    steps: stepIds.map((stepId) => ({
      id: stepId,
      messages: messages.filter((message) => message.stepId === stepId).map(messageView),
    })),
  }));
  return success({ canvases });
});

const CampaignBody = ClosedObject({ name: Name });

const MOST_STEPS = 1_000;

const CanvasBody = ClosedObject({
  name: Name,
  step_ids: Type.Array(Uuid, { maxItems: MOST_STEPS }),
});

const putCampaignEndpoint = endpoint({
  name: "putCampaign",
  method: "PUT",
  path: "/admin/v1/workspaces/:name/campaigns/:id",
  summary: "Creates or renames a campaign.",
  access: byAdministratorOfWorkspace("send_campaigns_canvases"),
  params: OfCampaign,
  body: CampaignBody,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: StoringServices, context, { params, body }) => {
  const campaign = { id: params.id, name: body.name, stepIds: [] };
  await putCampaign(services, context, "campaign", params.id, () => campaign);
  return success();
});

const putCanvasEndpoint = endpoint({
  name: "putCanvas",
  method: "PUT",
  path: "/admin/v1/workspaces/:name/canvases/:id",
  summary: "Creates a canvas, or sets its name and steps.",
  access: byAdministratorOfWorkspace("send_campaigns_canvases"),
  params: OfCampaign,
  body: CanvasBody,
  replies: { 200: OnlySuccess },
}).handledBy(async (services: StoringServices, context, { params, body }) => {
  const stepIds = stepIdsOf(body.step_ids, ["step_ids"]);
  const canvas = { id: params.id, name: body.name, stepIds };
  await putCampaign(services, context, "canvas", params.id, () => canvas);
  return success();
});

const patchEndpoint = (path: string, kind: CampaignKind, patching: Patching) =>
  endpoint({
    name: kind === "campaign" ? "patchCampaign" : "patchCanvas",
    method: "PATCH",
    path,
    summary: `Changes the given fields of a ${kind}; ${MERGED}`,
    refusals: ["NOT_FOUND", "CONFLICT"],
    access: byAdministratorOfWorkspace("send_campaigns_canvases"),
    params: OfCampaign,
    body: patching.body,
    examples: { "Its name": { name: "Welcome" } },
    replies: { 200: OnlySuccess },
  }).handledBy(async (services: StoringServices, context, { params: { id }, body }) => {
    const wanted = (present: Campaign | undefined) => {
      if (!present) throw new Problem("NOT_FOUND", `There is no ${kind} '${id}'.`);
      const steps = kind === "canvas" && { step_ids: present.stepIds };
      const merged = patching.apply(
        { name: present.name, ...steps },
        body as Readonly<Record<string, unknown>>,
      );
      const { name, step_ids = [] } = merged as { name: string; step_ids?: string[] };
      return { id, name, stepIds: stepIdsOf(step_ids, ["step_ids"]) };
    };
    await putCampaign(services, context, kind, id, wanted, true);
    return success();
  });

const removeEndpoint = (path: string, kind: CampaignKind, extension: RemovedWithMessages) =>
  endpoint({
    name: kind === "campaign" ? "deleteCampaign" : "deleteCanvas",
    method: "DELETE",
    path,
    summary: `Removes a ${kind} with its messages and their translations.`,
    access: byAdministratorOfWorkspace("send_campaigns_canvases"),
    params: OfCampaign,
    replies: { 200: OnlySuccess },
  }).handledBy(async (services: StoringServices, context, { params }) => {
    await removeCampaign(services, context, extension, kind, params.id);
    return success();
  });

/** @param extension data that is removed with messages. */
export const campaignEndpoints = (extension: RemovedWithMessages) => [
  listCampaignsEndpoint,
  listCanvasesEndpoint,
  putCampaignEndpoint,
  putCanvasEndpoint,
  patchEndpoint("/admin/v1/workspaces/:name/campaigns/:id", "campaign", patchingOf(CampaignBody)),
  patchEndpoint("/admin/v1/workspaces/:name/canvases/:id", "canvas", patchingOf(CanvasBody)),
  removeEndpoint("/admin/v1/workspaces/:name/campaigns/:id", "campaign", extension),
  removeEndpoint("/admin/v1/workspaces/:name/canvases/:id", "canvas", extension),
  ...messageEndpoints(extension),
];
