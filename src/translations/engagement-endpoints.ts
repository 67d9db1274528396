import Type from "typebox";
import { originOf } from "../audit/audit.ts";
import { byAdministrator, endpoint } from "../http/endpoint.ts";
import { Name, refuseUnstorableNames, stepIdsOf, Uuid } from "./declarations.ts";
import { listEngagements, putEngagement, removeEngagement } from "./manage-engagements.ts";
import type { ManageServices } from "./manage-locales.ts";
import type { EngagementKind, Message } from "./message.ts";
import { Success, success } from "./success.ts";

/* Campaigns and canvases in the admin API. Their messages have endpoints of their own. */

const OfWorkspace = Type.Object({ name: Type.String() });

const OfEngagement = Type.Object({ name: Type.String(), id: Uuid });

const Messages = Type.Array(
  Type.Object({ id: Type.String(), channel: Type.String(), multi_language: Type.Boolean() }),
);

const messageView = ({ messageId, channel, multiLanguage }: Message) => ({
  id: messageId,
  channel,
  multi_language: multiLanguage,
});

const listCampaigns = endpoint({
  method: "GET",
  path: "/admin/v1/workspaces/:name/campaigns",
  summary: "Lists the campaigns of a workspace.",
  access: byAdministrator,
  params: OfWorkspace,
  replies: {
    200: Type.Object({
      campaigns: Type.Array(
        Type.Object({
          id: Type.String(),
          name: Type.String(),
          declared: Type.Boolean(),
          messages: Messages,
        }),
      ),
      message: Type.Literal("success"),
    }),
  },
}).handledBy(async (services: ManageServices, _nobody, { params }) => {
  const found = await listEngagements(services, params.name, "campaign");
  const campaigns = found.map(({ id, name, declared, messages }) => ({
    id,
    name,
    declared,
    messages: messages.map(messageView),
  }));
  return { status: 200, body: { campaigns, message: "success" } };
});

const listCanvases = endpoint({
  method: "GET",
  path: "/admin/v1/workspaces/:name/canvases",
  summary: "Lists the canvases of a workspace.",
  access: byAdministrator,
  params: OfWorkspace,
  replies: {
    200: Type.Object({
      canvases: Type.Array(
        Type.Object({
          id: Type.String(),
          name: Type.String(),
          declared: Type.Boolean(),
          steps: Type.Array(Type.Object({ id: Type.String(), messages: Messages })),
        }),
      ),
      message: Type.Literal("success"),
    }),
  },
}).handledBy(async (services: ManageServices, _nobody, { params }) => {
  const found = await listEngagements(services, params.name, "canvas");
  const canvases = found.map(({ id, name, declared, stepIds, messages }) => ({
    id,
    name,
    declared,
    steps: stepIds.map((stepId) => ({
      id: stepId,
      messages: messages.filter((message) => message.stepId === stepId).map(messageView),
    })),
  }));
  return { status: 200, body: { canvases, message: "success" } };
});

const putCampaign = endpoint({
  method: "PUT",
  path: "/admin/v1/workspaces/:name/campaigns/:id",
  summary: "Makes a campaign, or renames it.",
  access: byAdministrator,
  params: OfEngagement,
  body: Type.Object({ name: Name }, { additionalProperties: false }),
  replies: { 200: Success },
}).handledBy(async (services: ManageServices, _nobody, { params, body, call }) => {
  refuseUnstorableNames(body, []);
  const campaign = { id: params.id.toLowerCase(), name: body.name, stepIds: [] };
  await putEngagement(services, params.name, originOf(call), "campaign", campaign);
  return success;
});

const putCanvas = endpoint({
  method: "PUT",
  path: "/admin/v1/workspaces/:name/canvases/:id",
  summary: "Makes a canvas, or gives it a name and steps.",
  access: byAdministrator,
  params: OfEngagement,
  body: Type.Object({ name: Name, step_ids: Type.Array(Uuid) }, { additionalProperties: false }),
  replies: { 200: Success },
}).handledBy(async (services: ManageServices, _nobody, { params, body, call }) => {
  refuseUnstorableNames(body, []);
  const stepIds = stepIdsOf(body.step_ids, ["step_ids"]);
  const canvas = { id: params.id.toLowerCase(), name: body.name, stepIds };
  await putEngagement(services, params.name, originOf(call), "canvas", canvas);
  return success;
});

const removeEndpoint = (path: string, kind: EngagementKind) =>
  endpoint({
    method: "DELETE",
    path,
    summary: `Removes a ${kind} with its messages and their translations.`,
    access: byAdministrator,
    params: OfEngagement,
    replies: { 200: Success },
  }).handledBy(async (services: ManageServices, _nobody, { params, call }) => {
    await removeEngagement(services, params.name, originOf(call), kind, params.id.toLowerCase());
    return success;
  });

export const engagementEndpoints = [
  listCampaigns,
  listCanvases,
  putCampaign,
  putCanvas,
  removeEndpoint("/admin/v1/workspaces/:name/campaigns/:id", "campaign"),
  removeEndpoint("/admin/v1/workspaces/:name/canvases/:id", "canvas"),
];
